"""A file of predictions that VLMEvalKit wrote -> the answers of a task, joined to its questions by `index`."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.assembly import build_dataset, task_code
from flagmm.chat_tokens import is_blank
from flagmm.config.task import TaskSpec
from flagmm.errors import DataError, ResumeError
from flagmm.formats.prediction_file import SavedPrediction, read_predictions, whole_number
from flagmm.jsonio import read_json_list, write_records
from flagmm.paths import TaskPaths
from flagmm.thinking import split_thinking
from flagmm.types import Annotation

logger = logging.getLogger(__name__)


def take_predictions(path: Path, task: TaskSpec, paths: TaskPaths) -> None:
    """Write the answers of a file of predictions where scoring looks for them.

    Rows whose prediction says that the call failed are failed, empty ones are empty.

    Raises:
        DataError: the file or the task's data cannot be read, or they have no index in common.
        ResumeError: a run of ours has its answers there, or they are more of the same.
    """
    if paths.predictions.exists():
        raise ResumeError(f"{paths.folder}: holds the answers of a run", advice="give another --output-dir")
    with task_code(task):
        annotations = build_dataset(task).get_annotation()
    saved = {_id_of(row, annotations): row for row in read_predictions(path)}
    known = {question_id: row for question_id, row in saved.items() if question_id in annotations}
    if not known:
        first, expected = next(iter(saved)), next(iter(annotations), None)
        raise DataError(
            f"{path}: none of its {len(saved)} indices is one of {task.name}'s, such as {expected!r}; the first is "
            f"{first!r}. Is it of this table?"
        )
    if len(known) < len(saved):
        strangers = [question_id for question_id in saved if question_id not in known]
        logger.warning("%s: %d rows are of no question of %s and are left out, such as index %r",
                       path, len(strangers), task.name, strangers[0])  # fmt: skip
    _refuse_part(path, known, paths)
    order = [question_id for question_id in annotations if question_id in known]
    _warn_of_other_questions(path, order, known, annotations)
    write_records(paths.answers, (_record(question_id, known[question_id]) for question_id in order))


def _id_of(row: SavedPrediction, ids: Collection[str]) -> str:
    return row.index if row.index in ids else whole_number(row.index)


def _refuse_part(path: Path, known: Collection[str], paths: TaskPaths) -> None:
    """Keep a file with some of the rows that were scored here before from taking their place."""
    if not paths.answers.is_file():
        return
    before = {str(record.get("question_id")) for record in read_json_list(paths.answers) if isinstance(record, dict)}
    if set(known) < before:
        raise ResumeError(
            f"{path}: holds {len(known)} of the {len(before)} answers in {paths.folder}, and a part must not take the "
            "place of a fuller result",
            advice="give another --output-dir",
        )


def _warn_of_other_questions(
    path: Path, order: Sequence[str], rows: Mapping[str, SavedPrediction], annotations: Mapping[str, Annotation]
) -> None:
    other = [
        question_id
        for question_id in order
        if (asked := rows[question_id].question) is not None
        and (known := annotations[question_id].get("question"))
        and asked.split() != str(known).split()
    ]
    if other:
        logger.warning(
            "%s: %d of %d rows have another question than the table's row with that index, such as %r; is it of this "
            "table?",
            path,
            len(other),
            len(order),
            other[0],
        )


def _record(question_id: str, row: SavedPrediction) -> dict[str, Any]:
    if row.is_failed:
        error = {"kind": "connection", "message": row.prediction, "status": None}
        return {"question_id": question_id, "answer": "", "reason": "", "status": "failed", "error": error}
    thought = split_thinking(row.prediction)
    status = "empty" if is_blank(thought.answer) else "ok"
    return {
        "question_id": question_id,
        "answer": thought.answer,
        "reason": row.thinking or thought.reason,
        "status": status,
    }
