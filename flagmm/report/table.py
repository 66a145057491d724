"""The table of scores."""

from __future__ import annotations

from collections.abc import Sequence

from flagmm.printable import Show, printable
from flagmm.report.results import interval_of, metric_rows
from flagmm.report.validity import assess
from flagmm.types import TaskResult

HEADERS = ["Task", "Metric", "Score", "Asked", "Answered", "Failed", "Truncated"]
PARTIAL_MARK = "*"


def table_rows(results: Sequence[TaskResult], show: Show = printable) -> list[list[str]]:
    """A row a metric; counts stand in a task's first row, and a partial run's name bears a mark.

    Args:
        show: writes names, which come from data, for where the table goes.
    """
    rows = []
    for result in results:
        counts = result.counts
        numbers = [str(number) for number in (counts.asked, counts.answered, counts.failed, counts.truncated)]
        name = show(result.task) + (PARTIAL_MARK if result.partial else "")
        for metric, value in list(metric_rows(result)) or [("(no score)", None)]:
            rows.append([name, show(metric), _score(result, metric, value), *numbers])
            name, numbers = "", [""] * 4
    return rows


def _score(result: TaskResult, metric: str, value: float | None) -> str:
    if value is None:
        return "-"
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    interval = interval_of(result, metric)
    if interval:
        text += f" [{interval[0]:.1f}, {interval[1]:.1f}]"
    return text


def notes(results: Sequence[TaskResult], show: Show = printable) -> list[str]:
    """The lines under the table: what is partial, and each score's validity."""
    lines = []
    for result in results:
        if result.partial:
            lines.append(f"{PARTIAL_MARK} {show(result.task)}: partial, {show(result.partial)}")
        validity = assess(result)
        warning = "WARNING: " if validity.is_doubtful else ""
        over = ", scores over the answered ones" if result.over == "answered" else ""
        lines.append(f"{show(result.task)}: {warning}{show(validity.text)}{over}")
    return lines


def draw_table(results: Sequence[TaskResult]) -> str:
    """The table with its notes, as text."""
    from tabulate import tabulate

    table = tabulate(table_rows(results), headers=HEADERS, tablefmt="simple", disable_numparse=True)
    return "\n".join([table, "", *notes(results)])
