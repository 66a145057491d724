"""Saved answers of a task, joined to its questions: ours, partial ones, and those FlagEvalMM wrote."""

from __future__ import annotations

import itertools
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.chat_tokens import is_blank, strip_chat_tokens
from flagmm.dataset.compact import CompactById
from flagmm.errors import DataError
from flagmm.finish_reasons import ending_of, read_finish_reason, status_by
from flagmm.hints import shown
from flagmm.jsonio import read_json_list
from flagmm.lazy_sequence import LazySequence
from flagmm.packed import PackedValues, is_plain
from flagmm.types import STATUSES, Annotation, Counts, Status

logger = logging.getLogger(__name__)

# What FlagEvalMM saved as an answer where a call had failed.
_ERROR_ANSWERS = ("Error code", "Can not answer because of", "Input data may contain inappropriate content")
_SHOWN_STATUSES = 5
_MOST_DIGITS = 10
"""Of a number of a repetition, or of tokens; longer ones are no such numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)  # there is one for each reply
class Reply:
    """One reply to a question."""

    text: str
    """As it came."""
    status: Status
    finish_reason: str | None
    usage: Mapping[str, Any] | None
    inference: int

    @property
    def answer(self) -> str:
        """What the model said: the text that every rule reads, without tokens of a chat template around it."""
        return strip_chat_tokens(self.text)


class Answer:
    """A question with what was answered to it.

    Attributes:
        record: the entry of `<task>.json`, unknown keys included; to be looked at only.
    """

    __slots__ = ("annotation", "question_id", "record", "repeated", "replies")

    def __init__(
        self,
        *,
        question_id: str,
        annotation: Annotation,
        record: dict[str, Any],
        replies: tuple[Reply, ...],
        repeated: bool,
    ) -> None:
        self.question_id = question_id
        self.annotation = annotation
        self.record = record
        self.replies = replies
        self.repeated = repeated

    def with_replies(self, *replies: Reply) -> Answer:
        """The same question with other replies."""
        other = copy(self)
        other.replies = replies
        return other


class SavedAnswers(LazySequence[Answer]):
    """The answers of a run in little memory; each look makes a new Answer.

    Annotations are kept along with them, as it may take long to make them again, but for those that are packed
    already, or in memory as a dict.
    """

    def __init__(self, annotations: Mapping[str, Annotation]) -> None:
        self._annotations = annotations if isinstance(annotations, dict | CompactById) else None
        self._others: dict[int, Annotation] = {}  # those that hold more than JSON knows, by the answer's number
        self._packed = PackedValues()

    def extend(self, answers: Iterable[Answer]) -> None:
        """Add answers.

        Raises:
            DataError: the record of one is nested too deeply.
        """
        try:
            self._packed.extend((each.question_id, each.record, self._to_keep(each)) for each in answers)
        except ValueError as error:
            raise DataError(f"answer {len(self)}: {error}") from error

    def _to_keep(self, answer: Answer) -> Annotation | None:
        if self._annotations is not None:
            return None
        if is_plain(answer.annotation):
            return answer.annotation
        self._others[len(self)] = answer.annotation
        return None

    def __len__(self) -> int:
        return len(self._packed)

    def at(self, number: int) -> Answer:
        return self._answer(number, self._packed[number])

    def __iter__(self) -> Iterator[Answer]:
        return itertools.starmap(self._answer, enumerate(self._packed))

    def _answer(self, index: int, packed: tuple[str, dict[str, Any], Annotation | None]) -> Answer:
        question_id, record, annotation = packed
        if annotation is None:
            annotation = self._others[index] if self._annotations is None else self._annotations[question_id]
        return answer_of(question_id, record, annotation)


def read_answers(path: Path, annotations: Mapping[str, Annotation]) -> Sequence[Answer]:
    """The answers in `<task>.json`, in its order.

    Raises:
        DataError: the file is missing, or holds something else.
    """
    answers = SavedAnswers(annotations)
    answers.extend(stream_answers(path, annotations))
    return answers


def stream_answers(path: Path, annotations: Mapping[str, Annotation]) -> Iterator[Answer]:
    """The same, one after another; `DataError` for a missing file before the first is asked for."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; run the inference first, or name the right results directory")
    return _stream(path, annotations)


def reply_counts(path: Path) -> Counts:
    """How many replies of each kind are in `<task>.json`, whatever their questions; zeros where it cannot be read."""
    statuses: Counter[str] = Counter()
    try:
        for record in read_json_list(path) if path.is_file() else ():
            statuses.update(reply.status for reply in answer_of("", record, {}).replies)
    except (DataError, LookupError, TypeError, AttributeError):  # no records of answers
        return Counts()
    asked = statuses.total()
    return Counts(
        total=asked,
        asked=asked,
        answered=statuses["ok"],
        empty=statuses["empty"],
        refused=statuses["refused"],
        failed=statuses["failed"],
    )


def scope_of(config: Path) -> str | None:
    """What the inference called its part of the questions, as in "try run", in `<task>_config.json`.

    None where all were to be asked, and for folders of other tools.
    """
    scope = _saved_config(config).get("scope")
    return scope if isinstance(scope, str) and scope else None


def repeats_wanted(config: Path) -> int:
    """How often the inference was to ask each question, in `<task>_config.json`; 1 where nothing tells."""
    model = _saved_config(config).get("model")
    repeats = model.get("num_infers") if isinstance(model, Mapping) else None
    return repeats if isinstance(repeats, int) and repeats > 0 else 1


def _saved_config(config: Path) -> Mapping[str, Any]:
    """What is in the file; nothing for folders of other tools, whose file is missing or of another shape."""
    try:
        saved = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    except ValueError:
        return {}
    return saved if isinstance(saved, Mapping) else {}


def _stream(path: Path, annotations: Mapping[str, Annotation]) -> Iterator[Answer]:
    answered: set[str] = set()
    unknown: Counter[str] = Counter()
    broken_off: Counter[str] = Counter()
    strangers = 0
    for position, record in enumerate(read_json_list(path)):
        if not isinstance(record, dict) or "question_id" not in record or "answer" not in record:
            raise DataError(f"{path}: item {position}: expected an object with 'question_id' and 'answer'")
        question_id = str(record["question_id"])
        annotation = annotations.get(question_id)
        if annotation is None:
            strangers += 1
            continue
        if question_id in answered:
            raise DataError(f"{path}: item {position}: a second answer for question_id {question_id!r}")
        answered.add(question_id)
        if statuses := _unknown_statuses(record):
            unknown.update(statuses)
        answer = answer_of(question_id, record, annotation)
        broken_off.update(_broken_off(answer))
        yield answer
    if strangers:
        logger.warning("%s: %d answers belong to no question of the data set and are left out", path, strangers)
    if unknown:
        _warn_of_statuses(unknown, path)
    if broken_off:
        told = ", ".join(f"{reason} (×{times})" for reason, times in broken_off.most_common())
        logger.warning(
            "%s: %d answers count as failed, as their finish_reason says that the server broke them off: %s",
            path,
            broken_off.total(),
            told,
        )


def _broken_off(answer: Answer) -> list[str]:
    """The finish reasons of the replies that are taken for failed by them; those are marked so in the record, too."""
    record, changed = answer.record, []
    statuses = record.get("statuses")
    for order, reply in enumerate(answer.replies):
        if reply.finish_reason is None or ending_of(reply.finish_reason) not in ("broken_off", "refused"):
            continue
        if answer.repeated and isinstance(statuses, list) and order < len(statuses):
            given, statuses[order] = statuses[order], reply.status
            record["status"] = next((status for status in statuses if status != "ok"), "ok")
        else:
            given, record["status"] = record.get("status"), reply.status
        if reply.status == "failed" and given in ("ok", "empty", None):
            changed.append(reply.finish_reason)
    return changed


def _warn_of_statuses(unknown: Counter[str], path: Path) -> None:
    told = ", ".join(f"{status} (×{times})" for status, times in itertools.islice(unknown.items(), _SHOWN_STATUSES))
    logger.warning(
        "%s: %d answers count as failed, as their status is none of %s: %s%s",
        path,
        unknown.total(),
        ", ".join(STATUSES),
        told,
        ", …" if len(unknown) > _SHOWN_STATUSES else "",
    )


def answer_of(question_id: str, record: dict[str, Any], annotation: Annotation) -> Answer:
    """A saved record as the answer to its question."""
    repeated = isinstance(record["answer"], dict)
    replies = _repeated_replies(record) if repeated else (_only_reply(record),)
    return Answer(question_id=question_id, annotation=annotation, record=record, replies=replies, repeated=repeated)


def _only_reply(record: Mapping[str, Any]) -> Reply:
    answer, reason = record["answer"], read_finish_reason(record.get("finish_reason"))
    return Reply(
        text=_text(answer),
        status=status_by(_status(record.get("status"), answer), reason),
        finish_reason=reason,
        usage=record.get("usage"),
        inference=0,
    )


def _repeated_replies(record: Mapping[str, Any]) -> tuple[Reply, ...]:
    reasons = [read_finish_reason(_at(record, "finish_reason", order)) for order in range(len(record["answer"]))]
    return tuple(
        Reply(
            text=_text(text),
            status=status_by(_status(_at(record, "statuses", order), text), reasons[order]),
            finish_reason=reasons[order],
            usage=_at(record, "usage", order),
            inference=_number(key, order),
        )
        for order, (key, text) in enumerate(record["answer"].items())
    )


def _number(key: str, order: int) -> int:
    """The k of "inference_k"."""
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdecimal() and len(digits) < _MOST_DIGITS else order


def _at(record: Mapping[str, Any], key: str, order: int) -> Any:
    value = record.get(key)
    return value[order] if isinstance(value, list) and order < len(value) else None


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _unknown_statuses(record: Mapping[str, Any]) -> list[str]:
    """Those of the replies, as they are shown to a person."""
    if not isinstance(record["answer"], dict):
        status = record.get("status")
        return [shown(status)] if status not in STATUSES and _is_unknown(status) else []
    statuses = (_at(record, "statuses", order) for order in range(len(record["answer"])))
    return [shown(status) for status in statuses if _is_unknown(status)]


def _is_unknown(status: Any) -> bool:
    return status not in (None, "", *STATUSES)


def _status(given: Any, text: Any) -> Status:
    if given == "ok" and _is_nothing(text):
        return "empty"
    if given in STATUSES:
        return given  # type: ignore[no-any-return]  # checked against the literal's values
    if _is_unknown(given):  # that it is an answer can only be guessed, and a failure must not raise a score
        return "failed"
    if isinstance(text, str) and text.startswith(_ERROR_ANSWERS):
        return "failed"
    return "ok" if _text(text).strip() and not _is_nothing(text) else "empty"


def _is_nothing(text: Any) -> bool:
    """Whether a reply is nothing but tokens of a chat template."""
    return isinstance(text, str) and bool(text.strip()) and is_blank(text)
