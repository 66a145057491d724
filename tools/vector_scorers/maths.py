"""Maths benchmarks: MathVista, MATH-Vision, and whether two formulas are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flagmm.metrics.math_equality import Rule, latex_equal
from flagmm.metrics.mathvision import MathVisionSample, mathvision_correct, mathvision_extract, mathvision_report
from flagmm.metrics.mathvista import (
    MathVistaQuestion,
    mathvista_correct,
    mathvista_extract,
    mathvista_normalize,
    mathvista_report,
)

Input = Mapping[str, Any]


def _math_equal(line: Input, rule: Rule = "reference") -> dict[str, bool]:
    return {"equal": latex_equal(line["prediction"], line["answer"], rule=rule)}


def _mathvista(line: Input, rule: Rule = "reference") -> dict[str, Any]:
    question = MathVistaQuestion(
        question_type=line["question_type"],
        answer_type=line["answer_type"],
        choices=line["choices"] or (),
        precision=line["precision"],
    )
    if "extraction" in line:
        return _mathvista_scored(line["extraction"], line["answer"], question, rule)
    plain, quick = (mathvista_extract(line["response"], question, quick=quick) for quick in (False, True))
    read = {
        name: {"extraction": extraction, "needs_llm": extraction is None}
        for name, extraction in (("plain", plain), ("quick", quick))
    }
    return {"extract": read} | ({} if quick is None else _mathvista_scored(quick, line["answer"], question, rule))


def _mathvista_scored(extraction: Any, answer: str, question: MathVistaQuestion, rule: Rule) -> dict[str, Any]:
    return {
        "normalised": mathvista_normalize(extraction, question),
        "correct": mathvista_correct(extraction, answer, question, rule=rule),
    }


def _mathvision(line: Input, rule: Rule = "reference") -> dict[str, Any]:
    return {
        "model_answer": mathvision_extract(line["response"]),
        "correct": mathvision_correct(line["response"], line["answer"], line["options"], rule=rule),
    }


def _math_aggregate(line: Input) -> Any:
    if "rows" in line:
        return mathvista_report(line["rows"])
    return mathvision_report(
        MathVisionSample(sample["subject"], sample["level"], sample["correct"]) for sample in line["samples"]
    )


SCORERS: dict[str, Callable[[Input], Any]] = {
    "math_equal": _math_equal,
    "math_equal@careful": lambda line: _math_equal(line, "careful"),
    "math_aggregate": _math_aggregate,
    "mathvision_end_to_end": _mathvision,
    "mathvision_end_to_end@careful": lambda line: _mathvision(line, "careful"),
    "mathvista": _mathvista,
    "mathvista@careful": lambda line: _mathvista(line, "careful"),
}
