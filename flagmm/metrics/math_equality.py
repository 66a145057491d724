"""Whether two answers to a maths question are the same: equal texts, tuples or values.

Reference: MATH-V a1f5cc3a, `evaluation/utils.py:is_equal`, which reads formulas with latex2sympy2 1.9.1. It compares
values rounded to two decimals, so that 0.333 is 1/3, and knows no variables, sets, percentages, degrees or mixed
numbers; `rule="careful"` does. Both rules read formulas through `latex_value`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from flagmm.metrics.flagevalmm_numbers import number_word_value
from flagmm.metrics.latex_value import formula_symbols, formula_value
from flagmm.metrics.text_match import fold_width, plain_number

Rule = Literal["reference", "careful"]

_ASSIGNMENT = re.compile(r"\s*[a-df-z](?:_\w|_\{\w+\})?\s*=(?!=)\s*")
_KEPT_ELEMENTS = ("a", "-a")

_TEXT = re.compile(r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}")
_MARKUP = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[()\[\],;:!]|\$|\*\*")
_DEGREES = re.compile(r"\^\s*\{?\s*\\circ\s*\}?|°|\\degree")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SEPARATOR = re.compile(r",|;|\band\b")
_UNORDERED = ("", "{")
_MAX_NESTING = 4
_MAX_ELEMENTS = 20
_MAX_LENGTH = 1000  # longer texts are only compared as texts

_EXACT_TOLERANCE = 1e-9
_ROUNDED_TOLERANCE = 2e-4  # a decimal may stand for a root or a fraction when it has about four digits
_SAMPLES = (0.7316, 1.3871, 2.1933, 3.4177, 0.2389)


class _Group(NamedTuple):
    bracket: str
    """Its opening bracket; "" where there is none."""
    elements: list[str]


def latex_equal(prediction: str, answer: str, *, rule: Rule = "reference") -> bool:
    """Say whether two answers are the same; an empty one equals nothing, not even another.

    >>> latex_equal("\\\\frac{1}{2}", "0.5"), latex_equal("x+1", "1+x"), latex_equal("x+1", "1+x", rule="careful")
    (True, False, True)

    Raises:
        MissingExtraError: both are formulas to be evaluated, and latex2sympy2-extended is not installed.
    """
    if rule == "careful":
        return _careful_equal(prediction, answer, 0)
    return _reference_equal(prediction.lower(), answer.lower())


def _reference_equal(prediction: str, answer: str) -> bool:
    if not prediction.replace(" ", "") or not answer.replace(" ", ""):
        return False
    if prediction.strip() == answer.strip():
        return True
    prediction, answer = _evaluated_tuple(prediction), _evaluated_tuple(answer)
    if prediction == answer:
        return True
    given = _assigned_value(prediction)
    wanted = None if given is None else _assigned_value(answer)
    return given is not None and wanted is not None and round(given, 2) == round(wanted, 2)


def _assigned_value(text: str) -> int | float | None:
    return formula_value(_ASSIGNMENT.sub("", text, count=1) if _ASSIGNMENT.match(text) else text)


def _evaluated_tuple(text: str) -> str:
    """A tuple or list with its elements' values to two decimals; as it is where it is none or one has no value."""
    elements = text[1:-1].split(",")
    if len(elements) < 2 or len(text) > _MAX_LENGTH or (text[0], text[-1]) not in (("(", ")"), ("[", "]")):
        return text
    shown = [_shown_element(element) for element in elements]
    return text if None in shown else f"{text[0]}{','.join(map(str, shown))}{text[-1]}"


def _shown_element(element: str) -> str | None:
    if "infty" in element or element in _KEPT_ELEMENTS:
        return element
    value = formula_value(element)
    return None if value is None else str(round(value, 2))


def _careful_equal(prediction: str, answer: str, nesting: int) -> bool:
    given, wanted = _clean(prediction), _clean(answer)
    if not given or not wanted:
        return False
    if given == wanted or max(len(given), len(wanted)) > _MAX_LENGTH:
        return given == wanted
    numbers = _number(given), _number(wanted)
    if None not in numbers:
        return numbers[0] == numbers[1]
    groups = _group(given), _group(wanted)
    if groups != (None, None):
        return nesting < _MAX_NESTING and _groups_equal(*groups, nesting)
    return _formulas_equal(given, wanted, exact=numbers == (None, None))


def _clean(text: str) -> str:
    text = _TEXT.sub(r"\1", fold_width(text).lower())
    text = _DEGREES.sub("", _MARKUP.sub("", text).replace("\\{", "{").replace("\\}", "}").replace("\\%", "%"))
    text = " ".join(text.split()).rstrip(".")
    assigned = _ASSIGNMENT.match(text)
    return text[assigned.end() :].strip() if assigned else text.strip()


def _number(text: str) -> Decimal | None:
    """The value of a plain number, a percentage, or English number words."""
    found = plain_number(text)
    if found is not None:
        return found[0] / 100 if found[1] else found[0]
    words = [word for word in text.replace("-", " ").split() if word != "and"]
    if not words or any(number_word_value(word) is None for word in words):
        return None
    value = number_word_value(text)
    return None if value is None else Decimal(value)


def _group(text: str) -> _Group | None:
    """A set, tuple or list of at least two elements."""
    bracket = text[0] if _BRACKETS.get(text[0]) == text[-1] and _is_one_group(text) else ""
    elements, depth, start = [], 0, 0
    inner = text[1:-1] if bracket else text
    for separator in re.finditer(rf"[({{\[]|[)}}\]]|{_SEPARATOR.pattern}", inner):
        if separator[0] in _BRACKETS:
            depth += 1
        elif separator[0] in _BRACKETS.values():
            depth -= 1
        elif depth == 0:
            elements.append(inner[start : separator.start()])
            start = separator.end()
    elements = [element.strip() for element in (*elements, inner[start:]) if element.strip()]
    return _Group(bracket, elements) if len(elements) > 1 else None


def _is_one_group(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += (character in _BRACKETS) - (character in _BRACKETS.values())
        if depth == 0:
            return place == len(text) - 1
    return False


def _groups_equal(given: _Group | None, wanted: _Group | None, nesting: int) -> bool:
    if given is None or wanted is None or not len(given.elements) == len(wanted.elements) <= _MAX_ELEMENTS:
        return False
    if given.bracket in _UNORDERED and wanted.bracket in _UNORDERED:
        return _same_elements(given.elements, wanted.elements, nesting)
    pairs = zip(given.elements, wanted.elements, strict=True)
    return given.bracket == wanted.bracket and all(_careful_equal(*pair, nesting + 1) for pair in pairs)


def _same_elements(given: list[str], wanted: list[str], nesting: int) -> bool:
    left = list(given)
    for element in wanted:
        match = next((other for other in left if _careful_equal(other, element, nesting + 1)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _formulas_equal(given: str, wanted: str, *, exact: bool) -> bool:
    """Say whether two formulas have the same value wherever both have one, tried at a few places.

    Args:
        exact: whether both are formulas; a decimal may be rounded.
    """
    letters = sorted(formula_symbols(given) | formula_symbols(wanted))
    places = range(len(_SAMPLES)) if letters else range(1)
    compared = 0
    for place in places:
        symbols = {letter: _sample(place, order) for order, letter in enumerate(letters)}
        one, other = _value(given, symbols), _value(wanted, symbols)
        if one is None and other is None:
            continue
        if one is None or other is None or not _near(one, other, exact or bool(letters)):
            return False
        compared += 1
    return compared >= min(2, len(places))


def _sample(place: int, order: int) -> float:
    return _SAMPLES[(place + order) % len(_SAMPLES)] + order


def _value(text: str, symbols: Mapping[str, float]) -> float | None:
    number = _number(text)
    return float(number) if number is not None else formula_value(text, notation="full", symbols=symbols)


def _near(given: float, wanted: float, exact: bool) -> bool:
    return math.isclose(given, wanted, rel_tol=_EXACT_TOLERANCE if exact else _ROUNDED_TOLERANCE, abs_tol=1e-12)
