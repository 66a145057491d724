"""A task's own scoring code: what it gets, and what it wrote into the predictions."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from numbers import Real
from statistics import fmean
from typing import Any

from flagmm.errors import UserCodeError
from flagmm.evaluator.answers import Answer, Reply
from flagmm.plugin import user_code

Scoring = Callable[[dict[str, Any], list[dict[str, Any]]], Any]


class UserScoring:
    """Calls a task's scoring function on copies, so that it may write into them as it likes.

    It sees the answered items only. Of repeated questions each repetition is an item of its own, with the id
    `<question_id>_inference_<k>` in annotations and predictions alike.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers
        self._given = [(answer, reply) for answer in answers for reply in answer.replies if reply.status == "ok"]
        self._predictions = [_prediction(answer, reply) for answer, reply in self._given]
        self._written = [dict(prediction) for prediction in self._predictions]

    def run(self, scoring: Scoring, *, name: str) -> dict[str, Any]:
        """The numbers that the code returns, as it returned them.

        Raises:
            UserCodeError: it raised, or returned no dict.
        """
        annotations = {_id(answer, reply): copy.deepcopy(answer.annotation) for answer, reply in self._given}
        self._written = copy.deepcopy(self._predictions)
        handed_over = list(self._written)  # the code may sort or shorten the list that it gets
        with user_code(name):
            metrics = scoring(annotations, handed_over)
        if not isinstance(metrics, dict):
            raise UserCodeError(f"{name}: returned {type(metrics).__name__}, expected a dict of metrics")
        accuracy = metrics.get("accuracy")
        if accuracy is not None and not (isinstance(accuracy, Real) and math.isfinite(accuracy)):
            raise UserCodeError(f"{name}: accuracy: expected a number, found {accuracy!r}")
        return metrics

    def evaluated(self, aggregation_fields: Sequence[str]) -> list[dict[str, Any]]:
        """The entries of `_evaluated.json`: every answer, with what the code wrote into its prediction."""
        written = {
            (answer.question_id, reply.inference): entry
            for (answer, reply), entry in zip(self._given, self._written, strict=True)
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


def _id(answer: Answer, reply: Reply) -> str:
    return f"{answer.question_id}_inference_{reply.inference}" if answer.repeated else answer.question_id


def _prediction(answer: Answer, reply: Reply) -> dict[str, Any]:
    prediction = dict(answer.record)
    prediction["question_id"] = _id(answer, reply)
    prediction["answer"] = reply.text
    return prediction
