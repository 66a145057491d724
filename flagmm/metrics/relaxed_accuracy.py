"""Relaxed accuracy of ChartQA: numbers may be off by 5 %, texts must be equal.

References: VLMEvalKit e8e78f05, `dataset/utils/vqa_eval.py:relaxed_correctness` (variant "vlmevalkit"), and EvalScope
1.14.1, `benchmarks/chartqa/utils.py:relaxed_correctness` (variant "evalscope"). They differ where the target is zero,
and EvalScope does not strip the prediction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from flagmm.metrics.open_careful import open_statement
from flagmm.metrics.text_match import normalize_text, plain_number
from flagmm.thinking import split_thinking

Variant = Literal["vlmevalkit", "evalscope"]
Rule = Literal["reference", "careful"]

_FORMULA = re.compile(r"\$([^$]*)\$")
_CURRENCY_BEFORE = re.compile(r"([-+]?) ?([$€£¥₹]) ?([-+.0-9].*)")
_CURRENCY_AFTER = re.compile(r"(.*[0-9%]) ?([$€£¥₹])")


def relaxed_correct(
    prediction: str,
    target: str,
    *,
    max_relative_change: float = 0.05,
    variant: Variant = "vlmevalkit",
    rule: Rule = "reference",
) -> bool:
    """Say whether `prediction` is near enough to `target`; two empty texts are equal.

    Numbers are what Python's `float` reads, with a `%` that divides by 100; `inf` and `nan` are near nothing.

    Args:
        max_relative_change: the largest |prediction - target| / |target| that is right, itself included.
        variant: "vlmevalkit" compares texts where the target is zero ("0.0" misses "0"), "evalscope" values.
        rule: "careful" also reads the stated answer out of a reply (the last box, else what follows the last
            "answer"), thousands commas, outer punctuation ("Yes."), a sign of currency on one side ("$50"), a zero
            target by value, and a `%` on one side only as either a share or a mere unit ("50%" is 50 and 0.5).
    """
    if _reference_correct(prediction, target, max_relative_change, variant):
        return True
    if rule != "careful":
        return False
    readings = dict.fromkeys((split_thinking(prediction).answer, open_statement(prediction)))
    return any(_careful_correct(reading, target, max_relative_change) for reading in readings)


def relaxed_accuracy(
    prediction: str,
    targets: str | Sequence[str],
    *,
    max_relative_change: float = 0.05,
    variant: Variant = "vlmevalkit",
    rule: Rule = "reference",
) -> float:
    """Return 1.0 if `prediction` is right by any target, else 0.0; no targets score 0. See `relaxed_correct`."""
    if isinstance(targets, str):
        targets = (targets,)
    return float(
        any(
            relaxed_correct(prediction, target, max_relative_change=max_relative_change, variant=variant, rule=rule)
            for target in targets
        )
    )


def _reference_correct(prediction: str, target: str, limit: float, variant: Variant) -> bool:
    if variant == "vlmevalkit":
        prediction = prediction.strip()
    given, wanted = _float(prediction), _float(target)
    if given is not None and wanted == 0 and variant == "evalscope":
        return given == 0
    if given is not None and wanted:
        return abs(given - wanted) / abs(wanted) <= limit
    return prediction.lower() == target.lower()


def _float(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _careful_correct(prediction: str, target: str, limit: float) -> bool:
    given, wanted = normalize_text(prediction), normalize_text(target)
    if given == wanted:
        return True
    (given, given_currency), (wanted, wanted_currency) = _without_currency(given), _without_currency(wanted)
    given_number, wanted_number = plain_number(given), plain_number(wanted)
    if given_number is None or wanted_number is None:
        return False
    if given_currency and wanted_currency and given_currency != wanted_currency:
        return False
    (value, given_percent), (goal, wanted_percent) = given_number, wanted_number
    share = Decimal(1) / 100
    pairs = [(value, goal)]
    if given_percent != wanted_percent:
        pairs.append((value * share, goal) if given_percent else (value, goal * share))
    return any(_near(*pair, Decimal(str(limit))) for pair in pairs)


def _without_currency(text: str) -> tuple[str, str]:
    """A number without the sign of its currency, and that sign; dollars around a number are LaTeX's."""
    text = text.replace("\\$", "$")
    if formula := _FORMULA.fullmatch(text):
        text = formula[1].strip()
    if found := _CURRENCY_BEFORE.fullmatch(text):
        return found[1] + found[3], found[2]
    if found := _CURRENCY_AFTER.fullmatch(text):
        return found[1], found[2]
    return text, ""


def _near(value: Decimal, goal: Decimal, limit: Decimal) -> bool:
    return abs(value - goal) <= limit * abs(goal)
