"""Two runs on the same items: which are better, which worse, and whether that is more than chance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from flagmm.errors import DataError
from flagmm.evaluator.entries import CLUSTER
from flagmm.jsonio import read_json
from flagmm.metrics.statistics_paired import (
    PairedBootstrap,
    clustered_bootstrap,
    mcnemar_exact,
    paired_bootstrap,
    sign_flip_test,
)
from flagmm.paths import TaskPaths, evaluated_tasks
from flagmm.types import STATUSES

RESAMPLES = 10_000
SEED = 0


class ScoredItem(NamedTuple):
    """What a comparison needs of an entry of `_evaluated.json`."""

    score: float | None
    """`correct` as a number; None where it is missing or something else."""
    label: Any = None
    """The reference answer that it was scored against."""
    cluster: str | None = None
    """What it shares with others that it depends on, where the run's evaluator clusters questions."""
    missing: tuple[str, ...] = ()
    """The statuses of its replies that are no answers: failed, refused, empty."""
    replies: int = 1


@dataclass(frozen=True, kw_only=True)
class TaskComparison:
    """One task in two runs, A and B, over the items that both have a score for."""

    task: str
    items: int
    score_a: float | None
    """Mean of the scores, as `correct` is: from 0 to 1; None for no item."""
    score_b: float | None
    bootstrap: PairedBootstrap | None
    """B minus A, with interval and p; None for no item, or for a single cluster."""
    better: tuple[str, ...]
    """Ids of the items that score higher in B, in A's order."""
    worse: tuple[str, ...]
    p: float
    """McNemar's exact test; with clusters the sign-flip test of their sums."""
    only_a: int
    """Items left out because B does not have them."""
    only_b: int
    not_scored: int
    """Items left out because one of the runs has no score for them."""
    other_label: int
    """Compared items whose reference answer is another in B, a sign of different data."""
    missing_a: Mapping[str, int] = field(default_factory=dict)
    """Replies in A that are no answers, by status; a run that failed more looks worse than its model is."""
    missing_b: Mapping[str, int] = field(default_factory=dict)
    replies_a: int = 0
    replies_b: int = 0
    clusters: int | None = None
    """How many independent clusters the compared items are in; None where each is for itself."""
    cluster_by: str | None = None
    """The annotation's field that the evaluator clusters by, of either run."""

    @property
    def same(self) -> int:
        """How many items score the same in both."""
        return self.items - len(self.better) - len(self.worse)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All tasks of two runs."""

    run_a: Path
    run_b: Path
    tasks: tuple[TaskComparison, ...]
    only_a: tuple[str, ...]
    """Tasks that B does not have."""
    only_b: tuple[str, ...]


def compare_runs(run_a: Path, run_b: Path) -> Comparison:
    """Compare two results directories task by task; two folders of one task each are compared whatever their names.

    Raises:
        DataError: a run has no scores, or there is no scored item that both have.
    """
    tasks_a, tasks_b = _tasks_of(run_a), _tasks_of(run_b)
    if _is_task_folder(run_a, tasks_a) and _is_task_folder(run_b, tasks_b):
        pairs = [(tasks_a[0], tasks_b[0])]
    else:
        by_name = {task.name: task for task in tasks_b}
        pairs = [(task, by_name[task.name]) for task in tasks_a if task.name in by_name]
    compared = tuple(_compare_pair(task_a, task_b) for task_a, task_b in pairs)
    if not any(task.items for task in compared):
        raise DataError(_nothing_in_common(run_a, run_b, tasks_a, tasks_b, compared))
    return Comparison(
        run_a=run_a,
        run_b=run_b,
        tasks=compared,
        only_a=_names_without(tasks_a, [task_a for task_a, _ in pairs]),
        only_b=_names_without(tasks_b, [task_b for _, task_b in pairs]),
    )


def compare_items(
    task: str,
    items_a: Mapping[str, ScoredItem],
    items_b: Mapping[str, ScoredItem],
    *,
    cluster_by: str | None = None,
) -> TaskComparison:
    """Compare one task's items, joined by their ids.

    Args:
        cluster_by: the field by which a run's evaluator clusters questions. Items that are in a cluster depend on its
            others, and one without a cluster on none.
    """
    common = [question_id for question_id in items_a if question_id in items_b]
    pairs = {question_id: (items_a[question_id], items_b[question_id]) for question_id in common}
    scores = {
        question_id: (a.score, b.score)
        for question_id, (a, b) in pairs.items()
        if a.score is not None and b.score is not None
    }
    scores_a, scores_b = [a for a, _ in scores.values()], [b for _, b in scores.values()]
    better = tuple(question_id for question_id, (a, b) in scores.items() if b > a)
    worse = tuple(question_id for question_id, (a, b) in scores.items() if b < a)
    clusters = _clusters(pairs, scores)
    bootstrap, p = _significance(scores_a, scores_b, clusters)
    return TaskComparison(
        task=task,
        items=len(scores),
        score_a=fmean(scores_a) if scores else None,
        score_b=fmean(scores_b) if scores else None,
        bootstrap=bootstrap,
        better=better,
        worse=worse,
        p=p,
        only_a=len(items_a) - len(common),
        only_b=len(items_b) - len(common),
        not_scored=len(common) - len(scores),
        other_label=sum(_labels_differ(*pairs[question_id]) for question_id in scores),
        missing_a=_missing(items_a),
        missing_b=_missing(items_b),
        replies_a=sum(item.replies for item in items_a.values()),
        replies_b=sum(item.replies for item in items_b.values()),
        clusters=len(set(clusters)) if clusters else None,
        cluster_by=cluster_by,
    )


def _clusters(pairs: Mapping[str, tuple[ScoredItem, ScoredItem]], question_ids: Iterable[str]) -> list[Hashable] | None:
    """The cluster of each item, as A has it, else B; a number of its own for one without. None where none has one."""
    named = [pairs[question_id][0].cluster or pairs[question_id][1].cluster for question_id in question_ids]
    if not any(name is not None for name in named):
        return None
    return [place if name is None else name for place, name in enumerate(named)]


def _significance(
    scores_a: Sequence[float], scores_b: Sequence[float], clusters: Sequence[Hashable] | None
) -> tuple[PairedBootstrap | None, float]:
    """The difference with its interval, and p; of clusters by their sums, as their items are not independent."""
    if clusters is None:
        better = sum(b > a for a, b in zip(scores_a, scores_b, strict=True))
        worse = sum(b < a for a, b in zip(scores_a, scores_b, strict=True))
        bootstrap = paired_bootstrap(scores_a, scores_b, resamples=RESAMPLES, seed=SEED)
        return bootstrap, mcnemar_exact(better, worse)
    sums: dict[Hashable, float] = defaultdict(float)
    for a, b, cluster in zip(scores_a, scores_b, clusters, strict=True):
        sums[cluster] += b - a
    bootstrap = clustered_bootstrap(scores_a, scores_b, clusters, resamples=RESAMPLES, seed=SEED)
    return bootstrap, sign_flip_test(list(sums.values()))


def _missing(items: Mapping[str, ScoredItem]) -> dict[str, int]:
    counts = Counter(status for item in items.values() for status in item.missing)
    return {status: counts[status] for status in STATUSES if counts[status]}


def read_scored_items(path: Path) -> dict[str, ScoredItem]:
    """The scores in an `_evaluated.json` by question id, in its order.

    Raises:
        DataError: it holds no list of entries with ids, or two entries of one id.
    """
    entries = read_json(path)
    if not isinstance(entries, list):
        raise DataError(f"{path}: expected a list of scored items")
    items: dict[str, ScoredItem] = {}
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict) or "question_id" not in entry:
            raise DataError(f"{path}: item {position}: expected an object with 'question_id'")
        question_id = str(entry["question_id"])
        if question_id in items:
            raise DataError(f"{path}: item {position}: a second entry for question_id {question_id!r}")
        items[question_id] = _scored_item(entry)
    return items


def _scored_item(entry: Mapping[str, Any]) -> ScoredItem:
    statuses = entry.get("statuses")
    listed = statuses if isinstance(statuses, list) and statuses else [entry.get("status")]
    cluster = entry.get(CLUSTER)
    return ScoredItem(
        _score(entry.get("correct")),
        entry.get("label"),
        cluster=cluster if isinstance(cluster, str) else None,
        missing=tuple(status for status in listed if status in STATUSES and status != "ok"),
        replies=len(listed),
    )


def _score(value: Any) -> float | None:
    return float(value) if isinstance(value, bool | int | float) and math.isfinite(value) else None


def _labels_differ(a: ScoredItem, b: ScoredItem) -> bool:
    return a.label is not None and b.label is not None and a.label != b.label


def _tasks_of(run: Path) -> list[TaskPaths]:
    if not run.is_dir():
        raise DataError(f"{run}: no such directory; give a results directory, or the folder of a task in one")
    tasks = evaluated_tasks(run)
    if not tasks:
        raise DataError(
            f"{run}: no <task>_evaluated.json in it or in its task folders; "
            f"score it first: flagevalmm --tasks TASK --without-infer --output-dir {run}"
        )
    return tasks


def _is_task_folder(run: Path, tasks: Sequence[TaskPaths]) -> bool:
    return len(tasks) == 1 and tasks[0].folder == run


def _compare_pair(task_a: TaskPaths, task_b: TaskPaths) -> TaskComparison:
    name = task_a.name if task_a.name == task_b.name else f"{task_a.name} -> {task_b.name}"
    cluster_by = _cluster_field(task_a) or _cluster_field(task_b)
    items_a, items_b = read_scored_items(task_a.evaluated), read_scored_items(task_b.evaluated)
    return compare_items(name, items_a, items_b, cluster_by=cluster_by)


def _cluster_field(task: TaskPaths) -> str | None:
    """The annotation's field that a run's evaluator clusters questions by, as its result tells it."""
    result = read_json(task.result) if task.result.is_file() else {}
    interval = result.get("interval") if isinstance(result, Mapping) else None
    key = interval.get("by") if isinstance(interval, Mapping) else None
    return key if isinstance(key, str) else None


def _names_without(tasks: Sequence[TaskPaths], paired: Sequence[TaskPaths]) -> tuple[str, ...]:
    return tuple(task.name for task in tasks if task not in paired)


def _nothing_in_common(
    run_a: Path,
    run_b: Path,
    tasks_a: Sequence[TaskPaths],
    tasks_b: Sequence[TaskPaths],
    compared: Sequence[TaskComparison],
) -> str:
    if not compared:
        names_a, names_b = (", ".join(task.name for task in tasks) for tasks in (tasks_a, tasks_b))
        return (
            f"no task in common: {run_a} has {names_a}; {run_b} has {names_b}; to compare two tasks give their folders"
        )
    if any(task.not_scored for task in compared):
        return f"no item has a number in 'correct' in both {run_a} and {run_b}; score them first"
    return f"no question_id in common between {run_a} and {run_b}"
