"""Whether two short texts say the same: equality after normalisation, numbers by value, blanks in order.

Nothing here is fuzzy: there is no edit distance and no substring search, so that "420" never passes for "42".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from flagmm.lazy_regex import lazy_compile

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT_RUN = lazy_compile(f"[{_SUPERSCRIPTS}]+")
_VULGAR_FRACTION = lazy_compile("(?<=[0-9])(?=[¼½¾⅐-⅞])")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_SIGNS = {ord("\u2212"): "-", ord("\u2044"): "/"}

# Signs such as - + % $ ° # change what an answer says, so they stay.
_OUTER = " \t\r\n\f\v.,;:!?\"'`*_~…。，、；：！？“”‘’«»「」『』《》〈〉"
_OUTER_BUT_POINT = _OUTER.replace(".", "")
_LEADING_POINT = lazy_compile(r"\.[0-9]")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "【": "】"}

_PLAIN_NUMBER = lazy_compile(
    r"([-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+|(?=\.[0-9]))(?:\.[0-9]*)?(?:e[-+]?[0-9]{1,4})?)( ?%)?"
)
_MEASURE = lazy_compile(r"([-+]?[0-9][0-9,.]*(?:e[-+]?[0-9]+)?) ?(?:°|[^\W\d_]{1,12}(?:/[^\W\d_]{1,6})?(?:\^?[23])?)")
_NO_UNIT = lazy_compile(
    r"[0-9 ](?:hundred|thousand|million|billion|trillion|dozen|percent|and|or|to|k|百|千|万|亿|和|或|到|至)s?$"
)

# How a blank after a Chinese statement is judged; the words of a line mean the same.
_TRUE_WORDS = frozenset(["√", "✓", "✔", "对", "正确"])
_FALSE_WORDS = frozenset(["×", "✗", "✘", "错", "错误", "不对", "不正确"])

_STATEMENT = lazy_compile(r"(?:\b(?:is|are|was|were|be|equals?|gives|becomes)\b|[=≈:]|(?<!不)[是为]|等于|得)\s*")
_SENTENCE_END = lazy_compile(r"[.!?](?=\s)|[。！？\n]")
_ARTICLE = lazy_compile(r"(?:the|an?|about|approximately|therefore|thus)\s+")
_BLANK_SEPARATOR = lazy_compile("[;；]")


def fold_width(text: str) -> str:
    """Return `text` in NFKC form, without invisible characters, and with powers kept apart from their base.

    Plain NFKC makes "5²" into "52" and "3½" into "31/2"; here they become "5^2" and "3 1/2".
    """
    if text.isascii():
        return text
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + unicodedata.normalize("NFKC", run[0]), text)
    text = _VULGAR_FRACTION.sub(" ", text)
    return unicodedata.normalize("NFKC", text).translate(_INVISIBLE).translate(_SIGNS)


def trim_outer(text: str) -> str:
    """Return `text` without the punctuation, quotes and brackets around it; a text of nothing else stays whole."""
    trimmed = _strip(text)
    while len(trimmed) > 2 and _is_bracketed(trimmed):
        trimmed = _strip(trimmed[1:-1])
    return trimmed or text.strip()


def _strip(text: str) -> str:
    trimmed = text.strip(_OUTER)
    return "." + trimmed if _LEADING_POINT.match(text.lstrip(_OUTER_BUT_POINT)) else trimmed


def _is_bracketed(text: str) -> bool:
    closing = _BRACKETS.get(text[0])
    if closing is None or text[-1] != closing:
        return False
    inner = text[1:-1]
    return text[0] not in inner and closing not in inner


def normalize_text(text: str) -> str:
    """Return `text` ready to be compared: width, case and white space folded, outer punctuation gone.

    Articles stay. A text that is punctuation only stays as it is, because it may be the answer.

    >>> normalize_text(' "The  Cat." ')
    'the cat'
    """
    return trim_outer(" ".join(fold_width(text).casefold().split()))


def text_equal(prediction: str, references: Sequence[str]) -> bool:
    """Say whether `prediction` equals any reference as text, or by value where both are plain numbers.

    A percentage equals a percentage only. An empty prediction equals only an empty reference.
    """
    if isinstance(references, str):
        references = (references,)
    given = normalize_text(prediction)
    return any(_normalized_equal(given, normalize_text(reference)) for reference in references)


def _normalized_equal(given: str, wanted: str) -> bool:
    if given == wanted:
        return True
    number = plain_number(given)
    return number is not None and number == plain_number(wanted)


def plain_number(text: str) -> tuple[Decimal, bool] | None:
    """Return the value of a normalised text and whether it is a percentage; None unless it is one number."""
    found = _PLAIN_NUMBER.fullmatch(text)
    if found is None:
        return None
    try:
        return Decimal(found[1].replace(",", "")), found[2] is not None
    except InvalidOperation:
        return None


def blanks_equal(prediction: str, reference: str | Sequence[str]) -> bool:
    """Say whether `prediction` fills the blanks as `reference` does.

    Args:
        prediction: the reply, thinking already removed; blanks apart by `;` or `；`.
        reference: one text whose blanks are apart by `;` or `；`, or the blanks as a list, in order.

    A blank is right when it equals its reference (see `text_equal`), when it ends by stating it
    ("The result is 42."), when the reference is a plain number and the blank is that number with a unit,
    or when both are signs or words for right, or for wrong.
    """
    if isinstance(reference, str):
        if text_equal(prediction, (reference,)):
            return True
        wanted = _BLANK_SEPARATOR.split(reference)
    else:
        wanted = list(reference)
    if len(wanted) == 1:
        return _blank_equal(prediction, wanted[0])
    given = _BLANK_SEPARATOR.split(prediction)
    return len(given) == len(wanted) > 0 and all(map(_blank_equal, given, wanted))


def _blank_equal(given: str, wanted: str) -> bool:
    goal = normalize_text(wanted)
    if not goal:
        return not normalize_text(given)
    return any(_says(normalize_text(form), goal) for form in (given, *_stated_forms(given)))


def _says(text: str, goal: str) -> bool:
    if _normalized_equal(text, goal):
        return True
    if text in _TRUE_WORDS and goal in _TRUE_WORDS:
        return True
    if text in _FALSE_WORDS and goal in _FALSE_WORDS:
        return True
    measure = _MEASURE.fullmatch(text)
    if measure is None or _NO_UNIT.search(text) or plain_number(goal) is None:
        return False
    return _normalized_equal(measure[1], goal)


def _stated_forms(text: str) -> list[str]:
    """Return what the last sentence of `text` states: the tail after each verb or sign that states something.

    All tails are wanted because the answer may hold such a sign itself ("the solution is x = 3").
    """
    folded = fold_width(text).strip()
    sentences = [piece for piece in _SENTENCE_END.split(folded) if piece.strip(_OUTER)]
    if not sentences:
        return []
    last = sentences[-1].casefold()[-300:]
    tails = [last, *(last[sign.end() :] for sign in _STATEMENT.finditer(last))]
    return [form for tail in tails for form in (tail, _ARTICLE.sub("", tail, count=1)) if form.strip()]
