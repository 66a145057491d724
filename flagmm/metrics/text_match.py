"""Whether two short texts say the same: equality after normalisation, numbers by value, blanks in order.

Nothing here is fuzzy: there is no edit distance and no substring search, so that "420" never passes for "42".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from flagmm.lazy_regex import lazy_compile

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT_RUN = lazy_compile(f"[{_SUPERSCRIPTS}]+")
_VULGAR_FRACTION = lazy_compile("(?<=[0-9])(?=[¼½¾⅐-⅞])")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_SIGNS = {ord("\u2212"): "-", ord("\u2044"): "/"}

_DASH_AS_SIGN = lazy_compile(r"[‐-–](?<![\w.,)\]}%°].)(?=\.?[0-9])")
_GROUPED_DIGITS = lazy_compile(
    r"(?<![\w.,'’])[0-9]{1,3}(?:([ '’])[0-9]{3}(?![\w'’]))(?:\1[0-9]{3}(?![\w'’]))*(?![.,][0-9]*\1)"
)
_BOUND_BEFORE = lazy_compile(
    r"(?:(?<![-=<>])[<>≤≥≦≧⩽⩾]=?|\\(?:leq?|geq?|lt|gt)(?:slant)?\b"
    r"|\b(?:at\s(?:least|most)|(?:more|less|fewer|greater|larger|smaller|bigger|higher|lower|longer|shorter)\sthan"
    r"|over|under|above|below|up\sto|exceed(?:s|ing)?|(?:minimum|maximum)\sof)\b(?:\sor\sequal\sto)?"
    r"|[不大小多少高低超]+[于過过]|[至最][少多]|不足|不到)\s{0,3}(?:about\s|approximately\s)?[$€£¥]?[-+]?\Z",
    re.IGNORECASE,
)
_BOUND_AFTER = lazy_compile(
    r"\s?\+(?!\s?[\w(])|\s?(?:[^\W\d_]{1,12}\s)?or\s(?:more|less|fewer|above|below|higher|lower|over|under|greater)\b"
    r"|\s?[^\W\d_]{0,2}以[上下内]",
    re.IGNORECASE,
)
_BOUND_REACH = 40
_NUMERAL = lazy_compile(r"[-+]?[$€£¥]?[0-9][0-9.,]*%?")
_NEGATIVE = lazy_compile(r"(?:\A|[\s(=:])-[$€£¥]?\Z")
_GROUP_BEFORE = lazy_compile(r"[0-9],\Z")
_GROUP_AFTER = lazy_compile(r",[0-9]{3}(?![0-9])")

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
    r"[0-9 ](?:hundred|thousand|million|billion|trillion|dozen|percent|and|or|to|k|bce?|百|千|万|亿|和|或|到|至)s?$"
)

# How a blank after a Chinese statement is judged; the words of a line mean the same.
_TRUE_WORDS = frozenset(["√", "✓", "✔", "对", "正确"])
_FALSE_WORDS = frozenset(["×", "✗", "✘", "错", "错误", "不对", "不正确"])

# Signs of comparison and their names.
_COMPARISONS = (
    {">", "大于", "greater than", "more than", "is greater than", "gt"},
    {"<", "小于", "less than", "is less than", "lt"},
    {"=", "等于", "equal to", "equals", "is equal to", "equal", "相等"},
    {"≥", ">=", "大于等于", "不小于", "大于或等于", "greater than or equal to", "at least"},
    {"≤", "<=", "小于等于", "不大于", "小于或等于", "less than or equal to", "at most"},
    {"≠", "!=", "不等于", "not equal to"},
)
_COMPARISON = {name: names for names in _COMPARISONS for name in names}

_STATEMENT = lazy_compile(r"(?:\b(?:is|are|was|were|be|equals?|gives|becomes)\b|[=≈:]|(?<!不)[是为]|等于|得)\s*")
_SENTENCE_END = lazy_compile(r"[.!?](?=\s)|[。！？\n]")
_ARTICLE = lazy_compile(r"(?:the|an?|about|approximately|therefore|thus)\s+")
_BETWEEN = lazy_compile(r"(?:[\s*_:：=]|```\w*[ \t]*\n|(?:\$\$|\\\[)[ \t]*\n|(?<=[\n`])(?:[-•>]|#{1,6})[ \t]+)*")
_BLANK_SEPARATOR = lazy_compile("[;；]")


def fold_width(text: str) -> str:
    """Return `text` in NFKC form, without invisible characters, and with powers kept apart from their base.

    Plain NFKC makes "5²" into "52" and "3½" into "31/2"; here they become "5^2" and "3 1/2".
    """
    if text.isascii():
        return text
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + unicodedata.normalize("NFKC", run[0]), text)
    text = _VULGAR_FRACTION.sub(" ", text)
    text = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).translate(_SIGNS)
    return _DASH_AS_SIGN.sub("-", text)


def join_digits(text: str) -> str:
    """Return `text` with digits that blanks or apostrophes group by three written together ("1 000", "1'000").

    Wide or narrow blanks are to be folded before (see `fold_width`).
    """
    if " " not in text and "'" not in text and "’" not in text:
        return text
    return _GROUPED_DIGITS.sub(lambda groups: groups[0].replace(groups[1], ""), text)


def is_bound(text: str, start: int, end: int) -> bool:
    """Say whether the number from `start` to `end` is only a bound of what is meant: ">42", "at least 42", "42+"."""
    if _BOUND_AFTER.match(text, end):
        return True
    return _BOUND_BEFORE.search(text, max(0, start - _BOUND_REACH), start) is not None


def is_other_number(text: str, start: int, end: int) -> bool:
    """Say whether the text says another number than the one from `start` to `end`.

    That is a bound (">42"), its negative, or a number of which it is a group of digits ("1,000").
    What is no number is none.
    """
    if not _NUMERAL.fullmatch(text, start, end):
        return False
    is_last_group = end - start == len("000") and _GROUP_BEFORE.search(text, max(0, start - 2), start)
    if is_last_group or _GROUP_AFTER.match(text, end) or _NEGATIVE.search(text, max(0, start - 3), start):
        return True
    return is_bound(text, start, end)


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
    found = _PLAIN_NUMBER.fullmatch(join_digits(text))
    if found is None:
        return None
    try:
        return Decimal(found[1].replace(",", "")), found[2] is not None
    except InvalidOperation:
        return None


def announced_line(text: str, position: int) -> str:
    """Return the line in which the answer stands that a cue announces which ends at `position`.

    It may begin on a later line, after emphasis, colons, the mark of a list item or quotation, or the fence of code.

    >>> announced_line("**Answer:**\\n\\nred kite\\nIt flies.", 9)
    'red kite'
    """
    start = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches ""
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)].strip()


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
    if goal in _COMPARISON and text in _COMPARISON[goal]:
        return True
    if text in _TRUE_WORDS and goal in _TRUE_WORDS:
        return True
    if text in _FALSE_WORDS and goal in _FALSE_WORDS:
        return True
    measure = _MEASURE.fullmatch(join_digits(text))
    if measure is None or is_bound(measure[0], *measure.span(1)) or _NO_UNIT.search(text) or plain_number(goal) is None:
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
