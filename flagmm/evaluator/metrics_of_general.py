"""Metrics of the two general formats: General-VQA's BLEU and ROUGE, General-VMCQ's accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flagmm.evaluator.aggregate import accuracy, rounded
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.extraction import Extraction, extract_choice, extract_choices, strip_thinking
from flagmm.metrics.general_vmcq import answer_labels, general_vmcq_labels, read_general_vmcq
from flagmm.metrics.general_vqa import MAIN_SCORE, NO_SCORE, aggregate_general_vqa, score_general_vqa
from flagmm.metrics.general_vqa_tokens import check_resources
from flagmm.registry import METRICS
from flagmm.types import ROW_ERROR, Annotation

_DIGITS = 4


@METRICS.register_module("general_vqa")
class GeneralVqa(Metric):
    """General-VQA's BLEU-1..4 and ROUGE-1/2/L (recall, precision, F1), each the mean over all questions with an answer.

    Fractions from 0 to 1 with four decimals, as EvalScope stores them. Thinking is left out, and what is no answer
    scores 0 on each. Of several accepted answers the first is compared.

    Raises:
        MissingExtraError: what cuts texts into words is not installed.
    """

    name = MAIN_SCORE
    mean_name = MAIN_SCORE
    in_percent = False
    is_of_texts = True

    def __init__(self) -> None:
        check_resources()

    def score(self, text: str, annotation: Annotation) -> Verdict:
        scores = score_general_vqa(strip_thinking(text), references(annotation)[0])
        return Verdict(correct=scores[self.name], extracted=text, rule="whole_text", scores=scores)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        means = aggregate_general_vqa(_item_scores(item) for item in items if item.counts)
        if not means:
            return {self.name: None}
        shown = {name: rounded(value, _DIGITS) for name, value in means.items()}
        return {self.name: shown.pop(self.name), **shown}


def _item_scores(item: Judged) -> dict[str, float]:
    """The means over the replies to one question."""
    return aggregate_general_vqa((verdict and verdict.scores) or NO_SCORE for verdict in item.verdicts)


@METRICS.register_module("general_vmcq")
class GeneralVmcq(Metric):
    """General-VMCQ's accuracy: the label read equals the answer's; of a "multiple-response", all labels do.

    Labels are A to Z, then 1, 2 and on, as the format's prompts print them; answers may be in lower case. An answer
    that names no option leaves its question unscored.

    Args:
        rule: "careful" reads with care; "reference" reads as EvalScope does, by the marker of the prompt's language
            (`language`: "english" or "chinese").
    """

    def __init__(self, *, rule: Rule = "careful") -> None:
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        return ROW_ERROR in annotation or (has_answer(annotation) and bool(_right_answers(annotation)))

    def score(self, text: str, annotation: Annotation) -> Verdict:
        right = _right_answers(annotation)
        careful, reference = _read_with_care(text, annotation), _read_as_evalscope(text, annotation)
        read = careful if self._rule == "careful" else reference
        return verdict_by(
            self._rule,
            careful=float(frozenset(careful.value or ()) in right),
            reference=float(frozenset(reference.value or ()) in right),
            extracted=_shown(read, annotation),
            read_by=read.rule,
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        return {self.name: accuracy(items)}


def _shown(read: Extraction, annotation: Annotation) -> list[str] | str | None:
    if read.value is None:
        return None
    return list(read.value) if _is_multiple(annotation) else str(read.value[0])


def _is_multiple(annotation: Annotation) -> bool:
    return annotation.get("question_type") == "multiple-response"


def _options(annotation: Annotation) -> list[str]:
    return [str(option) for option in annotation.get("options") or ()]


def _right_answers(annotation: Annotation) -> set[frozenset[str]]:
    """The sets of labels of which each is a right answer; an answer that names no option is none."""
    labels, answer = general_vmcq_labels(len(_options(annotation))), annotation.get("answer")
    if _is_multiple(annotation):
        together = answer_labels(references(annotation) if has_answer(annotation) else [], labels)
        return {frozenset(together)} if together else set()
    alternatives = references(annotation) if answer is not None else []
    return {frozenset({label}) for label in (text.strip().upper() for text in alternatives) if label in labels}


def _read_with_care(text: str, annotation: Annotation) -> Extraction:
    """The labels read, as a tuple."""
    options = _options(annotation)
    labels = general_vmcq_labels(len(options))
    if _is_multiple(annotation):
        return extract_choices(text, options, labels=labels)
    found = extract_choice(text, options, labels=labels)
    return Extraction(value=None if found.value is None else (found.value,), rule=found.rule)


def _read_as_evalscope(text: str, annotation: Annotation) -> Extraction:
    labels, multiple = general_vmcq_labels(len(_options(annotation))), _is_multiple(annotation)
    language: Literal["english", "chinese"] = "chinese" if annotation.get("language") == "chinese" else "english"
    read = read_general_vmcq(strip_thinking(text), labels, language=language, multiple=multiple)
    if not read:
        return Extraction(value=None, rule="no_answer")
    value = tuple(sorted(answer_labels([read], labels))) if multiple else (read,)
    return Extraction(value=value, rule="evalscope")
