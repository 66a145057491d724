"""summary.json, summary.csv, summary.md of a results directory."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from flagmm.jsonio import write_json, write_text
from flagmm.paths import RunPaths
from flagmm.registry import REPORTERS
from flagmm.report.results import metric_rows
from flagmm.report.table import HEADERS, notes, table_rows
from flagmm.report.validity import assess
from flagmm.types import TaskResult


@REPORTERS.register_module("json")
def write_json_summary(results: Sequence[TaskResult], path: Path) -> None:
    """Everything known of each task, as JSON."""
    tasks = [
        {
            "task": result.task,
            "metrics": dict(metric_rows(result)),
            "counts": asdict(result.counts),
            "over": result.over,
            "partial": result.partial,
            "validity": assess(result).text,
        }
        for result in results
    ]
    write_json(path, {"tasks": tasks})


@REPORTERS.register_module("csv")
def write_csv(results: Sequence[TaskResult], path: Path) -> None:
    """A line a metric, values at full precision."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["task", "metric", "score", "asked", "answered", "failed", "truncated", "over", "partial"])
    for result in results:
        counts = result.counts
        for metric, value in metric_rows(result):
            numbers = [counts.asked, counts.answered, counts.failed, counts.truncated]
            writer.writerow([result.task, metric, value, *numbers, result.over, result.partial or ""])
    write_text(path, buffer.getvalue())


@REPORTERS.register_module("md")
def write_markdown(results: Sequence[TaskResult], path: Path) -> None:
    """The terminal's table in Markdown."""
    from tabulate import tabulate

    table = tabulate(table_rows(results), headers=HEADERS, tablefmt="github", disable_numparse=True)
    lines = [f"- {line}" for line in notes(results)]
    write_text(path, "\n".join([table, "", *lines, ""]))


def write_summaries(results: Sequence[TaskResult], run: RunPaths) -> list[Path]:
    """Write every registered report into the results directory; return their paths."""
    paths = []
    for name in REPORTERS.names():
        path = run.summary(name)
        REPORTERS.lookup(name)(results, path)
        paths.append(path)
    return paths
