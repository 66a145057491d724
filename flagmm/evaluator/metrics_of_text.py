"""Metrics of short texts: VQA accuracy, ANLS, relaxed accuracy, OCRBench, fill-in-the-blank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flagmm.evaluator.aggregate import accuracy
from flagmm.evaluator.metric import Metric, Summary, references
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.metrics.anls import anls
from flagmm.metrics.flagevalmm_text import fill_blank_match
from flagmm.metrics.ocrbench import FORMULA_CATEGORY, FORMULA_DATASETS, ocrbench_hit, ocrbench_report
from flagmm.metrics.relaxed_accuracy import Rule, relaxed_accuracy
from flagmm.metrics.relaxed_accuracy import Variant as RelaxedVariant
from flagmm.metrics.vqa_accuracy import Variant, normalize_vqa_answer, vqa_accuracy
from flagmm.registry import METRICS
from flagmm.types import Annotation


@METRICS.register_module("vqa_accuracy")
class VqaAccuracy(Metric):
    """VQA accuracy against the answers of ten people (`answer` is their list).

    Args:
        variant: "vqa" for VQAv2's own normaliser, "textvqa" for TextVQA's.
    """

    name = "vqa_accuracy"

    def __init__(self, *, variant: Variant = "vqa", rule: Rule = "reference") -> None:
        self._variant: Variant = variant
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        answers = references(annotation)
        value = vqa_accuracy(text, answers, variant=self._variant, rule=self._rule)
        read = normalize_vqa_answer(text, variant=self._variant)
        careful = vqa_accuracy(text, answers, variant=self._variant, rule="careful")
        return _verdict(value, read, f"{self._variant}_normalizer", careful)


@METRICS.register_module("anls")
class Anls(Metric):
    """Average normalised Levenshtein similarity, best over the accepted answers; below `threshold` it is 0."""

    name = "anls"

    def __init__(self, *, threshold: float = 0.5) -> None:
        self._threshold = threshold

    def score(self, text: str, annotation: Annotation) -> Verdict:
        value = anls(text, references(annotation), threshold=self._threshold)
        return _verdict(value, text.strip(), "whole_text", None)


@METRICS.register_module("relaxed_accuracy")
class RelaxedAccuracy(Metric):
    """ChartQA's relaxed accuracy: numbers within 5 %, texts equal."""

    name = "relaxed_accuracy"

    def __init__(
        self, *, max_relative_change: float = 0.05, variant: RelaxedVariant = "vlmevalkit", rule: Rule = "reference"
    ) -> None:
        self._settings: dict[str, Any] = {"max_relative_change": max_relative_change, "variant": variant}
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        targets = references(annotation)
        value = relaxed_accuracy(text, targets, rule=self._rule, **self._settings)
        careful = relaxed_accuracy(text, targets, rule="careful", **self._settings)
        return _verdict(value, text.strip(), "whole_text", careful)


@METRICS.register_module("ocrbench")
class OcrBench(Metric):
    """OCRBench: any accepted answer stands in the reply; formulas (by `dataset` or category) without spaces.

    Args:
        category_key: the annotation's field with the category.
    """

    name = "accuracy"

    def __init__(self, *, category_key: str = "sub_task", rule: Rule = "reference") -> None:
        self._category_key = category_key
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        formula = (
            annotation.get("dataset") in FORMULA_DATASETS or annotation.get(self._category_key) == FORMULA_CATEGORY
        )
        hit = ocrbench_hit(text, references(annotation), formula=formula, rule=self._rule)
        careful = ocrbench_hit(text, references(annotation), formula=formula, rule="careful")
        return _verdict(float(hit), text.strip(), "contains_answer", float(careful))

    def summarize(self, items: Sequence[Judged]) -> Summary:
        hits = [(str(item.answer.annotation.get(self._category_key)), item.score == 1) for item in items]
        report = ocrbench_report(hits)
        return {self.name: accuracy(items), "final_score": report["Final Score"]}


@METRICS.register_module("fill_blank")
class FillBlank(Metric):
    """FlagEvalMM's rule for blanks: some line of the reply is more than 70 % like the normalised answer."""

    name = "accuracy"

    def __init__(self, *, threshold: float = 0.7) -> None:
        self._threshold = threshold

    def score(self, text: str, annotation: Annotation) -> Verdict:
        matches = [fill_blank_match(text, answer, threshold=self._threshold) for answer in references(annotation)]
        best = next((match for match in matches if match.correct), matches[0])
        return _verdict(float(best.correct), best.matched, "similar_line", None)


def _verdict(value: float, read: str, rule: str, careful: float | None) -> Verdict:
    differs = careful is not None and careful != value
    return Verdict(correct=value, extracted=read, rule=rule, careful=careful if differs else None)
