"""summary.json, summary.csv, summary.md of a results directory."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flagmm.jsonio import write_json, write_text
from flagmm.paths import RunPaths
from flagmm.printable import SpreadsheetWriter, markdown
from flagmm.registry import REPORTERS
from flagmm.report.general_table import HEADERS as SUBSET_HEADERS
from flagmm.report.general_table import general_rows, has_subsets, subset_order, subset_scores
from flagmm.report.results import GroupRow, group_rows, headline, interval_of, metric_rows, stderr_of
from flagmm.report.table import HEADERS, notes, table_rows
from flagmm.report.validity import assess
from flagmm.types import TaskResult

_NUMBERS = ["asked", "answered", "failed", "truncated"]
_COLUMNS = ["task", "metric", "score", *_NUMBERS, "over", "partial"]
_ERRORS = ["stderr", "interval_low", "interval_high"]
_SUBSETS = ["subset", "num"]


@REPORTERS.register_module("json")
def write_json_summary(results: Sequence[TaskResult], path: Path) -> None:
    """Everything known of each task, as JSON; `missing` says why one has no score, and is null where it has one."""
    tasks = [
        {
            "task": result.task,
            "headline": headline(result),
            "metrics": dict(metric_rows(result)),
            "n": result.details.get("n"),
            "stderr": stderr_of(result, headline(result)),
            "interval": interval_of(result, headline(result)),
            "counts": asdict(result.counts),
            "over": result.over,
            "partial": result.partial,
            "missing": result.missing,
            **({"groups": list(map(_about_group, groups))} if (groups := group_rows(result)) else {}),
            **_by_subset(result, path),
            "validity": assess(result).text,
        }
        for result in results
    ]
    write_json(path, {"tasks": tasks})


def _about_group(row: GroupRow) -> dict[str, Any]:
    values = asdict(row)
    del values["label"]
    return values


def _by_subset(result: TaskResult, path: Path) -> dict[str, Any]:
    """The scores by subset, where the result has some."""
    rows = subset_scores(result, subset_order(result, RunPaths(path.parent)))
    subsets = [
        {"subset": row.subset, "metric": row.metric, "label": row.label, "num": row.num, "score": row.score}
        for row in rows
    ]
    return {"subsets": subsets} if subsets else {}


@REPORTERS.register_module("csv")
def write_csv(results: Sequence[TaskResult], path: Path) -> None:
    """A line a metric and a group, values at full precision; errors and intervals where the number has its own.

    A task without a score has one line, whose `partial` says why. The line of a group has the field that it is of in
    the column `field`, its value as `metric`, and its own counts; what an older version's result does not tell is left
    empty. Where a result has scores by subset, two columns more say which subset a line is of, and how many questions.
    A text that a spreadsheet would run as a formula has a `'` before it.
    """
    buffer = io.StringIO()
    columns = [*_COLUMNS, *_ERRORS, "field", *(_SUBSETS if any(map(has_subsets, results)) else [])]
    writer = SpreadsheetWriter(buffer)
    writer.writerow(columns)
    for result in results:
        about = {"task": result.task, "over": result.over, "partial": result.missing or result.partial or ""}
        for line in _csv_lines(result, path):
            values = about | line
            writer.writerow([values.get(column) for column in columns])
    write_text(path, buffer.getvalue())


def _csv_lines(result: TaskResult, path: Path) -> Iterator[dict[str, Any]]:
    whole = asdict(result.counts)
    for metric, value in metric_rows(result) if not result.missing else [("", None)]:
        errors = _errors(stderr_of(result, metric), interval_of(result, metric))
        yield {"metric": metric, "score": value, **_numbers(whole), **errors}
    for group in group_rows(result):
        errors = _errors(group.stderr, group.interval)
        yield {"metric": group.group, "score": group.score, "field": group.field, **_numbers(group.counts), **errors}
    for row in subset_scores(result, subset_order(result, RunPaths(path.parent))):
        numbers = _numbers(row.counts) | _errors(row.stderr, row.interval)
        yield {"metric": row.metric, "score": row.score, **numbers, "subset": row.subset, "num": row.num}


def _numbers(counts: Mapping[str, int] | None) -> dict[str, int]:
    return {} if counts is None else {name: counts[name] for name in _NUMBERS if name in counts}


def _errors(stderr: float | None, interval: Sequence[float] | None) -> dict[str, float | None]:
    return dict(zip(_ERRORS, (stderr, *(interval or (None, None))), strict=True))


@REPORTERS.register_module("md")
def write_markdown(results: Sequence[TaskResult], path: Path) -> None:
    """The terminal's tables in Markdown."""
    from tabulate import tabulate

    others = [result for result in results if not has_subsets(result)]
    by_subset = general_rows(results, RunPaths(path.parent), markdown)
    tables = [(SUBSET_HEADERS, by_subset)] if by_subset else []
    tables += [(HEADERS, table_rows(others, markdown))] if others or not by_subset else []
    texts = [tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True) for headers, rows in tables]
    lines = [f"- {line}" for line in notes(results, markdown)]
    write_text(path, "\n".join(["\n\n".join(texts), "", *lines, ""]))


def write_summaries(results: Sequence[TaskResult], run: RunPaths) -> list[Path]:
    """Write every registered report into the results directory; return their paths."""
    paths = []
    for name in REPORTERS.names():
        path = run.summary(name)
        REPORTERS.lookup(name)(results, path)
        paths.append(path)
    return paths
