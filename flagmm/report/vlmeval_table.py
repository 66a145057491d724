"""The tables that VLMEvalKit's command prints: the scores of one data set, and a line for each at the end."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from flagmm.errors import FlagMMError
from flagmm.printable import printable
from flagmm.report.results import headline
from flagmm.report.vlmevalkit import score_records
from flagmm.types import TaskResult

HEADERS = (
    "benchmark", "infer_fail_rate", "judge_fail_rate", "primary_metric", "primary_metric_value", "skip_reason",
    "eval_error",
)  # fmt: skip
OVERALL = "Overall"
_LONGEST_ERROR = 120


def has_report(result: TaskResult) -> bool:
    """Whether the result holds rows of VLMEvalKit's table of scores."""
    return "report" in result.metrics or "report" in result.details


def draw_scores(result: TaskResult) -> str:
    """The table of scores of one data set, a line for each name; "" for a result without one."""
    from tabulate import tabulate

    records = score_records(result) if has_report(result) else []
    names = dict.fromkeys(name for record in records for name in record)
    lines = [[printable(name), *(_text(record.get(name)) for record in records)] for name in names]
    return tabulate(lines, disable_numparse=True) if lines else ""


def draw_summary(
    benchmarks: Sequence[str],
    results: Sequence[TaskResult],
    errors: Sequence[tuple[str, FlagMMError]],
    missing: Sequence[TaskResult] = (),
) -> str:
    """A line for each benchmark: how much failed, and its score.

    Args:
        benchmarks: all that were asked for, in order.
        results: of those that came to one.
        errors: (benchmark, why it has none).
        missing: of those that came to none, those included that the run did not come to.
    """
    from tabulate import tabulate

    by_name, failed = {result.task: result for result in [*missing, *results]}, dict(errors)
    rows = [list(map(printable, _row(name, by_name.get(name), failed.get(name)))) for name in benchmarks]
    return tabulate(rows, headers=HEADERS, disable_numparse=True)


def primary_metric(result: TaskResult) -> tuple[str, float | None]:
    """Which score stands for a data set: `Overall` of VLMEvalKit's table, else the headline."""
    records = score_records(result) if has_report(result) else []
    if records and OVERALL in records[0]:
        return OVERALL, records[0][OVERALL]
    name = headline(result)
    value = result.metrics.get(name)
    return name, value if isinstance(value, Real) else None  # type: ignore[return-value]  # int or float


def _row(name: str, result: TaskResult | None, error: FlagMMError | None) -> list[str]:
    if result is None or result.missing:
        text = " ".join(str(error).split()) if error is not None else "-"
        reason = (result.missing if result else None) or "not run"
        rate = _rate(result.counts.failed, result.counts.asked) if result else "-"
        return [name, rate, "-", "-", "-", "-" if error else reason[:_LONGEST_ERROR], text[:_LONGEST_ERROR]]
    counts = result.counts
    metric, value = primary_metric(result)
    if result.details.get("evaluator", "") is None:  # only asked
        return [name, _rate(counts.failed, counts.asked), "-", "-", "-", "not scored", "-"]
    judged = counts.asked if "judge" in result.details else 0
    rates = [_rate(counts.failed, counts.asked), _rate(counts.judge_failed, judged)]
    return [name, *rates, metric, "-" if value is None else f"{value:.4g}", "-", "-"]


def _rate(failed: int, total: int) -> str:
    return f"{failed / total:.2%} ({failed}/{total})" if total else "-"


def _text(value: Any) -> str:
    return "" if value is None else printable(str(value))
