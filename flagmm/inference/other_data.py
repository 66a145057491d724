"""Whether saved answers are to questions of the data that a task now names."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from flagmm.config.dump import to_plain
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ResumeError
from flagmm.inference.plan import Plan
from flagmm.jsonio import read_json, read_json_list
from flagmm.paths import TaskPaths
from flagmm.types import Annotation

logger = logging.getLogger(__name__)

_LOOKED_AT = 100
_PARTS = ("subset_list ", "split ", "anno_file ")
"""How a change begins that may leave only a part of the same questions."""
_KEYS = ("anno_file", "config", "subset_list", "split", "dataset", "url")
"""What says, beside the folder, which questions a data set has; all else may change how they are asked, not which."""


def refuse_other_data(task: TaskSpec, dataset: Dataset, paths: TaskPaths, plan: Plan, *, saved: int) -> None:
    """Keep a run on other data from taking the place of this folder's results.

    Data may have moved, or grown, and a prompt may be another: where a saved answer fits still, or only the words
    around a question changed, the data are the same.

    Args:
        saved: how many calls were saved.

    Raises:
        ResumeError: the task names other data than before, and the saved answers are to none of its questions; or it
            names a part of them only.
    """
    if not saved:
        return
    changes = data_changes(task, paths)
    if len(plan.open_calls) < plan.total_calls:
        _refuse_part(paths, plan, [change for change in changes if change.startswith(_PARTS)])
        return
    if changes and not _is_about(dataset, paths):
        raise ResumeError(
            f"{paths.folder}: the answers saved here are to questions of other data ({'; '.join(changes)}); "
            "evaluate these data in another results directory"
        )
    logger.warning(
        "%s: none of the %d answers saved in %s fits these questions; all are asked, and their results take the place "
        "of the earlier ones",
        task.name,
        saved,
        paths.folder,
    )


def _refuse_part(paths: TaskPaths, plan: Plan, changes: Sequence[str]) -> None:
    strangers = plan.count_strangers() if changes else 0
    if strangers:
        raise ResumeError(
            f"{paths.folder}: {strangers} of the questions answered here are left out now ({'; '.join(changes)}), and "
            "a part must not take the place of a fuller result",
            advice="give another --output-dir, or --overwrite",
        )


def warn_of_other_data(task: TaskSpec, paths: TaskPaths) -> None:
    """Tell where saved answers are about to be scored by other data than they were given to."""
    changes = data_changes(task, paths)
    if changes:
        text = "%s: the saved answers are to questions of other data (%s); they are scored by these"
        logger.warning(text, task.name, "; ".join(changes))


def data_changes(task: TaskSpec, paths: TaskPaths) -> list[str]:
    """What a task says of its data otherwise than the run whose answers are saved, as in "split was 'a', is 'b'"."""
    saved = read_json(paths.config) if paths.config.is_file() else {}
    before = saved.get("task") if isinstance(saved, Mapping) else None
    dataset = before.get("dataset") if isinstance(before, Mapping) else None
    if not isinstance(dataset, Mapping):  # none of ours
        return []
    then, now = _of_data(dataset), _of_data(to_plain(task.dataset))
    return [f"{key} was {then[key]!r}, is {now[key]!r}" for key in then if then[key] != now[key]]


def _is_about(dataset: Dataset, paths: TaskPaths) -> bool:
    """Whether a question of the data set is found in what was asked under its id."""
    if not paths.answers.is_file():
        return False
    annotations = annotations_of(dataset)
    with closing(read_json_list(paths.answers)) as records:  # type: ignore[type-var]  # it is a generator
        return any(_was_asked(record, annotations) for record in itertools.islice(records, _LOOKED_AT))


def _was_asked(record: Any, annotations: Mapping[str, Annotation]) -> bool:
    annotation = annotations.get(str(record.get("question_id"))) if isinstance(record, Mapping) else None
    question = str((annotation or {}).get("question") or "").strip()
    return bool(question) and question in str(record.get("question"))


def _of_data(dataset: Mapping[str, Any]) -> dict[str, Any]:
    root = dataset.get("data_root") or dataset.get("local_path")  # two names of it
    return {"data_root": root, **{key: dataset.get(key) or None for key in _KEYS}}
