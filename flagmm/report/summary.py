"""summary.json, summary.csv, summary.md of a results directory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flagmm.jsonio import write_json, write_text
from flagmm.paths import RunPaths
from flagmm.printable import SpreadsheetWriter, markdown
from flagmm.registry import REPORTERS
from flagmm.report.general_table import HEADERS as SUBSET_HEADERS
from flagmm.report.general_table import general_rows, has_subsets, subset_order, subset_scores
from flagmm.report.results import headline, interval_of, metric_rows, stderr_of
from flagmm.report.table import HEADERS, notes, table_rows
from flagmm.report.validity import assess
from flagmm.types import TaskResult

_COLUMNS = ["task", "metric", "score", "asked", "answered", "failed", "truncated", "over", "partial"]
_ERRORS = ["stderr", "interval_low", "interval_high"]
_SUBSETS = ["subset", "num"]


@REPORTERS.register_module("json")
def write_json_summary(results: Sequence[TaskResult], path: Path) -> None:
    """Everything known of each task, as JSON."""
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
            **_by_subset(result, path),
            "validity": assess(result).text,
        }
        for result in results
    ]
    write_json(path, {"tasks": tasks})


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
    """A line a metric, values at full precision; errors and intervals where the metric has its own.

    A text that a spreadsheet would run as a formula has a `'` before it.
    Where a result has scores by subset, two columns more say which subset a line is of, and how many questions.
    """
    buffer = io.StringIO()
    writer = SpreadsheetWriter(buffer)
    by_subset = any(map(has_subsets, results))
    writer.writerow([*_COLUMNS, *_ERRORS, *(_SUBSETS if by_subset else [])])
    for result in results:
        counts = result.counts
        numbers = [counts.asked, counts.answered, counts.failed, counts.truncated]
        about = [*numbers, result.over, result.partial or ""]
        for metric, value in metric_rows(result):
            errors = [stderr_of(result, metric), *(interval_of(result, metric) or (None, None))]
            writer.writerow([result.task, metric, value, *about, *errors, *([None] * 2 if by_subset else [])])
        for row in subset_scores(result, subset_order(result, RunPaths(path.parent))):
            writer.writerow([result.task, row.metric, row.score, *about, *[None] * len(_ERRORS), row.subset, row.num])
    write_text(path, buffer.getvalue())


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
