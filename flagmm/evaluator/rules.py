"""Read and compare one answer, by question type."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flagmm.evaluator.extraction import (
    Extraction,
    extract_choice,
    extract_choices,
    extract_short_answer,
    extract_yes_no,
)
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.text_match import blanks_equal, text_equal
from flagmm.types import Annotation

NO_REFERENCE = "no_reference"
UNKNOWN_TYPE = "unknown_type"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of one reply."""

    correct: float | None
    """1 or 0; None where nothing can be said: no reference answer, or a type without a rule."""
    extracted: Any
    """The answer that was read; None where no rule could read one."""
    rule: str
    """The rule that read it, or why there is no verdict."""


Scorer = Callable[[str, Annotation], Verdict]


def score_reply(text: str, annotation: Annotation) -> Verdict:
    """The verdict on a reply that is neither empty nor failed."""
    if not has_reference(annotation):
        return Verdict(correct=None, extracted=None, rule=NO_REFERENCE)
    scorer = _SCORERS.get(annotation.get("question_type", ""))
    if scorer is None:
        return Verdict(correct=None, extracted=None, rule=UNKNOWN_TYPE)
    return scorer(text, annotation)


def has_reference(annotation: Annotation) -> bool:
    """Whether the annotation says what is right."""
    return annotation.get("answer") not in (None, "", [])


def can_score(annotation: Annotation) -> bool:
    """Whether a reply to this question will get a verdict."""
    return has_reference(annotation) and annotation.get("question_type", "") in _SCORERS


def _multiple_choice(text: str, annotation: Annotation) -> Verdict:
    options = annotation.get("options") or ()
    references = {_label(item, options) for item in _alternatives(annotation["answer"])}
    read = extract_choice(text, options)
    return _verdict(read, read.value in references)


def _multiple_response(text: str, annotation: Annotation) -> Verdict:
    options = annotation.get("options") or ()
    answer = annotation["answer"]
    parts = re.findall(r"[A-Za-z]", answer) if isinstance(answer, str) else list(answer)
    references = {_label(part, options) for part in parts}
    read = extract_choices(text, options)
    value = list(read.value) if read.value is not None else None
    return _verdict(Extraction(value=value, rule=read.rule), set(read.value or ()) == references)


def _yes_no(text: str, annotation: Annotation) -> Verdict:
    answer = annotation["answer"]
    if isinstance(answer, bool):
        answer = "yes" if answer else "no"
    reference = {"true": "yes", "false": "no"}.get(str(answer).strip().lower()) or extract_yes_no(str(answer)).value
    if reference is None:
        return Verdict(correct=None, extracted=None, rule=NO_REFERENCE)
    read = extract_yes_no(text)
    return _verdict(read, read.value == reference)


def _blanks(text: str, annotation: Annotation) -> Verdict:
    read = extract_short_answer(text)
    answer = annotation["answer"]
    references = [str(item) for item in answer] if isinstance(answer, list | tuple) else str(answer)
    return _verdict(read, read.value is not None and blanks_equal(read.value, references))


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
    label = text.strip("()[]. ").upper()
    labels = option_labels(len(options))
    if options and label not in labels and text in options:
        return labels[list(options).index(text)]
    return label


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
