"""The table of scores."""

from __future__ import annotations

from collections.abc import Sequence

from flagmm.printable import Show, printable
from flagmm.report.results import group_rows, interval_of, metric_rows
from flagmm.report.validity import assess
from flagmm.types import TaskResult

HEADERS = ["Task", "Metric", "Score", "Asked", "Answered", "Failed", "Truncated"]
PARTIAL_MARK = "*"
NO_SCORE = "(no score)"
_LONGEST_REASON = 60  # characters in the table; the line under it has all


def table_rows(results: Sequence[TaskResult], show: Show = printable) -> list[list[str]]:
    """A row a metric and a group; counts stand in a task's first row, and a partial run's name bears a mark.

    Args:
        show: writes names, which come from data, for where the table goes.
    """
    rows = []
    for result in results:
        counts = result.counts
        numbers = [str(number) for number in (counts.asked, counts.answered, counts.failed, counts.truncated)]
        name = show(result.task) + (PARTIAL_MARK if result.partial else "")
        for metric, value in list(metric_rows(result)) or [(_reason(result), None)]:
            rows.append([name, show(metric), _score(result, metric, value), *numbers])
            name, numbers = "", [""] * 4
        by_label = {row.label: row for row in group_rows(result)}  # one where two fields' groups are the same
        rows += [["", show(label), _shown(row.score), *numbers] for label, row in by_label.items()]
    return rows


def _reason(result: TaskResult) -> str:
    text = result.missing or NO_SCORE
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def _score(result: TaskResult, metric: str, value: float | None) -> str:
    text, interval = _shown(value), interval_of(result, metric)
    if value is not None and interval:
        text += f" [{interval[0]:.1f}, {interval[1]:.1f}]"
    return text


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def notes(results: Sequence[TaskResult], show: Show = printable) -> list[str]:
    """The lines under the table: what is partial, and each score's validity."""
    lines = []
    for result in results:
        if result.missing:
            lines.append(f"{show(result.task)}: {show(result.missing)}")
            continue
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
