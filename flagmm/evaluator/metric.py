"""Metric: one way to score replies and to make numbers out of the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagmm.evaluator.aggregate import accuracy
from flagmm.evaluator.verdict import FOR_THE_JUDGE, Judged, Verdict
from flagmm.registry import METRICS, build
from flagmm.types import Annotation

Summary = dict[str, Any]


class Metric:
    """Scores each reply from 0 to 1 and sums up. Register subclasses in METRICS under the name tasks use.

    A reply that is no answer is never shown to `score`; it counts as 0.
    """

    name = "accuracy"
    """What the number is called in results."""

    def can_score(self, annotation: Annotation) -> bool:
        """Whether a reply to this question will get a verdict; questions without a reference answer do not."""
        return has_answer(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        """The verdict on one reply."""
        raise NotImplementedError

    def summarize(self, items: Sequence[Judged]) -> Summary:
        """The numbers of a run or of a group; by default the mean over all questions asked, in percent."""
        return {self.name: accuracy(items)}


class JudgeableMetric(Metric):
    """Another metric, with questions that it cannot score left for a judge."""

    def __init__(self, inner: Metric) -> None:
        self._inner = inner
        self.name = inner.name

    def can_score(self, annotation: Annotation) -> bool:
        return self._inner.can_score(annotation) or has_answer(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        if self._inner.can_score(annotation):
            return self._inner.score(text, annotation)
        return Verdict(correct=None, extracted=text, rule=FOR_THE_JUDGE)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        return self._inner.summarize(items)


def has_answer(annotation: Annotation) -> bool:
    """Whether the annotation says what is right."""
    return annotation.get("answer") not in (None, "", [], {})


def references(annotation: Annotation) -> list[str]:
    """The accepted answers as texts."""
    answer = annotation["answer"]
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    return [str(item) for item in answer] if isinstance(answer, list | tuple) else [str(answer)]


def build_metric(config: str | Mapping[str, Any], *, where: str) -> Metric:
    """The metric called by a name, or by a dict with a `type` and keywords.

    Raises:
        ConfigError: there is none of this name, or it does not take a keyword.
    """
    settings = {"type": config} if isinstance(config, str) else config
    metric: Metric = build(METRICS, settings, where=where)
    return metric
