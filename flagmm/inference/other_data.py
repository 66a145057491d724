"""Whether saved answers are to questions of the data that a task now names."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from flagmm.config.dump import to_plain
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, annotations_of, build_sample, question_id_at
from flagmm.errors import DataError, ResumeError
from flagmm.inference.plan import Plan
from flagmm.jsonio import read_json, read_json_list
from flagmm.paths import TaskPaths
from flagmm.types import Annotation, Sample

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


def warn_of_other_prompts(task: TaskSpec, dataset: Dataset, paths: TaskPaths) -> None:
    """Tell where saved answers were given to other questions, or in other words, than the task has now.

    Questions that cannot be built now, answers of which nobody saved the question, and models that word questions
    themselves are passed over.
    """
    if not paths.answers.is_file() or _words_itself(paths):
        return
    found, annotations = _Others(), annotations_of(dataset)
    with closing(read_json_list(paths.answers)) as records:  # type: ignore[type-var]  # it is a generator
        some = itertools.islice(records, _LOOKED_AT) if hasattr(dataset, "build_sample") else records  # may be slow
        for record, sample in _with_samples(some, dataset):
            found.compare(record, sample, annotations)
    for count, first, what in (
        (found.questions, found.first_question, "to other questions than the data have now"),
        (found.prompts, found.first_prompt, "to other prompts than the task makes now"),
    ):
        if count:
            logger.warning(
                "%s: %d saved answers were given %s, the first is question_id %r; they are scored as they are",
                task.name,
                count,
                what,
                first,
            )


class _Others:
    """What was asked otherwise than it would be now."""

    def __init__(self) -> None:
        self.questions = self.prompts = 0
        self.first_question: str | None = None
        self.first_prompt: str | None = None

    def compare(self, record: Mapping[str, Any], sample: Sample, annotations: Mapping[str, Annotation]) -> None:
        asked, would_ask = str(record["question"]), sample.question
        if asked.split() == would_ask.split():
            return
        question = str((annotations.get(sample.question_id) or {}).get("question") or "")
        options = [option for option in sample.options if option in would_ask]
        is_other = question in would_ask and question not in asked
        if is_other or any(option not in asked for option in options):
            self.questions, self.first_question = self.questions + 1, self.first_question or sample.question_id
        else:
            self.prompts, self.first_prompt = self.prompts + 1, self.first_prompt or sample.question_id


def _with_samples(records: Iterable[Any], dataset: Dataset) -> Iterator[tuple[Mapping[str, Any], Sample]]:
    """The saved records with what would be asked now; as both have mostly one order, ids are rarely looked up."""
    places: dict[str, int] | None = None
    for position, record in enumerate(records):
        if not isinstance(record, Mapping) or not isinstance(record.get("question"), str) or not record["question"]:
            continue
        question_id = str(record.get("question_id"))
        sample = _sample_at(dataset, position)
        if sample is None or sample.question_id != question_id:
            if places is None:
                places = {question_id_at(dataset, index): index for index in range(len(dataset))}
            sample = _sample_at(dataset, places.get(question_id))
        if sample is not None:
            yield record, sample


def _sample_at(dataset: Dataset, index: int | None) -> Sample | None:
    if index is None or index >= len(dataset):
        return None
    try:
        return build_sample(dataset, index)
    except DataError:
        return None


def _words_itself(paths: TaskPaths) -> bool:
    """Whether the model that answered may have had prompts of its own, as classes of other tools have."""
    saved = read_json(paths.config) if paths.config.is_file() else {}
    model = saved.get("model") if isinstance(saved, Mapping) else None
    kind = model.get("model_type") if isinstance(model, Mapping) else None
    return isinstance(kind, str) and ":" in kind


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
