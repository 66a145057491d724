"""How FlagEvalMM reads and compares numbers; task folders import these rules for their own scoring.

Reference: FlagEvalMM fef27ec6, `evaluator/common_types.py` and `evaluator/open_evaluator.py`; the mean relative
accuracy is that of VSI-Bench (Yang et al., 2024).
"""

from __future__ import annotations

import re
from typing import Any

from flagmm.metrics.flagevalmm_text import normalize_string

_UNSIGNED = re.compile(r"\d+(?:\.\d+)?")
_DIGIT_GROUPS = re.compile(r"(?<!\d)\d{1,3}(?:[,\s]\d{3})+(?:\.\d+)?(?!\d)")
_SIGNED = re.compile(
    r"([-+]?\d+(?:\.\d+)?)"
    r"(?:[eE]([-+]?\d+)|\s*(?:x|×|\\times)\s*10\s*\^\s*\{?\s*([-+]?\d+)\s*\}?)?"  # 1.5e3, 1.5 x 10^{3}
)
_MAX_DIGITS = 300  # Python refuses to make an int of thousands of digits; no answer needs so many

_LARGEST = 10**_MAX_DIGITS

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_ONES.split())}
_SMALL |= {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


def extract_numbers(text: str) -> list[float]:
    """Return all numbers of `text` in order; a sign belongs to the digit that it touches.

    Groups of three digits joined by one comma or one blank of any kind are one number. A leading point is not read.

    >>> extract_numbers("1,234 and 3-4, .5, 2 x 10^3")
    [1234.0, 3.0, -4.0, 5.0, 2000.0]
    """
    merged = _DIGIT_GROUPS.sub(lambda groups: re.sub(r"[,\s]", "", groups[0]), text)
    return [float(f"{found[1]}e{found[2] or found[3] or 0}") for found in _SIGNED.finditer(merged)]


def first_number_or_word(text: str) -> str:
    """Return the first number of `text`, without sign, exponent and thousands; else its first word.

    >>> first_number_or_word("about 3.2m"), first_number_or_word("Five. Chairs")
    ('3.2', 'Five')
    """
    number = _UNSIGNED.search(text)
    return number[0] if number else text.split(" ")[0].rstrip(".").strip()


def number_word_value(text: str) -> int | None:
    """Return the value of the English number words in `text`, hyphens and case ignored; None where it holds none.

    Words that come to 1e300 or more, as "hundred" said over and over does, are no number.

    >>> number_word_value("twenty-one"), number_word_value("some")
    (21, None)
    """
    words = [word for word in re.split(r"[\s-]+", text.lower()) if word in _SMALL or word in _LARGE]
    total = part = 0
    for word in words:
        if word in _SMALL:
            part += _SMALL[word]
        elif word == "hundred":
            part = _LARGE[word] * (part or 1)
        else:
            total, part = total + _LARGE[word] * (part or 1), 0
        if part >= _LARGEST:
            return None
    return total + part if words else None


def read_quantity(text: str) -> str | int:
    """Return the first number of the normalised text: int for digits or a number word, else as it is written.

    A text without a number gives its first word, which `to_float` then takes for no number.
    """
    found = first_number_or_word(normalize_string(text))
    if found.isdecimal() and len(found) <= _MAX_DIGITS:
        return int(found)
    value = number_word_value(found)
    return found if value is None else value


def to_float(value: Any) -> float | None:
    """Return `value` as a float, or None where it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def relative_error(prediction: float, target: float) -> float:
    """Return the distance as a share of the target's size; of the target 0, the distance itself."""
    return abs(prediction - target) / (abs(target) or 1)


def mean_relative_accuracy(
    pred: float | None, target: float | None, start: float = 0.5, end: float = 0.95, interval: float = 0.05
) -> float:
    """Return the share of confidence levels from `start` to `end` that the prediction passes.

    It passes level c when its relative error is at most 1 - c. A missing number passes none. The levels are spaced
    evenly and their count is cut to a whole number, so that their float values are the reference's.

    >>> mean_relative_accuracy(4.5, 5)
    0.9
    """
    if pred is None or target is None:
        return 0.0
    levels = _levels(start, end, int((end - start) / interval + 2))
    error = relative_error(pred, target)
    return sum(error <= 1 - level for level in levels) / len(levels)


def _levels(start: float, end: float, count: int) -> list[float]:
    if count < 2:
        return [start]
    step = (end - start) / (count - 1)
    return [start + number * step for number in range(count - 1)] + [end]
