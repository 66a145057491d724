"""Metrics of answers that only a judge scores."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from flagmm.evaluator.aggregate import accuracy, percent
from flagmm.evaluator.metric import BuiltAs, Metric, Summary
from flagmm.evaluator.verdict import FOR_THE_JUDGE, JUDGE_FAILED, Judged, Verdict
from flagmm.types import Annotation

_RULES = {"judge_correct": "correct", "judge_incorrect": "incorrect"}


class JudgedAnswers(Metric):
    """The share of answers that a judge finds right."""

    built_as = BuiltAs("extract_compare", {})

    def score(self, text: str, annotation: Annotation) -> Verdict:
        return Verdict(correct=None, extracted=text, rule=FOR_THE_JUDGE)


class SimpleQaGrades(JudgedAnswers):
    """SimpleQA's numbers, in percent, from the three grades of the judge.

    `correct`, `incorrect` and `not_attempted` are shares of all questions and add up to 100; what is no answer attempts
    nothing. `correct_given_attempted` is the share of the correct among the correct and incorrect, None where nothing
    was attempted; `f1` the harmonic mean of it and `correct`, 0 where nothing is correct.
    Reference: OpenAI, "Measuring short-form factuality in large language models" (arXiv 2411.04368), section 2.4.
    """

    built_as = BuiltAs("simpleqa", {})
    mean_name = "accuracy"

    def summarize(self, items: Sequence[Judged]) -> Summary:
        shares = [_shares(item) for item in items if item.counts]
        names = ("correct", "incorrect", "not_attempted")
        if not shares:
            return dict.fromkeys(("accuracy", *names, "correct_given_attempted", "f1"))
        correct, incorrect, not_attempted = (fmean(share[name] for share in shares) for name in names)
        given_attempted = correct / (correct + incorrect) if correct + incorrect > 0 else None
        f1 = 2 * correct * given_attempted / (correct + given_attempted) if correct > 0 and given_attempted else 0.0
        return {
            "accuracy": accuracy(items),
            "correct": percent(correct),
            "incorrect": percent(incorrect),
            "not_attempted": percent(not_attempted),
            "correct_given_attempted": None if given_attempted is None else percent(given_attempted),
            "f1": percent(f1),
        }


def _shares(item: Judged) -> dict[str, float]:
    """Which part of the replies to a question got each grade; those that the judge failed on are left out."""
    grades = [
        _RULES.get(verdict.rule, "not_attempted") if verdict else "not_attempted"
        for verdict in item.verdicts
        if verdict is None or verdict.rule != JUDGE_FAILED
    ]
    return {name: grades.count(name) / len(grades) for name in ("correct", "incorrect", "not_attempted")}
