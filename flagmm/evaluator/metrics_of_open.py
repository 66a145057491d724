"""Metrics of open answers: typed answers, captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from flagmm.evaluator.aggregate import rounded
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.metrics.coco_caption import score_captions
from flagmm.metrics.flagevalmm_open import AnswerType, OpenRow, open_report, open_score
from flagmm.registry import METRICS
from flagmm.types import ROW_ERROR, Annotation

_TYPES = get_args(AnswerType)
_FOR_THE_JUDGE = "open_ended"


@METRICS.register_module("typed_open")
class TypedOpen(Metric):
    """FlagEvalMM's typed open answers; the annotation's `answer_type` is integer, float, true_false or text match.

    `open_ended` answers have no rule; they are left to a judge.

    Args:
        tracker_type: the annotation's field that the report groups by.
        tracker_subtype: the field that splits each group.
        rule: "reference" for FlagEvalMM's own way to read and compare.
    """

    name = "accuracy"

    def __init__(
        self,
        *,
        tracker_type: str | None = None,
        tracker_subtype: str | None = None,
        rule: Rule = "careful",
    ) -> None:
        self._tracker_type = tracker_type
        self._tracker_subtype = tracker_subtype
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        return self._has_rule(annotation) and _fits(annotation)

    def is_for_judge(self, annotation: Annotation) -> bool:
        return annotation.get("answer_type") == _FOR_THE_JUDGE and has_answer(annotation)

    def is_unfit(self, annotation: Annotation) -> bool:
        return self._has_rule(annotation) and not _fits(annotation)

    @staticmethod
    def _has_rule(annotation: Annotation) -> bool:
        return has_answer(annotation) and annotation.get("answer_type") in _TYPES

    def score(self, text: str, annotation: Annotation) -> Verdict:
        kind: AnswerType = annotation["answer_type"]
        return verdict_by(
            self._rule,
            reference=float(open_score(text, annotation["answer"], kind, rule="reference")),
            careful=float(open_score(text, annotation["answer"], kind, rule="careful")),
            extracted=text.strip(),
            read_by=f"{self._rule}_{kind.replace(' ', '_')}",
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        summary = super().summarize(items)
        if self._tracker_type is not None:
            rows = [self._row(item, self._tracker_type) for item in items if item.counts]
            summary |= {key: value for key, value in open_report(rows).items() if key != "accuracy"}
        return summary

    def _row(self, item: Judged, group_key: str) -> OpenRow:
        annotation = item.answer.annotation
        subgroup = annotation.get(self._tracker_subtype) if self._tracker_subtype else None
        return OpenRow(item.score, str(annotation.get(group_key)), None if subgroup is None else str(subgroup))


def _fits(annotation: Annotation) -> bool:
    """Whether the answer is what its type says; that of a row which cannot be read is taken to be."""
    if ROW_ERROR in annotation:
        return True
    try:
        open_score("", annotation["answer"], annotation["answer_type"])
    except (TypeError, ValueError, OverflowError):
        return False
    return True


class _TextScores(Metric):
    """Scores made of the texts of all items rather than of a mark for each."""

    is_of_texts = True

    def score(self, text: str, annotation: Annotation) -> Verdict:
        return Verdict(correct=None, extracted=text, rule="whole_text")

    @staticmethod
    def texts(items: Sequence[Judged]) -> list[tuple[str, list[str]]]:
        """(reply, accepted answers) of each question; what is no answer is the empty text."""
        return [
            (reply.answer if reply.status == "ok" else "", references(item.answer.annotation))
            for item in items
            if item.scorable
            for reply in item.answer.replies
        ]


@METRICS.register_module("coco_caption")
class CocoCaption(_TextScores):
    """BLEU-1..4, ROUGE-L and CIDEr of COCO captions (`answer` is the list of references); fractions, CIDEr up to 10."""

    name = "CIDEr"
    mean_name = None

    def summarize(self, items: Sequence[Judged]) -> Summary:
        scores: dict[str, Any] = dict(score_captions(self.texts(items)).corpus)
        if not scores:
            return {self.name: None}
        shown = {name: rounded(value, 6) for name, value in scores.items()}
        return {self.name: shown.pop(self.name), **shown}
