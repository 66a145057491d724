"""A task's own scoring code: what it gets, and what it wrote into the predictions."""

from __future__ import annotations

import copy
import inspect
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from numbers import Real
from statistics import fmean
from typing import Any

from flagmm.errors import ModelError, UserCodeError
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.judge import Judge
from flagmm.plugin import user_code

logger = logging.getLogger(__name__)

Scoring = Callable[..., Any]
JUDGE_KEYWORD = "llm_evaluator"


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

    It sees the answered items only. Of repeated questions each repetition is an item of its own, with the id
    `<question_id>_inference_<k>` in annotations and predictions alike.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers
        self._written = [_prediction(answer, reply) for answer, reply in self._given()]
        self.about_judge: dict[str, Any] = {}
        """What the code asked of the judge, as results show it."""
        self.judge_failed = 0
        """Calls of the judge without a reply."""

    def _given(self) -> Iterator[tuple[Answer, Reply]]:
        return ((answer, reply) for answer in self._answers for reply in answer.replies if reply.status == "ok")

    def run(self, scoring: Scoring, *, name: str, judge: Judge | None = None) -> dict[str, Any]:
        """The numbers that the code returns, as it returned them.

        Raises:
            UserCodeError: it raised, or returned no dict.
            JudgeError: the judge that it asked cannot be used.
        """
        annotations = {_id(answer, reply): copy.deepcopy(answer.annotation) for answer, reply in self._given()}
        self._written.clear()  # before its copies are made
        self._written = [copy.deepcopy(_prediction(answer, reply)) for answer, reply in self._given()]
        handed_over = list(self._written)  # the code may sort or shorten the list that it gets
        with user_code(name):
            metrics = self._call(scoring, annotations, handed_over, name=name, judge=judge)
        if not isinstance(metrics, dict):
            raise UserCodeError(f"{name}: returned {type(metrics).__name__}, expected a dict of metrics")
        accuracy = metrics.get("accuracy")
        if accuracy is not None and not (isinstance(accuracy, Real) and math.isfinite(accuracy)):
            raise UserCodeError(f"{name}: accuracy: expected a number, found {accuracy!r}")
        return metrics

    def _call(
        self, scoring: Scoring, annotations: dict[str, Any], predictions: list[Any], *, name: str, judge: Judge | None
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
            if has_place:
                setattr(owner, JUDGE_KEYWORD, lent)
            try:
                return scoring(annotations, predictions, *_positional(parameter, lent), **_by_name(parameter, lent))
            except ModelError as error:
                kept = "what was judged is kept; run the same command again for the rest"
                raise UserCodeError(f"{name}: {error}; {kept}") from error
            finally:
                self.judge_failed = lent.failed
                self.about_judge = {"judge": asdict(judge.report_of_code(lent))}

    def scores(self) -> list[float] | None:
        """What the code wrote as `correct` of each answer; None unless that is a share for all, and each asked once."""
        marks = [entry.get("correct") for entry in self._written]
        if not marks or any(answer.repeated for answer, _ in self._given()):
            return None
        scores = [float(mark) for mark in marks if isinstance(mark, bool | int | float) and 0 <= mark <= 1]
        return scores if len(scores) == len(marks) else None

    def evaluated(self, aggregation_fields: Sequence[str]) -> list[dict[str, Any]]:
        """The entries of `_evaluated.json`: every answer, with what the code wrote into its prediction."""
        written = {
            (answer.question_id, reply.inference): entry
            for (answer, reply), entry in zip(self._given(), self._written, strict=True)
        }
        return [self._entry(answer, written, aggregation_fields) for answer in self._answers]

    def _entry(self, answer: Answer, written: dict[tuple[str, int], dict[str, Any]], fields: Sequence[str]) -> Any:
        entries = [written.get((answer.question_id, reply.inference)) for reply in answer.replies]
        if not answer.repeated:
            return {**answer.record, **(entries[0] or {})}
        present = [entry for entry in entries if entry is not None]
        merged = dict(answer.record)
        scores = [entry["correct"] for entry in present if isinstance(entry.get("correct"), int | float)]
        if scores:
            merged |= {"correct": fmean(scores), "inference_scores": scores, "num_inferences": len(present)}
        for field in fields:
            values = [entry[field] for entry in present if field in entry]
            if values:
                merged[field] = values
        return merged


def _positional(parameter: inspect.Parameter | None, judge: Any) -> list[Any]:
    return [] if parameter is None or parameter.name == JUDGE_KEYWORD else [judge]


def _by_name(parameter: inspect.Parameter | None, judge: Any) -> dict[str, Any]:
    return {JUDGE_KEYWORD: judge} if parameter is not None and parameter.name == JUDGE_KEYWORD else {}


def _id(answer: Answer, reply: Reply) -> str:
    return f"{answer.question_id}_inference_{reply.inference}" if answer.repeated else answer.question_id


def _prediction(answer: Answer, reply: Reply) -> dict[str, Any]:
    prediction = dict(answer.record)
    prediction["question_id"] = _id(answer, reply)
    prediction["answer"] = reply.answer
    if reply.answer != reply.text:
        prediction["raw_answer"] = reply.text
    return prediction
