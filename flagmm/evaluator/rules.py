"""Read and compare one answer, by question type."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from flagmm.evaluator.metric import BuiltAs, Metric, has_answer
from flagmm.evaluator.verdict import NO_REFERENCE, UNKNOWN_TYPE, Verdict
from flagmm.extraction import (
    Extraction,
    extract_choice,
    extract_choices,
    extract_short_answer,
    extract_yes_no,
)
from flagmm.metrics.option_labels import labels_in, option_labels
from flagmm.metrics.text_match import blanks_equal, text_equal
from flagmm.registry import METRICS
from flagmm.types import Annotation

Scorer = Callable[[str, Annotation], Verdict]

_FOR_THE_JUDGE = "llm-judge"


@METRICS.register_module("by_type")
class TypeRules(Metric):
    """Reads and compares by the question's type, with care; what BaseEvaluator does."""

    normaliser = "text_match"
    built_as = BuiltAs("by_type", {})

    def can_score(self, annotation: Annotation) -> bool:
        return has_reference(annotation) and annotation.get("question_type", "") in _SCORERS

    def is_for_judge(self, annotation: Annotation) -> bool:
        return annotation.get("question_type") == _FOR_THE_JUDGE and has_answer(annotation)

    def is_unfit(self, annotation: Annotation) -> bool:
        return annotation.get("question_type", "") in _SCORERS and super().is_unfit(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        return _SCORERS[annotation["question_type"]](text, annotation)


def score_reply(text: str, annotation: Annotation) -> Verdict:
    """The verdict on a reply that is neither empty nor failed."""
    if not has_reference(annotation):
        return Verdict(correct=None, extracted=None, rule=NO_REFERENCE)
    scorer = _SCORERS.get(annotation.get("question_type", ""))
    if scorer is None:
        return Verdict(correct=None, extracted=None, rule=UNKNOWN_TYPE)
    return scorer(text, annotation)


def has_reference(annotation: Annotation) -> bool:
    """Whether the annotation says what is right, in words that its question type knows."""
    if not has_answer(annotation):
        return False
    kind = annotation.get("question_type")
    if kind == "yes-no":
        return yes_or_no(annotation["answer"]) is not None
    if kind == "multiple-choice":
        return not _right_labels(annotation).isdisjoint(_labels(annotation))
    if kind == "multiple-response":
        return bool(_all_right_labels(annotation)) and _all_right_labels(annotation).issubset(_labels(annotation))
    return True


def _multiple_choice(text: str, annotation: Annotation) -> Verdict:
    read = extract_choice(text, annotation.get("options") or (), labels=_labels_in(annotation))
    return _verdict(read, read.value in _right_labels(annotation))


def _right_labels(annotation: Annotation) -> set[str]:
    """The labels of which each is right."""
    options = annotation.get("options") or ()
    return {_label(item, options) for item in _alternatives(annotation["answer"])}


def _multiple_response(text: str, annotation: Annotation) -> Verdict:
    read = extract_choices(text, annotation.get("options") or (), labels=_labels_in(annotation))
    value = list(read.value) if read.value is not None else None
    is_right = set(read.value or ()) == _all_right_labels(annotation)
    return _verdict(Extraction(value=value, rule=read.rule), is_right)


def _all_right_labels(annotation: Annotation) -> set[str]:
    """The labels that are right together."""
    options, answer = annotation.get("options") or (), annotation["answer"]
    if isinstance(answer, str) and _label(answer, options) not in _labels(annotation):
        return set(re.findall(r"[A-Z]", answer.upper()))
    return {_label(part, options) for part in _alternatives(answer)}


def _labels(annotation: Annotation) -> list[str]:
    """The labels that an answer can have; any letter where no options are known."""
    options = annotation.get("options")
    return option_labels(len(options)) if options else _labels_in(annotation) or option_labels(26)


def _labels_in(annotation: Annotation) -> list[str] | None:
    """The labels of options that only the question's text holds."""
    return None if annotation.get("options") else labels_in(str(annotation.get("question", ""))) or None


def _yes_no(text: str, annotation: Annotation) -> Verdict:
    read = extract_yes_no(text)
    return _verdict(read, read.value == yes_or_no(annotation["answer"]))


def yes_or_no(reference: Any) -> str | None:
    """What a reference answer to a yes-no question means."""
    word = str(reference).strip().lower()
    return {"true": "yes", "false": "no"}.get(word) or extract_yes_no(word).value


def _blanks(text: str, annotation: Annotation) -> Verdict:
    """A reference of several blanks is a text with semicolons, or a list within the list of accepted answers."""
    read = extract_short_answer(text)
    references = [
        [str(blank) for blank in item] if isinstance(item, list | tuple) else str(item)
        for item in _alternatives(annotation["answer"])
    ]
    matches = read.value is not None and any(blanks_equal(read.value, reference) for reference in references)
    return _verdict(read, matches)


def _short_answer(text: str, annotation: Annotation) -> Verdict:
    read = extract_short_answer(text)
    references = [str(item) for item in _alternatives(annotation["answer"])]
    return _verdict(read, read.value is not None and text_equal(read.value, references))


def _verdict(read: Extraction, correct: bool) -> Verdict:
    return Verdict(correct=float(correct and read.value is not None), extracted=read.value, rule=read.rule)


def _alternatives(answer: Any) -> list[Any]:
    """Several accepted answers, or the one there is."""
    if isinstance(answer, dict):
        return list(answer.values())
    return list(answer) if isinstance(answer, list | tuple) else [answer]


def _label(reference: Any, options: Sequence[str]) -> str:
    """The label that a reference means: itself in any case and with brackets, or that of the option it quotes."""
    text = str(reference).strip()
    labels = option_labels(len(options))
    if text in labels:
        return text
    label = text.strip("()[]. ").upper()
    texts = [str(option).strip() for option in options]
    return labels[texts.index(text)] if label not in labels and text in texts else label


_SCORERS: dict[str, Scorer] = {
    "multiple-choice": _multiple_choice,
    "multiple-response": _multiple_response,
    "yes-no": _yes_no,
    "fill-in-the-blank": _blanks,
    "fill-blank": _blanks,
    "cloze": _blanks,
    "short-answer": _short_answer,
}

KNOWN_TYPES = tuple(_SCORERS)
