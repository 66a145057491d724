"""The number that a reply states last."""

from __future__ import annotations

import re

from flagmm.extraction.cues import find_cues, line_after, lower_same_length
from flagmm.extraction.reply import BOX_CLOSE, BOX_OPEN, NO_ANSWER, Extraction, plain_reply
from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.text_match import is_bound, join_digits

_DECIMAL = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
_SIGN = r"(?:(?<![\w.)\]}])[-+])?"
_NUMBER = lazy_compile(
    rf"(?<![A-Za-z_0-9^])(?<![0-9][.:])(?<![0-9]\.[0-9])(?:"
    rf"(?P<latex>{_SIGN}(?:[0-9]+\s?)?\\[dt]?frac\s?\{{\s?-?(?:{_DECIMAL})\s?\}}\s?\{{\s?(?:{_DECIMAL})\s?\}})"
    rf"|(?P<mixed>{_SIGN}[0-9]+ [0-9]+/[0-9]+)"
    rf"|(?P<value>{_SIGN}(?:{_DECIMAL}))(?P<exponent>e[-+]?[0-9]+"
    r"|\s?(?:×|\\times|\\cdot|x|\*)\s?10\s?(?:\^|\*\*)\s?\{?\s?(?P<power>[-+]?[0-9]+)\s?\}?)?"
    rf"(?P<over>\s?/\s?(?:{_DECIMAL})(?![0-9/]))?"
    r")(?![0-9])(?!\.[0-9])(?!:[0-9])(?!\s?\^)(?!(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_SPACED_THOUSANDS = lazy_compile(r"(?<=[0-9])(?:\{,\}|\\,)(?=[0-9]{3}(?![0-9]))")
_LIST_NUMBER = lazy_compile(r"^[ \t]*[0-9]{1,3}[.)][ \t]+(?=\S)", re.MULTILINE)
_REASON = lazy_compile(r"\b(?:because|since|as|given that|for|which|where)\b|因为|由于", re.IGNORECASE)
_EQUALS = lazy_compile(r"[=≈≃]|\\approx|\b(?:is|are|equals|makes|gives|becomes)\b|等于|[是为得]", re.IGNORECASE)
_OTHERWISE = lazy_compile(r"\W*(?:or|to|and|from|或|到|至|和|、|,|~|-|–|—)\W*", re.IGNORECASE)
_NOT_BEFORE = lazy_compile(r"(?:\bnot|\bthan|n't|不是)\s*$", re.IGNORECASE)
_SENTENCE = lazy_compile(r"[.!?](?=\s|$)|[。！？\n]")

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: value for value, word in enumerate(_ENGLISH.split())}
_NUMBER_WORDS |= {word: value for value, word in enumerate("零一二三四五六七八九十")}
_NUMBER_WORDS["两"] = 2
_MAX_DIGITS = 300


def extract_number(text: str) -> Extraction:
    """Read the number that the reply states last, as int or, with a decimal point or fraction, float.

    Looked for in the last `\\boxed{…}` or stated answer that holds one, else in the last sentence that does.
    "50%" is 50, "1,000" is 1000, "3/4" is 0.75. A range, a choice of two ("3 or 4") and a bound
    (">42", "at least 42") are no answer.
    """
    plain = _LIST_NUMBER.sub("", join_digits(_SPACED_THOUSANDS.sub("", plain_reply(text))))
    for cue in reversed(find_cues(plain, lower_same_length(plain))):
        if cue.rule == "chosen" or cue.strict:
            continue
        segment = _clause(line_after(plain, cue.end))
        value = _segment_number(segment)
        if value is not None:
            return Extraction(value=value, rule=cue.rule)
        if _NUMBER.search(segment):
            return NO_ANSWER
    return _last_sentence_number(plain.replace(BOX_OPEN, " ").replace(BOX_CLOSE, " "))


def _last_sentence_number(plain: str) -> Extraction:
    for sentence in reversed(_SENTENCE.split(plain)):
        segment = _clause(sentence)
        value = _segment_number(segment)
        if value is not None:
            return Extraction(value=value, rule="last_number")
        if _NUMBER.search(segment):
            return NO_ANSWER
    return NO_ANSWER


def _clause(line: str) -> str:
    """Return the sentence at the start of `line`, without the reason that it gives after a number."""
    end = _SENTENCE.search(line)
    sentence = line[: end.start()] if end else line
    reason = _REASON.search(sentence)
    if reason and _NUMBER.search(sentence, 0, reason.start()):
        return sentence[: reason.start()]
    return sentence


def _segment_number(segment: str) -> int | float | None:
    found = [
        number
        for number in _NUMBER.finditer(segment)
        if not _NOT_BEFORE.search(segment, max(0, number.start() - 12), number.start())
        and not is_bound(segment, number.start(), number.end())
    ]
    if not found:
        return _NUMBER_WORDS.get(segment.strip(" \t\n.,!。*").casefold())
    result = [sign for sign in _EQUALS.finditer(segment) if sign.end() <= found[-1].start()]
    if result:
        found = [number for number in found if number.start() >= result[-1].end()]
    if len(found) > 1 and _OTHERWISE.fullmatch(segment, found[-2].end(), found[-1].start()):
        return None
    starts = not segment[: found[0].start()].strip(" \t$€£¥(*≈~")
    return _value(found[0] if starts or result else found[-1])


def _value(found: re.Match[str]) -> int | float | None:
    if len(found[0]) > _MAX_DIGITS:
        return None
    try:
        if found["latex"]:
            return _latex_value(found["latex"])
        if found["mixed"]:
            return _mixed_value(found["mixed"])
        return _plain_value(found)
    except (ZeroDivisionError, OverflowError):
        return None


def _plain_value(found: re.Match[str]) -> int | float | None:
    digits = found["value"].replace(",", "")
    exponent = found["power"] or (found["exponent"] or "")[1:]
    if exponent:
        value = float(f"{digits}e{int(exponent)}")
    elif found["over"]:
        value = float(digits) / float(found["over"].strip(" /").replace(",", ""))
    else:
        return float(digits) if "." in digits else int(digits)
    return value if abs(value) != float("inf") else None


def _latex_value(latex: str) -> float:
    whole, _, rest = latex.partition("\\")
    top, bottom = (float(part.strip(" {}").replace(",", "")) for part in rest[rest.index("{") :].split("}", 1))
    negative = whole.startswith("-")
    value = float(whole.strip("-+ ") or 0) + top / bottom
    return -value if negative else value


def _mixed_value(mixed: str) -> float:
    whole, fraction = mixed.split(" ")
    top, bottom = fraction.split("/")
    part = int(top) / int(bottom)
    return int(whole) - part if whole.startswith("-") else int(whole) + part
