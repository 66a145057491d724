"""Tasks without a score: what leaves them so, and the rows that tell of them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.config.task import TaskSpec
from flagmm.errors import DataError, FlagMMError
from flagmm.evaluator.answers import reply_counts
from flagmm.jsonio import read_json_list, read_json_object, remove_files
from flagmm.paths import RunPaths, TaskPaths
from flagmm.report.results import read_results
from flagmm.types import TaskResult

logger = logging.getLogger(__name__)


class NothingAskedError(DataError):
    """There is a result of a task, but no answer behind it, and so no score."""

    def __init__(self, message: str, result: TaskResult) -> None:
        super().__init__(message)
        self.result = result


class NothingAnsweredError(FlagMMError):
    """Every call of a task failed."""

    exit_status = 1


def refuse_nothing(task: TaskSpec, questions: int, result: TaskResult) -> None:
    """Keep a run without any answer from passing for a sound one.

    Raises:
        NothingAskedError: there is no question, or none of them has an answer.
    """
    if not questions:
        text = f"{task.where('dataset')}: no question is in it, so there is no score; look at its data"
        raise NothingAskedError(text, result)
    if result.counts.total and not result.counts.asked:  # other tools' results have no counts at all
        raise NothingAskedError(f"none of the {questions} questions has an answer, so there is no score", result)


def refuse_failures(paths: TaskPaths, result: TaskResult) -> None:
    """Give no score where every call failed, since it would be that of the calls and not of the model.

    Raises:
        NothingAnsweredError: it says what most of them failed of.
    """
    counts = result.counts
    if not counts.asked or counts.failed < counts.asked:
        return
    remove_files(paths.result)
    causes = Counter(_cause(record) for record in read_json_list(paths.answers) if isinstance(record, Mapping))
    [(cause, times)] = causes.most_common(1) or [("no answers are there", 0)]
    raise NothingAnsweredError(f"all {counts.failed} calls failed, so there is no score: {cause} (×{times})")


def _cause(record: Mapping[str, Any]) -> str:
    """Why the call of a saved answer failed."""
    error = record.get("error")
    error = error[0] if isinstance(error, list) and error else error
    text = error.get("message") if isinstance(error, Mapping) else error or record.get("answer")
    return str(text or "no reason is recorded")


def summary_rows(output: RunPaths, missing: Sequence[TaskResult]) -> list[TaskResult]:
    """What the summaries tell of: every result in the directory, and what has answers there but no result.

    Args:
        missing: rows of this run's tasks without a result.
    """
    results = read_results(output)
    found = {result.task for result in results}
    rows = [*results, *(result for result in missing if result.task not in found)]
    named = {row.task for row in rows}
    for path in sorted(output.folder.glob("*/*.json")):
        if path.stem == path.parent.name and path.stem not in named:
            counts = reply_counts(path)
            reason = "not scored: an earlier run left its answers without a score"
            rows += [TaskResult(task=path.stem, metrics={}, counts=counts, missing=reason)] if counts.asked else []
    return rows


def warn_of_other_models(output: RunPaths, spec: ModelSpec, *, own: Collection[str]) -> None:
    """Say that a directory's summaries will hold scores of several models, which nothing in them tells apart.

    Args:
        own: the names of the folders of this run's tasks.
    """
    others = []
    for result in output.results():
        paths = TaskPaths(result.parent, result.name.removesuffix("_result.json"))
        if paths.name not in own and _is_of_another(paths.config, spec):
            others.append(paths.name)
    if others:
        logger.warning(
            "%s: holds results of another model, too (%s), and its summaries show them side by side; give each model "
            "an --output-dir of its own",
            output.folder,
            ", ".join(others),
        )


def _is_of_another(config: Path, spec: ModelSpec) -> bool:
    """Whether a saved `<task>_config.json` names another model; what tells nothing is not taken for one."""
    try:
        saved = read_json_object(config, "model") if config.is_file() else {}
    except DataError:  # spoilt, which is told where the task itself is run or scored
        return False
    model, identity = saved.get("model"), saved.get("identity")
    name = model.get("model_name") if isinstance(model, Mapping) else None
    is_other_identity = bool(identity and spec.identity and identity != spec.identity)
    return is_other_identity or (name or spec.model_name) != spec.model_name
