"""Metric: one way to score replies and to make numbers out of the scores."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flagmm.config.dump import to_plain
from flagmm.errors import FlagMMError
from flagmm.evaluator.aggregate import PERCENT_DIGITS, accuracy
from flagmm.evaluator.verdict import FOR_THE_JUDGE, RULE_FAILED, Judged, Verdict
from flagmm.plugin import describe as describe_error
from flagmm.registry import METRICS, build
from flagmm.types import ROW_ERROR, Annotation

Summary = dict[str, Any]


class BuiltAs(NamedTuple):
    """Where a metric comes from."""

    name: str
    """In METRICS."""
    settings: Mapping[str, Any]
    """Its keywords, defaults included."""


class Metric:
    """Scores each reply from 0 to 1 and sums up. Register subclasses in METRICS under the name tasks use.

    A reply that is no answer is never shown to `score`; it counts as 0.
    """

    name = "accuracy"
    """What the headline is called in results."""
    version = 1
    """Grows when the same replies would get another score."""
    normaliser: str | None = None
    """What texts go through before they are compared, where that has a name."""
    built_as = BuiltAs("", {})
    """Filled in by `build_metric`."""
    in_percent = True
    """Whether the headline is in percent, as errors and intervals are; a number of another scale is given without."""
    digits = PERCENT_DIGITS
    """Decimals of the mean in percent."""
    is_of_texts = False
    """Whether its numbers are made of the texts themselves, so that a judge's verdicts would not show in them."""

    @property
    def mean_name(self) -> str | None:
        """Which of its numbers is the mean of the questions' scores in percent, and so has an error and an interval.

        By default the only one there is, or else `accuracy`; None where questions have no score of their own.
        """
        return self.name if type(self).summarize is Metric.summarize else "accuracy"

    def can_score(self, annotation: Annotation) -> bool:
        """Whether a reply to this question will get a verdict; questions without a reference answer do not."""
        return has_answer(annotation)

    def is_for_judge(self, annotation: Annotation) -> bool:
        """Whether the data say that only a judge can score this question."""
        return False

    def is_unfit(self, annotation: Annotation) -> bool:
        """Whether there is a reference answer, but one that no reply can equal: a fault of the data."""
        return has_answer(annotation) and not self.can_score(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        """The verdict on one reply."""
        raise NotImplementedError

    def gold_reply(self, annotation: Annotation) -> str | None:
        """A reply that is right, where `answer` is not the list of texts that it is to most metrics; else None."""
        return None

    def summarize(self, items: Sequence[Judged]) -> Summary:
        """The numbers of a run or of a group; by default the mean over all questions asked, in percent."""
        return {self.name: accuracy(items, digits=self.digits)}


class JudgeableMetric(Metric):
    """Another metric, with questions that it cannot score left for a judge.

    Of a metric of texts there remains what it scores each answer; the number is the mean of the verdicts.
    """

    def __init__(self, inner: Metric) -> None:
        self._inner = inner
        self.name, self.version, self.normaliser = inner.name, inner.version, inner.normaliser
        self.built_as, self.digits = inner.built_as, inner.digits
        if inner.is_of_texts:
            self.name = Metric.name

    @property
    def mean_name(self) -> str | None:
        return self.name if self._inner.is_of_texts else self._inner.mean_name

    def can_score(self, annotation: Annotation) -> bool:
        return self._inner.can_score(annotation) or has_answer(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        if self._inner.can_score(annotation):
            return self._inner.score(text, annotation)
        return Verdict(correct=None, extracted=text, rule=FOR_THE_JUDGE)

    def gold_reply(self, annotation: Annotation) -> str | None:
        return self._inner.gold_reply(annotation)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        return {self.name: accuracy(items)} if self._inner.is_of_texts else self._inner.summarize(items)


def verdict_of(score: Callable[[str, Annotation], Verdict], text: str, annotation: Annotation) -> Verdict:
    """The verdict of a rule; one that raises costs the answer that it raised on, which then counts as not read.

    Raises:
        FlagMMError, ImportError, OSError: what the rule needs beside the answer, a package or a file, is missing.
    """
    try:
        return score(text, annotation)
    except (FlagMMError, ImportError, OSError):
        raise
    except Exception as error:  # the boundary around one answer  # noqa: BLE001
        return Verdict(correct=0.0, extracted=None, rule=RULE_FAILED, error=describe_error(error))


def headline_of(metric: Metric, summary: Summary) -> str | None:
    """Which number stands for all: that of the metric's name, or the first there is."""
    return metric.name if metric.name in summary else next(iter(summary), None)


def has_answer(annotation: Annotation) -> bool:
    """Whether the annotation says what is right; that of a row which cannot be read is taken to, so that it counts."""
    return annotation.get("answer") not in (None, "", [], {}) or ROW_ERROR in annotation


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
    kind, given = settings["type"], {key: value for key, value in settings.items() if key != "type"}
    name = kind if isinstance(kind, str) else kind.__name__
    metric.built_as = BuiltAs(name, {**_defaults(type(metric)), **given})
    return metric


def _defaults(kind: type[Metric]) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


def describe(metric: Metric) -> dict[str, Any]:
    """What `_result.json` says of how a metric scores."""
    return {
        "name": metric.built_as.name or type(metric).__name__,
        "version": metric.version,
        "normaliser": metric.normaliser,
        "settings": to_plain(metric.built_as.settings),
    }
