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
_FEW_CLUSTERS = 10
_WARN_SHARE = 0.01


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
    if task.score_a is None or task.score_b is None:
        return ["-"] * 4
    interval = "-"
    if task.bootstrap is not None:
        low, high = task.bootstrap.interval
        interval = f"[{_signed(low)}, {_signed(high)}]"
    return [
        f"{100 * task.score_a:.2f}",
        f"{100 * task.score_b:.2f}",
        _signed(task.score_b - task.score_a),
        interval,
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
        yield from _about_clusters(task)
        yield from _about_missing(task)
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


def _about_clusters(task: TaskComparison) -> Iterator[str]:
    by = f" by {task.cluster_by}" if task.cluster_by else ""
    if task.clusters is not None:
        yield (
            f"{task.task}: {task.items} items in {task.clusters} clusters{by}; p: sign-flip test of cluster sums; "
            "interval: bootstrap over clusters"
        )
        if task.clusters < _FEW_CLUSTERS:
            yield f"{task.task}: WARNING: {task.clusters} clusters are too few to tell much"
    elif task.cluster_by is not None and task.items:
        yield (
            f"{task.task}: WARNING: questions are clustered{by}, but neither run's items say how, so that they are "
            "taken for independent; score both again (--without-infer)"
        )


def _about_missing(task: TaskComparison) -> Iterator[str]:
    sides = (("A", task.missing_a, task.replies_a), ("B", task.missing_b, task.replies_b))
    if not any(missing for _, missing, _ in sides):
        return
    texts = [
        f"{side} {', '.join(f'{number} {status}' for status, number in missing.items()) or 'none'} of {replies}"
        for side, missing, replies in sides
    ]
    warned = any(replies and sum(missing.values()) / replies > _WARN_SHARE for _, missing, replies in sides)
    yield f"{task.task}: {'WARNING: ' if warned else ''}not answered, which counts as wrong: {'; '.join(texts)}"


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
            "of_clusters": "p: sign-flip test of the clusters' sums; interval and p_bootstrap: bootstrap over clusters",
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
        "difference": _difference(task),
        "interval": [_percent(end) for end in found.interval] if found else None,
        "p": task.p if task.items else None,
        "p_bootstrap": found.p if found else None,
        "better": len(task.better),
        "worse": len(task.worse),
        "same": task.same,
        "better_ids": list(task.better),
        "worse_ids": list(task.worse),
        "left_out": {"only_a": task.only_a, "only_b": task.only_b, "not_scored": task.not_scored},
        "other_label": task.other_label,
        "clusters": task.clusters,
        "cluster_by": task.cluster_by,
        "not_answered": {
            "a": {**task.missing_a, "replies": task.replies_a},
            "b": {**task.missing_b, "replies": task.replies_b},
        },
    }


def _difference(task: TaskComparison) -> float | None:
    return None if task.score_a is None or task.score_b is None else _percent(task.score_b - task.score_a)


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)
