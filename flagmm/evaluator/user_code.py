"""A task's own scoring code: what it gets, and what it wrote into the predictions."""

from __future__ import annotations

import copy
import inspect
import logging
import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from numbers import Real
from statistics import fmean
from typing import Any

from flagmm.errors import ModelError, UserCodeError
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.entries import recorded
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.scores import Marks, compare_accuracy
from flagmm.plugin import user_code

logger = logging.getLogger(__name__)

Scoring = Callable[..., Any]
JUDGE_KEYWORD = "llm_evaluator"
MARK_NAMES = ("correct", "score")
"""What scoring code calls the mark that it writes into a prediction."""


def needs_judge(scoring: Scoring) -> bool:
    """Whether a scoring function cannot be called without a judge."""
    parameter = _judge_parameter(scoring)
    is_variable = parameter is None or parameter.kind is inspect.Parameter.VAR_POSITIONAL
    return not is_variable and parameter is not None and parameter.default is inspect.Parameter.empty


def _judge_parameter(scoring: Scoring) -> inspect.Parameter | None:
    """The parameter that takes a judge: the one called `llm_evaluator`, or else the third."""
    try:
        parameters = list(inspect.signature(scoring).parameters.values())
    except (TypeError, ValueError):  # built in, or a class that hides its signature
        return None
    named = [each for each in parameters if each.name == JUDGE_KEYWORD and each.kind in _BY_NAME]
    third = [each for each in parameters if each.kind in _BY_POSITION][2:3]
    variable = [each for each in parameters if each.kind is inspect.Parameter.VAR_POSITIONAL]
    return next(iter([*named, *third, *variable]), None)


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class UserScoring:
    """Calls a task's scoring function on copies, so that it may write into them as it likes.

    It sees all items asked; one without an answer has the answer "" and a `status` that says why. Of repeated
    questions each repetition is an item of its own, with the id `<question_id>_inference_<k>` in annotations and
    predictions alike.

    Args:
        answered_only: leave out the items without an answer.
    """

    def __init__(self, answers: Sequence[Answer], *, answered_only: bool = False) -> None:
        self._answers = answers
        self._answered_only = answered_only
        self._written: list[dict[str, Any]] = []
        """The predictions after the code had its way with them; none before a run."""
        self.about_judge: dict[str, Any] = {}
        """What the code asked of the judge, as results show it."""
        self.judge_failed = 0
        """Calls of the judge without a reply."""
        self._calls: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def _given(self) -> Iterator[tuple[Answer, Reply]]:
        for answer in self._answers:
            for reply in answer.replies:
                if reply.status == "ok" or not self._answered_only:
                    yield answer, reply

    def run(self, scoring: Scoring, *, name: str, judge: Judge | None = None) -> dict[str, Any]:
        """The numbers that the code returns, as it returned them.

        Raises:
            UserCodeError: it raised, or returned no dict.
            JudgeError: the judge that it asked cannot be used.
        """
        annotations = {_id(answer, reply): copy.deepcopy(answer.annotation) for answer, reply in self._given()}
        self._written = [copy.deepcopy(_prediction(answer, reply)) for answer, reply in self._given()]
        handed_over = _Predictions(self._written)  # the code may sort or shorten the list that it gets
        with user_code(name):
            metrics = self._call(scoring, annotations, handed_over, name=name, judge=judge)
        if not isinstance(metrics, dict):
            raise UserCodeError(f"{name}: returned {type(metrics).__name__}, expected a dict of metrics")
        accuracy = metrics.get("accuracy")
        if accuracy is not None and not (isinstance(accuracy, Real) and math.isfinite(accuracy)):
            raise UserCodeError(f"{name}: accuracy: expected a number, found {accuracy!r}")
        return metrics

    def _call(
        self,
        scoring: Scoring,
        annotations: dict[str, Any],
        predictions: _Predictions,
        *,
        name: str,
        judge: Judge | None,
    ) -> Any:
        parameter = _judge_parameter(scoring)
        owner = getattr(scoring, "__self__", None)  # an evaluator, whose methods may look for the judge on it
        has_place = hasattr(owner, JUDGE_KEYWORD)
        if judge is None:
            return scoring(annotations, predictions)
        if parameter is None and not has_place:
            logger.warning("%s: takes no third argument, so the judge is not asked", name)
            return scoring(annotations, predictions)
        with judge.lend() as lent:
            lent.asked_about = predictions.current_id
            before = getattr(owner, JUDGE_KEYWORD, None)
            if has_place:
                setattr(owner, JUDGE_KEYWORD, lent)
            try:
                return scoring(annotations, predictions, *_positional(parameter, lent), **_by_name(parameter, lent))
            except ModelError as error:
                kept = "what was judged is kept; run the same command again for the rest"
                raise UserCodeError(f"{name}: {error}; {kept}") from error
            finally:
                if has_place:
                    setattr(owner, JUDGE_KEYWORD, before)
                self.judge_failed = lent.failed
                for call in lent.calls:
                    if call.question_id is not None:
                        self._calls[call.question_id].append(call.about)
                self.about_judge = {"judge": asdict(judge.report_of_code(lent))}

    def take_marks(self, metrics: Mapping[str, Any]) -> Marks | None:
        """The marks behind the accuracy that the code returned, from 0 to 1; None where they cannot be told.

        They are what it wrote as `correct`, or else as `score`, if the accuracy is their mean. An item without an
        answer that it wrote nothing of has 0, and of a repeated question the mean counts. From then on they stand in
        the entries as `correct`, too.
        """
        accuracy = metrics.get("accuracy")
        if accuracy is None or not self._written:
            return None
        for name in MARK_NAMES:
            marks = self._marks(name)
            found = None if marks is None else compare_accuracy(accuracy, self._by_question(marks))
            if marks is not None and found is not None:
                for entry, mark in zip(self._written, marks, strict=True):
                    entry.setdefault("correct", mark)
                return found
        return None

    def _marks(self, name: str) -> list[Any] | None:
        """What the code wrote under a name into each item; None unless all are shares of 1, and there is any."""
        marks = [
            entry.get(name, None if reply.status == "ok" else 0.0)
            for (_, reply), entry in zip(self._given(), self._written, strict=True)
        ]
        is_written = any(name in entry for entry in self._written)
        return marks if is_written and all(map(_is_share, marks)) else None

    def _by_question(self, marks: Sequence[Any]) -> list[float]:
        """The mean of each question's marks."""
        questions: dict[str, list[float]] = {}
        for (answer, _), mark in zip(self._given(), marks, strict=True):
            questions.setdefault(answer.question_id, []).append(float(mark))
        return [fmean(each) for each in questions.values()]

    def evaluated(self, aggregation_fields: Sequence[str]) -> list[dict[str, Any]]:
        """The entries of `_evaluated.json`: every answer, with what the code wrote into its prediction."""
        written = {
            (answer.question_id, reply.inference): entry
            for (answer, reply), entry in zip(self._given(), self._written, strict=bool(self._written))
        }
        return [self._entry(answer, written, aggregation_fields) for answer in self._answers]

    def _entry(self, answer: Answer, written: dict[tuple[str, int], dict[str, Any]], fields: Sequence[str]) -> Any:
        entries = [written.get((answer.question_id, reply.inference)) for reply in answer.replies]
        calls = [call for reply in answer.replies for call in self._calls.get(_id(answer, reply), ())]
        about_judge = {"judge_calls": calls} if calls else {}
        if not answer.repeated:
            return {**recorded(answer), **about_judge, **(entries[0] or {})}
        present = [entry for entry in entries if entry is not None]
        merged = {**recorded(answer), **about_judge}
        scores = [entry["correct"] for entry in present if isinstance(entry.get("correct"), int | float)]
        if scores:
            merged |= {"correct": fmean(scores), "inference_scores": scores, "num_inferences": len(present)}
        for field in fields:
            values = [entry[field] for entry in present if field in entry]
            if values:
                merged[field] = values
        return merged


def _is_share(mark: Any) -> bool:
    return isinstance(mark, bool | int | float) and 0 <= mark <= 1


class _Predictions(list[Any]):
    """The list that scoring code gets; it knows at which prediction a loop of the calling thread stands."""

    def __init__(self, predictions: Sequence[dict[str, Any]]) -> None:
        super().__init__(predictions)
        self._ids = {id(each): each["question_id"] for each in predictions}  # the code may write over those in them
        self._here = threading.local()

    def __iter__(self) -> Iterator[Any]:
        before = self.current_id()  # of a loop around this one
        try:
            for each in super().__iter__():
                self._here.question_id = self._ids.get(id(each))
                yield each
        finally:
            self._here.question_id = before

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)  # a copy is a plain list

    def current_id(self) -> str | None:
        found: str | None = getattr(self._here, "question_id", None)
        return found


def _positional(parameter: inspect.Parameter | None, judge: Any) -> list[Any]:
    return [] if parameter is None or parameter.name == JUDGE_KEYWORD else [judge]


def _by_name(parameter: inspect.Parameter | None, judge: Any) -> dict[str, Any]:
    return {JUDGE_KEYWORD: judge} if parameter is not None and parameter.name == JUDGE_KEYWORD else {}


def _id(answer: Answer, reply: Reply) -> str:
    return f"{answer.question_id}_inference_{reply.inference}" if answer.repeated else answer.question_id


def _prediction(answer: Answer, reply: Reply) -> dict[str, Any]:
    prediction = dict(answer.record)
    prediction["question_id"] = _id(answer, reply)
    prediction["answer"] = reply.answer if reply.status == "ok" else ""
    prediction["status"] = reply.status
    if reply.answer != reply.text and reply.status == "ok":
        prediction["raw_answer"] = reply.text
    return prediction
