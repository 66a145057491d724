"""Saved answers of a task, joined to its questions: ours, partial ones, and those FlagEvalMM wrote."""

from __future__ import annotations

import logging
import marshal
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.jsonio import read_json_list
from flagmm.types import STATUSES, Annotation, Status

logger = logging.getLogger(__name__)

# What FlagEvalMM saved as an answer where a call had failed.
_ERROR_ANSWERS = ("Error code", "Can not answer because of", "Input data may contain inappropriate content")


@dataclass(frozen=True, kw_only=True, slots=True)  # there is one for each reply
class Reply:
    """One reply to a question."""

    text: str
    status: Status
    finish_reason: str | None
    usage: Mapping[str, Any] | None
    inference: int


class Answer:
    """A question with what was answered to it.

    Attributes:
        record: the entry of `<task>.json`, unknown keys included; a new dict at each look, as all entries of a run
            would fill the memory if they were kept as dicts.
    """

    __slots__ = ("_record", "annotation", "question_id", "repeated", "replies")

    def __init__(
        self,
        *,
        question_id: str,
        annotation: Annotation,
        record: Mapping[str, Any],
        replies: tuple[Reply, ...],
        repeated: bool,
    ) -> None:
        self.question_id = question_id
        self.annotation = annotation
        self._record = marshal.dumps(dict(record))
        self.replies = replies
        self.repeated = repeated

    @property
    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = marshal.loads(self._record)  # made by this process
        return record

    def with_replies(self, *replies: Reply) -> Answer:
        """The same question with other replies."""
        other = copy(self)
        other.replies = replies
        return other


def read_answers(path: Path, annotations: Mapping[str, Annotation]) -> list[Answer]:
    """The answers in `<task>.json`, in its order.

    Raises:
        DataError: the file is missing, or holds something else.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; run the inference first, or name the right results directory")
    answers: dict[str, Answer] = {}
    strangers = 0
    for position, record in enumerate(read_json_list(path)):
        if not isinstance(record, dict) or "question_id" not in record or "answer" not in record:
            raise DataError(f"{path}: item {position}: expected an object with 'question_id' and 'answer'")
        question_id = str(record["question_id"])
        if question_id not in annotations:
            strangers += 1
            continue
        if question_id in answers:
            raise DataError(f"{path}: item {position}: a second answer for question_id {question_id!r}")
        answers[question_id] = _answer(question_id, record, annotations[question_id])
    if strangers:
        logger.warning("%s: %d answers belong to no question of the data set and are left out", path, strangers)
    return list(answers.values())


def _answer(question_id: str, record: dict[str, Any], annotation: Annotation) -> Answer:
    repeated = isinstance(record["answer"], dict)
    replies = _repeated_replies(record) if repeated else (_only_reply(record),)
    return Answer(question_id=question_id, annotation=annotation, record=record, replies=replies, repeated=repeated)


def _only_reply(record: Mapping[str, Any]) -> Reply:
    answer = record["answer"]
    return Reply(
        text=_text(answer),
        status=_status(record.get("status"), answer),
        finish_reason=record.get("finish_reason"),
        usage=record.get("usage"),
        inference=0,
    )


def _repeated_replies(record: Mapping[str, Any]) -> tuple[Reply, ...]:
    return tuple(
        Reply(
            text=_text(text),
            status=_status(_at(record, "statuses", order), text),
            finish_reason=_at(record, "finish_reason", order),
            usage=_at(record, "usage", order),
            inference=_number(key, order),
        )
        for order, (key, text) in enumerate(record["answer"].items())
    )


def _number(key: str, order: int) -> int:
    """The k of "inference_k"."""
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else order


def _at(record: Mapping[str, Any], key: str, order: int) -> Any:
    value = record.get(key)
    return value[order] if isinstance(value, list) and order < len(value) else None


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _status(given: Any, text: Any) -> Status:
    if given in STATUSES:
        return given  # type: ignore[no-any-return]  # checked against the literal's values
    if isinstance(text, str) and text.startswith(_ERROR_ANSWERS):
        return "failed"
    return "ok" if _text(text).strip() else "empty"
