"""A comparison of two runs for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flagmm.printable import printable
from flagmm.report.comparison import RESAMPLES, SEED, Comparison, TaskComparison

HEADERS = ["Task", "n", "A", "B", "B - A", "95 % interval", "Better", "Worse", "Same", "p"]
_NOTE = (
    f"p: McNemar's exact test, two-sided; interval: paired bootstrap over items ({RESAMPLES} resamples, seed {SEED})"
)
_SMALLEST_P = 0.0001


def draw_comparison(comparison: Comparison, *, ids: int | None = None) -> str:
    """The table with its notes and the ids of the items that changed, as text.

    Args:
        comparison: what to show.
        ids: how many ids to show of the items that got better, and of those that got worse; None for all.
    """
    from tabulate import tabulate

    rows = [_row(task) for task in comparison.tasks]
    align = ["left", *["right"] * (len(HEADERS) - 1)]
    table = tabulate(rows, headers=HEADERS, tablefmt="simple", disable_numparse=True, colalign=align)
    flipped = [line for task in comparison.tasks for line in _flipped(task, ids)]
    return "\n".join(
        [table, "", *map(printable, _notes(comparison)), *(["", *map(printable, flipped)] if flipped else [])]
    )


def _row(task: TaskComparison) -> list[str]:
    return [
        printable(task.task),
        str(task.items),
        *_scores(task),
        str(len(task.better)),
        str(len(task.worse)),
        str(task.same),
        _p(task),
    ]


def _scores(task: TaskComparison) -> list[str]:
    if task.score_a is None or task.score_b is None or task.bootstrap is None:
        return ["-"] * 4
    low, high = task.bootstrap.interval
    return [
        f"{100 * task.score_a:.2f}",
        f"{100 * task.score_b:.2f}",
        _signed(task.bootstrap.difference),
        f"[{_signed(low)}, {_signed(high)}]",
    ]


def _signed(share: float) -> str:
    return f"{round(100 * share, 2) + 0.0:+.2f}"  # + 0.0 makes -0.0 positive


def _p(task: TaskComparison) -> str:
    if not task.items:
        return "-"
    return f"{task.p:.4f}" if task.p >= _SMALLEST_P else f"<{_SMALLEST_P}"


def _notes(comparison: Comparison) -> Iterator[str]:
    yield f"A: {comparison.run_a}"
    yield f"B: {comparison.run_b}"
    yield _NOTE
    for task in comparison.tasks:
        left_out = _left_out(task)
        if left_out:
            yield f"{task.task}: left out {', '.join(left_out)}"
        if task.other_label:
            yield (
                f"{task.task}: WARNING: {task.other_label} of {task.items} items have another reference answer in B; "
                "are these the same data?"
            )
    for side, names in (("A", comparison.only_a), ("B", comparison.only_b)):
        if names:
            yield f"only in {side}: {', '.join(names)}"


def _left_out(task: TaskComparison) -> list[str]:
    reasons = [(task.only_a, "only in A"), (task.only_b, "only in B"), (task.not_scored, "without a score")]
    return [f"{count} {reason}" for count, reason in reasons if count]


def _flipped(task: TaskComparison, limit: int | None) -> Iterator[str]:
    for direction, found in (("better", task.better), ("worse", task.worse)):
        if found:
            yield f"{task.task}, {direction} in B ({len(found)}): {_id_list(found, limit)}"


def _id_list(found: Sequence[str], limit: int | None) -> str:
    shown = found if limit is None else found[:limit]
    more = len(found) - len(shown)
    return ", ".join(shown) + (f", and {more} more (--ids 0 shows all)" if more else "")


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Everything in a comparison, as JSON holds it; scores in percent, as in `_result.json`."""
    return {
        "run_a": str(comparison.run_a),
        "run_b": str(comparison.run_b),
        "method": {
            "interval": "95 %, paired bootstrap over items, percentiles",
            "resamples": RESAMPLES,
            "seed": SEED,
            "p": "McNemar, exact binomial, two-sided",
            "p_bootstrap": "paired bootstrap over items, two-sided",
        },
        "tasks": [_task_values(task) for task in comparison.tasks],
        "only_a": list(comparison.only_a),
        "only_b": list(comparison.only_b),
    }


def _task_values(task: TaskComparison) -> dict[str, Any]:
    found = task.bootstrap
    return {
        "task": task.task,
        "n": task.items,
        "score_a": _percent(task.score_a),
        "score_b": _percent(task.score_b),
        "difference": _percent(found.difference) if found else None,
        "interval": [_percent(end) for end in found.interval] if found else None,
        "p": task.p if found else None,
        "p_bootstrap": found.p if found else None,
        "better": len(task.better),
        "worse": len(task.worse),
        "same": task.same,
        "better_ids": list(task.better),
        "worse_ids": list(task.worse),
        "left_out": {"only_a": task.only_a, "only_b": task.only_b, "not_scored": task.not_scored},
        "other_label": task.other_label,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)
