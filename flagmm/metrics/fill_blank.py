"""Whether a reply fills a blank as it should.

Reference: FlagEvalMM fef27ec6, `evaluator/base_evaluator.py:evaluate_fill_blank_by_rule`, which takes spellings that
are 70 % alike for equal, so that "142" is right for "42" and "increase" for "decrease", while "42 cm" misses "42".
"""

from __future__ import annotations

import re
from typing import Literal

from flagmm.metrics.flagevalmm_text import fill_blank_match, normalize_string
from flagmm.metrics.latex_box import last_box
from flagmm.metrics.open_careful import whole_number_value
from flagmm.metrics.text_match import blanks_equal, normalize_text, text_equal
from flagmm.thinking import split_thinking

Rule = Literal["reference", "careful"]

_LONGEST = 2000
"""Characters that are read at the end of a line, beside twice the answer's, so that none equals it by being cut."""
_ASSIGNMENT = re.compile(r"^\s*[a-zA-Z]\s*=\s*")
_FILLERS = re.compile(r"[\s_{}$]")
_PLACE_RANKS = "国省州市县区镇"
_WORD = re.compile(r"[a-z]{3,}")
_LONG_WORD = re.compile(r"[a-z]{5,}")
_IN_A_YEAR = re.compile(
    r"(?:[在于约]\s?)?(?:公元|西元|[在于约]|a\.?d\.?\s)\s?(?=[0-9])|(?<=[0-9])\s(?:a\.?d\.?|c\.?e\.?)\Z", re.IGNORECASE
)
"""What may stand beside a year and leaves it the same, unlike 公元前 and BC."""
_SPELT_ALIKE = (("y", "i"), ("ph", "f"), ("s", "z"), ("our", "or"), ("ae", "e"), ("oe", "e"), ("ck", "k"))
_ENDINGS = (
    *(("", "s"), ("", "es"), ("y", "ies"), ("f", "ves"), ("fe", "ves")),
    *(("on", "a"), ("um", "a"), ("us", "i"), ("a", "ae"), ("is", "es"), ("ex", "ices"), ("ix", "ices")),
)
"""How English and Latin words end in the singular and in the plural."""


def fill_blank_correct(prediction: str, answer: str, *, rule: Rule = "careful", threshold: float = 0.7) -> bool:
    """Say whether a reply, or one of its lines, gives the answer; an empty reply does not.

    The careful rule wants the same text, the same number (a unit may follow a whole number's blank: see
    `text_match.blanks_equal`), the same word in singular or plural, or a sentence that ends by stating one of them.
    A misspelling that makes no other word ("photosynthesys"), a year with its era and a sign in words (大于 for ＞)
    are right, and words that FlagEvalMM takes for one, such as 变大 and 增大, are one here too. `threshold` is for
    the reference only.
    """
    if rule == "reference":
        return fill_blank_match(prediction, answer, threshold=threshold).correct
    text = split_thinking(prediction).answer
    lines = dict.fromkeys((text, *text.split("\n"), last_box(text) or ""))
    end = -_LONGEST - 2 * len(answer)  # what a longer line states at its end is still read
    forms = dict.fromkeys(form[end:] for line in lines for form in (line, normalize_string(line)) if form.strip())
    goals = {answer, normalize_string(answer), _ASSIGNMENT.sub("", answer)} - {""}
    return any(_fills(form, goal) for form in forms for goal in goals)


def _fills(form: str, goal: str) -> bool:
    form = _IN_A_YEAR.sub("", form.strip())
    if text_equal(form, (goal,)) or blanks_equal(form, goal):
        return True
    value = whole_number_value(goal)
    if value is not None:
        return whole_number_value(form) == value
    one, other = normalize_text(form), normalize_text(goal)
    if re.search(r"\d", other) and _FILLERS.sub("", one) == _FILLERS.sub("", other):
        return True
    return any(_is_variant(*pair) for pair in ((one, other), (other, one)))


def _is_variant(longer: str, shorter: str) -> bool:
    """Say whether one is the plural of the other, or the same place with its rank (北京市, 北京)."""
    if _WORD.fullmatch(longer) and _WORD.fullmatch(shorter):
        return _is_misspelt(longer, shorter) or any(
            shorter.endswith(end) and longer == shorter[: len(shorter) - len(end)] + new for end, new in _ENDINGS
        )
    return len(shorter) > 1 and not shorter.isascii() and longer[:-1] == shorter and longer[-1] in _PLACE_RANKS


def _is_misspelt(one: str, other: str) -> bool:
    """Say whether two long words differ by a slip of spelling, and not by a letter that makes another word.

    Slips are a letter doubled or not, two neighbours swapped, and letters that sound alike; "nitrate" and "nitrite" or
    "methane" and "methanol" are no slips.
    """
    if not _LONG_WORD.fullmatch(one) or not _LONG_WORD.fullmatch(other) or one[0] != other[0]:
        return False
    start = _shared_start(one, other)
    end = _shared_start(one[: start - 1 : -1], other[: start - 1 : -1])
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    if len(left) + len(right) == 1:
        return (left or right) == one[start - 1] or _spells_alike(one, other)
    if len(left) == len(right) == 2 and left == right[::-1]:
        return True
    return _spells_alike(one, other)


def _shared_start(one: str, other: str) -> int:
    """Return how many letters both begin with."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def _spells_alike(one: str, other: str) -> bool:
    for longer, shorter in _SPELT_ALIKE:
        one, other = one.replace(longer, shorter), other.replace(longer, shorter)
    return one == other
