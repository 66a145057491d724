"""Metrics of mathematics: MathVista and MATH-Vision."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Literal

from flagmm.evaluator.metric import Metric, has_answer, references
from flagmm.evaluator.verdict import Rule, Verdict, verdict_by
from flagmm.extraction import Extraction, extract_choice, extract_number, extract_short_answer, strip_thinking
from flagmm.metrics.latex_value import load_parser
from flagmm.metrics.mathvision import mathvision_correct, mathvision_extract
from flagmm.metrics.mathvista import (
    MathVistaQuestion,
    mathvista_correct,
    mathvista_extract,
    mathvista_normalize,
)
from flagmm.metrics.option_labels import option_labels
from flagmm.registry import METRICS
from flagmm.types import Annotation

_LIST = re.compile(r"\[[^\[\]]{0,2000}\]")
_NO_ANSWER = Extraction(value=None, rule="no_answer")


@METRICS.register_module("mathvista")
class MathVista(Metric):
    """MathVista: an answer is read by its type, brought into the form of the reference answer, and equal to it or not.

    What the official script has a language model read is read by `extraction` here; a judge with the strategy
    "extract" reads what is left. Annotations have `answer` (of choices the letter), `answer_type`, and where they
    apply `choices` and `precision`.

    Args:
        rule: "careful" compares numbers and lists by value.
        choice: what becomes of a choice that is neither a letter nor an option's text. "careful" takes it for no
            answer; "nearest" for the option with the smallest edit distance, as the official script does.
    """

    name = "accuracy"
    normaliser = "mathvista_normalize"

    def __init__(self, *, rule: Rule = "reference", choice: Literal["careful", "nearest"] = "careful") -> None:
        self._rule: Rule = rule
        self._choice = choice

    def can_score(self, annotation: Annotation) -> bool:
        if not has_answer(annotation):
            return False
        choices = _question(annotation).choices
        return not choices or _option(str(annotation["answer"]), choices) in choices

    def score(self, text: str, annotation: Annotation) -> Verdict:
        question, answer = _question(annotation), str(annotation["answer"])
        if question.choices:
            return self._score_choice(text, _option(answer, question.choices), question)
        read = _careful_reading(text, question)
        is_right = _is_right(read, answer, question, rule="careful")
        value = mathvista_extract(text, question, quick=True)
        official = read if value is None else Extraction(value=value, rule="mathvista_extract")
        shown = read if self._rule == "careful" else official
        return verdict_by(
            self._rule,
            reference=_is_right(official, answer, question, rule="reference"),
            careful=is_right,
            extracted=shown.value,
            read_by=shown.rule,
        )

    def _score_choice(self, text: str, answer: str, question: MathVistaQuestion) -> Verdict:
        """Compare option texts, as the official script does: of two that are the same, either is right."""
        read = extract_choice(text, question.choices)
        if read.value is None and self._choice == "nearest":
            nearest = mathvista_normalize(extract_short_answer(text).value or "", question)
            correct = float(nearest == answer)
            return Verdict(correct=correct, extracted=nearest, rule="nearest_option", careful=0.0 if correct else None)
        correct = float(read.value is not None and _option(read.value, question.choices) == answer)
        return Verdict(correct=correct, extracted=read.value, rule=read.rule)


@METRICS.register_module("mathvision")
class MathVision(Metric):
    """MATH-Vision: what the reply boxes or states has the value of the answer, or of the option that is the answer.

    Args:
        rule: "careful" finds answers among words, units and markup too, and knows more of mathematics.

    Raises:
        MissingExtraError: the package that reads formulas is not installed.
    """

    name = "accuracy"

    def __init__(self, *, rule: Rule = "reference") -> None:
        load_parser()
        self._rule: Rule = rule

    def score(self, text: str, annotation: Annotation) -> Verdict:
        return verdict_by(
            self._rule,
            reference=self._correct(text, annotation, "reference"),
            careful=self._correct(text, annotation, "careful"),
            extracted=mathvision_extract(text) or None,
            read_by=f"mathvision_{self._rule}",
        )

    def _correct(self, text: str, annotation: Annotation, rule: Rule) -> float:
        options = [str(option) for option in annotation.get("options") or ()]
        return float(any(mathvision_correct(text, answer, options, rule=rule) for answer in references(annotation)))


def _question(annotation: Annotation) -> MathVistaQuestion:
    choices = [str(choice) for choice in annotation.get("choices") or annotation.get("options") or ()]
    return MathVistaQuestion(
        question_type="multi_choice" if choices else "free_form",
        answer_type=annotation.get("answer_type", "text"),
        choices=choices,
        precision=annotation.get("precision"),
    )


def _option(answer: str, choices: Sequence[str]) -> str:
    """The text of the option that a letter names."""
    labels = option_labels(len(choices))
    return choices[labels.index(answer)] if answer in labels else answer


def _careful_reading(text: str, question: MathVistaQuestion) -> Extraction:
    if question.answer_type in ("integer", "float"):
        return extract_number(text)
    return _last_list(text) if question.answer_type == "list" else extract_short_answer(text)


def _last_list(text: str) -> Extraction:
    """The last Python list in a reply, or the items that are its whole answer, spelled as Python does."""
    answer = strip_thinking(text)
    for found in reversed(_LIST.findall(answer)):
        if (value := _spelled(found)) is not None:
            return Extraction(value=value, rule="last_list")
    value = _spelled(f"[{extract_short_answer(text).value}]")
    return _NO_ANSWER if value is None else Extraction(value=value, rule="listed_items")


def _spelled(text: str) -> str | None:
    try:
        items = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return str(items)


def _is_right(read: Extraction, answer: str, question: MathVistaQuestion, *, rule: Rule) -> float:
    return float(read.value is not None and mathvista_correct(read.value, answer, question, rule=rule))
