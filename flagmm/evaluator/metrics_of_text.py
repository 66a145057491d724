"""Metrics of short texts: VQA accuracy, ANLS, relaxed accuracy, OCRBench, blanks, formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flagmm.evaluator.aggregate import accuracy
from flagmm.evaluator.metric import Metric, Summary, references
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.extraction import extract_short_answer, strip_thinking
from flagmm.metrics.anls import anls
from flagmm.metrics.fill_blank import fill_blank_correct
from flagmm.metrics.flagevalmm_text import fill_blank_match
from flagmm.metrics.latex_value import load_parser
from flagmm.metrics.math_equality import latex_equal
from flagmm.metrics.ocrbench import FORMULA_CATEGORY, FORMULA_DATASETS, ocrbench_hit, ocrbench_report
from flagmm.metrics.relaxed_accuracy import Variant as RelaxedVariant
from flagmm.metrics.relaxed_accuracy import relaxed_accuracy
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
        self.normaliser = f"{variant}_normalizer"

    def score(self, text: str, annotation: Annotation) -> Verdict:
        answers = references(annotation)
        return verdict_by(
            self._rule,
            reference=vqa_accuracy(text, answers, variant=self._variant),
            careful=vqa_accuracy(text, answers, variant=self._variant, rule="careful"),
            extracted=normalize_vqa_answer(text, variant=self._variant),
            read_by=f"{self._variant}_normalizer",
        )


@METRICS.register_module("anls")
class Anls(Metric):
    """Average normalised Levenshtein similarity, best over the accepted answers; below `threshold` it is 0."""

    name = "anls"

    def __init__(self, *, threshold: float = 0.5) -> None:
        self._threshold = threshold

    def score(self, text: str, annotation: Annotation) -> Verdict:
        value = anls(text, references(annotation), threshold=self._threshold)
        return Verdict(correct=value, extracted=text.strip(), rule="whole_text")


@METRICS.register_module("relaxed_accuracy")
class RelaxedAccuracy(Metric):
    """ChartQA's relaxed accuracy: numbers within 5 %, texts equal."""

    name = "relaxed_accuracy"
    version = 2

    def __init__(
        self, *, max_relative_change: float = 0.05, variant: RelaxedVariant = "vlmevalkit", rule: Rule = "reference"
    ) -> None:
        self._settings: dict[str, Any] = {"max_relative_change": max_relative_change, "variant": variant}
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        targets = references(annotation)
        return verdict_by(
            self._rule,
            reference=relaxed_accuracy(text, targets, **self._settings),
            careful=relaxed_accuracy(text, targets, rule="careful", **self._settings),
            extracted=text.strip(),
            read_by="whole_text",
        )


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
        return verdict_by(
            self._rule,
            reference=float(ocrbench_hit(text, references(annotation), formula=formula)),
            careful=float(ocrbench_hit(text, references(annotation), formula=formula, rule="careful")),
            extracted=text.strip(),
            read_by="contains_answer",
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        hits = [(str(item.answer.annotation.get(self._category_key)), item.score == 1) for item in items]
        report = ocrbench_report(hits)
        return {self.name: accuracy(items), "final_score": report["Final Score"]}


@METRICS.register_module("fill_blank")
class FillBlank(Metric):
    """Whether a reply, or a line of it, fills a blank.

    Args:
        threshold: how much of a line must be like the answer, by FlagEvalMM's rule.
        rule: "careful" wants the same text, number or word; "reference" takes what is more than 70 % alike, as
            FlagEvalMM does.
    """

    name = "accuracy"

    def __init__(self, *, threshold: float = 0.7, rule: Rule = "careful") -> None:
        self._threshold = threshold
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        answers = references(annotation)
        matches = [fill_blank_match(text, answer, threshold=self._threshold) for answer in answers]
        best = next((match for match in matches if match.correct), matches[0])
        return verdict_by(
            self._rule,
            reference=float(best.correct),
            careful=float(any(fill_blank_correct(text, answer, rule="careful") for answer in answers)),
            extracted=best.matched if self._rule == "reference" else strip_thinking(text).strip() or None,
            read_by="similar_line" if self._rule == "reference" else "stated_line",
        )


@METRICS.register_module("math_equal")
class MathEqual(Metric):
    """Whether the answer that a reply states or boxes has the value of an accepted one; formulas are read as LaTeX.

    Args:
        rule: "reference" compares as MATH-Vision's script does, values rounded to two decimals; "careful" knows units,
            variables, sets and percentages, too.

    Raises:
        MissingExtraError: the package that reads formulas is not installed.
    """

    name = "accuracy"

    def __init__(self, *, rule: Rule = "reference") -> None:
        load_parser()
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        read, answers = extract_short_answer(text), references(annotation)
        given = read.value or ""
        return verdict_by(
            self._rule,
            reference=float(any(latex_equal(given, answer) for answer in answers)),
            careful=float(any(latex_equal(given, answer, rule="careful") for answer in answers)),
            extracted=read.value,
            read_by=read.rule,
        )
