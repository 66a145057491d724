"""Yes or no, in English and Chinese."""

from __future__ import annotations

import re

from flagmm.extraction.cues import find_cues, lower_same_length
from flagmm.extraction.reply import BOX_CLOSE, BOX_OPEN, NO_ANSWER, Extraction, plain_reply
from flagmm.lazy_regex import lazy_compile

_DRESS = r"""[\s"'“”‘’`*_\[\](){}<>「」【】《》~#:=.,;!|-]*"""
_YES_WORDS = "yes|yeah|yep|yup|true|correct|absolutely|certainly|indeed|definitely"
_NO_WORDS = (
    "not at all|not really|not correct|not true|absolutely not|definitely not|certainly not|of course not"
    "|no|nope|nah|false|incorrect"
)
_YES_CJK = "是的?|对的?|正确的?|有的?|存在|可以|能|会的?|[√✓✔☑]"
_NO_CJK = "不是的?|不对的?|不正确的?|没有|不存在|不可以|不能|不会的?|错误的?|错的?|否|无|不|[×✗✘✕☒]"
_WORD = (
    rf"(?:(?P<no>(?:{_NO_WORDS})(?![a-z]|'[a-z])|(?:{_NO_CJK})(?![\w]))"
    rf"|(?P<yes>(?:{_YES_WORDS})(?![a-z]|'[a-z])|(?:{_YES_CJK})(?![\w])))"
)
_SKIPPED = lazy_compile(_DRESS)
_LABEL = lazy_compile(r"[a-z]\s?[.):]")
_INTRODUCTION = lazy_compile(r"(?:it is|is|it's|the answer is)\b|判断")
_LEAD = lazy_compile(_WORD)
_LETTER = lazy_compile(rf"{_DRESS}(?:(?P<yes>y)|(?P<no>n)){_DRESS}")
_SAME_BREATH = lazy_compile(r"(?:\s|[\"'*_`)/,，|:+-])*(?:and|or|/|和|或|但)?\s*")
_NEXT_SENTENCE = lazy_compile(r"[\"'*_`)]*[.!?。！？]?\s*")
_OTHER = lazy_compile(r"(?:(?P<yes>yes|yeah|yep|yup)|(?P<no>no|nope|nah))(?![\w'])")
_TOKEN = lazy_compile(r"(?<![\w'-])(?:(?P<yes>yes|yeah|yep|yup)|(?P<no>no|nope|nah))(?![\w'-])")
# "no" before a noun tells what is absent; only with a mark or an end after it is it the answer.
_NO_IS_ANSWER = lazy_compile(r"""[\s"'*_`)]*(?:\Z|[.,;:!?\n。，；！])""")
_STATEMENT = lazy_compile(
    r"(?<![a-z])(?:statement|claim|sentence|description|assertion|hypothesis|proposition)\sis\s(?:therefore\s|thus\s)?"
    r"(?:(?P<yes>true|correct|right)|(?P<no>not (?:true|correct|right)|false|incorrect|wrong))(?![a-z])"
    r"|(?:说法|判断|命题|结论|陈述|描述|表述|题干|语句)(?:应该)?是?"
    r"(?:(?P<no_cjk>不正确|不对|错误|错|假)|(?P<yes_cjk>正确|对|真))的?(?!误)"
)
_ABSENCE = lazy_compile(
    r"(?<![a-z])there(?:'s| is| are| was| were) no(?! (?:doubt|question|problem|way|need|reason))(?![a-z])"
)
_NOTHING_SAID = lazy_compile(
    r"\b(?:can(?:not|'t| not)|unable|impossible)\b.{0,20}\b(?:see|tell|determine|say|answer)\b|sorry|无法|抱歉"
)


def extract_yes_no(text: str) -> Extraction:
    """Read "yes" or "no".

    The last "the answer is …" wins, then the word the reply begins with, then its last line, then a "yes" or "no"
    anywhere, if all of them agree. A reply that says both in one breath ("yes and no") says neither.
    """
    plain = plain_reply(text)
    low = lower_same_length(plain)
    for rule, read in (
        ("stated_answer", _stated),
        ("leading_word", _leading),
        ("last_line", _last_line),
        ("statement", _statement),
        ("mentioned_word", _mentioned),
        ("absence", _absence),
    ):
        value = read(low)
        if value == "both":
            return NO_ANSWER
        if value is not None:
            return Extraction(value=value, rule=rule)
    return NO_ANSWER


def _stated(low: str) -> str | None:
    for cue in reversed(find_cues(low, low)):
        if cue.rule != "chosen" and not cue.strict:
            value = _word_at(low, cue.end, whole_box=cue.rule == "boxed")
            if value is not None:
                return value
    return None


def _leading(low: str) -> str | None:
    letter = _LETTER.fullmatch(low)
    if letter:
        return "yes" if letter["yes"] else "no"
    return _word_at(low, 0)


def _last_line(low: str) -> str | None:
    line = low.rstrip().rpartition("\n")[2]
    found = _lead(line, 0)
    if found is None or line[found.end() :].strip(" \t.!*_`'\")]}。！" + BOX_CLOSE):
        return None
    return "yes" if found["yes"] else "no"


def _word_at(low: str, position: int, *, whole_box: bool = False) -> str | None:
    """Return "yes", "no", or "both" if the opposite follows in the same breath; None if there is neither."""
    found = _lead(low, position)
    if found is None:
        return None
    if whole_box and low[found.end() : found.end() + 1] not in (BOX_CLOSE, "", ".", "\n"):
        return None
    value = "yes" if found["yes"] else "no"
    breath = _SAME_BREATH.match(low, found.end())
    other = _OTHER.match(low, breath.end()) if breath else None
    if other is None:
        other = _OTHER.match(low, _NEXT_SENTENCE.match(low, found.end()).end())  # type: ignore[union-attr]
        other = other if other and _NO_IS_ANSWER.match(low, other.end()) else None
    if other and other["no" if value == "yes" else "yes"]:
        return "both"
    return value


def _lead(low: str, position: int) -> re.Match[str] | None:
    """Match "yes" or "no" after marks, a label ("A. Yes") and "it is", all of which may be absent."""
    for skipped in (_SKIPPED, _LABEL, _SKIPPED, _INTRODUCTION, _SKIPPED):
        found = skipped.match(low, position)
        position = found.end() if found else position
    return _LEAD.match(low, position)


def _statement(low: str) -> str | None:
    said = {"yes" if found["yes"] or found["yes_cjk"] else "no" for found in _STATEMENT.finditer(low)}
    return _agreed(said)


def _mentioned(low: str) -> str | None:
    said = {
        "yes" if found["yes"] else "no"
        for found in _TOKEN.finditer(low.replace(BOX_OPEN, " "))
        if found["yes"] or _NO_IS_ANSWER.match(low, found.end())
    }
    return _agreed(said)


def _absence(low: str) -> str | None:
    return "no" if _ABSENCE.search(low) and not _NOTHING_SAID.search(low) else None


def _agreed(said: set[str]) -> str | None:
    if len(said) > 1:
        return "both"
    return said.pop() if said else None
