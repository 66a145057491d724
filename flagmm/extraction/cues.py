"""Where a reply announces its answer: "the answer is", "答案：", `\\boxed{`, "I choose", …

A cue says only that an answer should follow; the caller reads what does. All cues are found in one pass per family
over a lower-case copy of the reply, and a family is tried only if one of its key words occurs.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from flagmm.extraction.reply import BOX_CLOSE, BOX_OPEN
from flagmm.lazy_regex import KeyedPattern, finditer_at, has_any, lazy_compile
from flagmm.metrics.text_match import announced_line


class Cue(NamedTuple):
    """One announcement of an answer."""

    start: int
    end: int
    """Where the answer should begin."""
    rule: str
    """"stated_answer", "boxed" or "chosen"."""
    strict: bool
    """Whether the words are too common to trust a lower-case letter after them."""


# A reply that announces more answers, or a longer one, is stuck in a loop; reading it all would take too long.
_MOST_CUES = 64
_LONGEST_LINE = 2000

_DRESS = r"""["'”’`*_)\]}]{0,6}"""
_ANSWER_WORDS = "answers?|ans|antwort|respuesta|resposta|risposta|réponse|reponse|ответ|jawaban|cevap|đáp án"
_ADJECTIVES_AFTER = r"(?:\s(?:correcta|correta|corretta|correcte|đúng|yang benar))?"
_ASIDE = r"(?P<aside>\s(?:to|for|of|here|choice|option|letter|that|which|we|i)\b[^.\n:;!?=]{0,80}?)?"
_LINKS = (
    r"(?:is|are|should be|must be|will be|would be|has to be|ist|lautet|est|es|è|é|adalah|là"
    r"|=>|=|:|：|->|→|⇒|—|-)(?![a-z])"
)
_ANSWER = lazy_compile(
    rf"(?<![a-z])(?P<word>{_ANSWER_WORDS})(?![a-z]){_ADJECTIVES_AFTER}(?:(?<=ans)\.)?{_DRESS}{_ASIDE}{_DRESS}\s{{0,9}}"
    rf"(?:(?P<link>{_LINKS}|(?<=['’])s(?=\s))|(?(aside)(?!)|(?:(?<=\n)|(?P<bare>(?<=\s)|(?=\()))))"
)
_CHOICE = lazy_compile(
    r"(?<![a-z])(?:correct|right|best|appropriate|suitable|my|final|chosen|likely|accurate|only)\s"
    r"(?:(?:answer|final|best)\s)?(?:option|choice|selection|pick|letter|alternative|statement|response|conclusion|guess)s?"
    rf"{_DRESS}\s{{0,9}}(?:(?:is|are|should be|must be|will be|would be)(?![a-z])|[:：=])"
)
_CHOICE_NOUNS = ("option", "choice", "selection", "pick", "letter")
# Also said of what there is to choose from, so that only a label beyond doubt counts after it.
_THE_CHOICE = lazy_compile(
    rf"(?:{'|'.join(rf'{noun}(?<=the.{noun})' for noun in _CHOICE_NOUNS)}){_DRESS}\s{{0,9}}"
    r"(?:is|should be|must be|will be|would be)(?![a-z])"
)
_KEYED = lazy_compile(r"""["'](?:choice|option|label|prediction|selected_option|selection)["']\s{0,9}:""")
_VERB = lazy_compile(
    r"(?<![a-z])(?:choos(?:e|ing)|chose|pick(?:ed)?|select(?:ed)?|go(?:ing)? (?:with|for)|went with"
    r"|opt(?:ed|ing)? for|settled? on|vote for|say|answer)(?![a-z])"
)
_SUBJECT = lazy_compile(
    r"(?:(?:^|[.,;:!\n])\s{0,9}|(?<![a-z])(?:i|we|i'd|i'll|we'll|i've|i have|would|will|let's|so|therefore|thus"
    r"|hence|then|should|must|to|and)\s(?:\w+ly\s|just\s|also\s)?)$"
)
_SUBJECT_ENDS = (
    *("i", "we", "i'd", "i'll", "we'll", "i've", "i have", "would", "will", "let's", "so", "therefore", "thus"),
    *("hence", "then", "should", "must", "to", "and", "ly", "just", "also"),
)
_TO_INFINITIVE = lazy_compile(r"(?<![a-z])(?:going|want|like|have|need|able|decided) to\s$")

_CJK = lazy_compile(
    r"(?:(?<!不)正确的?(?:答案|选项|选择|结果)|最佳(?:答案|选项)|答案|正解|解答|回答|答え|정답|답)"
    r"[\s\"'*_`)\]}】」』]{0,9}(?:应该是|应当是|应该为|应为|应是|应选|就是|选择|选|[是为即은는이가は])?[\s\"'*_`]{0,9}[:：=]?"
    r"|(?:(?<!不)正确的|选项|结论|答)\s{0,9}(?:应该是|应为|应是|就是|[是为:：])"
    r"|(?<![不别勿未没可筛误])选(?:择(?!题)|(?![项择题]))\s{0,9}(?:选项|答案)?\s{0,9}[是为:：]?"
)
_CJK_LINKS = "是为即:：=은는이가は选择"
_FALSE_START = KeyedPattern(
    r"\b(?:thought|initially|at first|assumed|suppose|whether|why|incorrect|wrong|possible)\b[^.!?\n]*$"
    r"|\b(?:look like|of the form|such as|example|format)\b[^.!?\n]{0,20}['\"“‘]\s*$"
    r"|(?:错误|不正确)[^。！？,，;；\n]{0,6}$",
    [
        *("thought", "initially", "at first", "assumed", "suppose", "whether", "why", "incorrect", "wrong", "possible"),
        *("look like", "of the form", "such as", "example", "format", "错误", "不正确"),
    ],
)
_NO = lazy_compile(r"\bno\s+$")
# What each match of an expression begins with.
_ANSWER_KEYS = ("ans", "antwort", "respuesta", "resposta", "risposta", "reponse", "jawaban", "cevap")
_ANSWER_KEYS_BEYOND_ASCII = ("réponse", "ответ", "đáp án")
_CHOICE_STARTS = (
    "correct",
    "right",
    "best",
    "appropriate",
    "suitable",
    "my",
    "final",
    "chosen",
    "likely",
    "accurate",
    "only",
)
_CHOICE_KEYS = (
    "option",
    "choice",
    "selection",
    "pick",
    "letter",
    "alternative",
    "statement",
    "response",
    "conclusion",
    "guess",
)
_VERB_KEYS = ("choos", "chose", "pick", "select", "go", "went", "opt", "settle", "vote", "say", "answer")
_BOX = lazy_compile(BOX_OPEN)
_CONDITION = lazy_compile(r"\b(?:if|were|had|unless)\b[^.!?\n]*$")


def _last(found: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    return deque(found, maxlen=4 * _MOST_CUES)


def lower_same_length(text: str) -> str:
    """Return `text` in lower case with every character at its old position."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def find_cues(text: str, low: str, begin: int = 0) -> list[Cue]:
    """Return the last cues of a reply in the order of their position.

    Args:
        text: the reply, from `plain_reply` or `marked_reply`.
        low: `lower_same_length(text)`.
        begin: where to begin to look.
    """
    cues: list[Cue] = []
    if BOX_OPEN in text:
        cues += [Cue(at.start(), at.end(), "boxed", False) for at in _last(_BOX.finditer(text, begin))]
    beyond_ascii = not text.isascii()
    cues += _answer_cues(low, _ANSWER_KEYS + _ANSWER_KEYS_BEYOND_ASCII if beyond_ascii else _ANSWER_KEYS, begin)
    cues += _choice_cues(low, begin)
    if beyond_ascii:
        cues += [_cjk_cue(at) for at in _last(_CJK.finditer(text, begin)) if _is_real(low, at)]
    cues.sort()
    return cues[-_MOST_CUES:]


def last_line_cues(text: str, low: str) -> list[Cue]:
    """Return the cues in the last of several lines; none where one may begin in the line before."""
    begin = low.rfind("\n") + 1
    before = low[max(0, begin - 24) : begin]
    if not before.isascii() or has_any(before, _ANSWER_KEYS) or has_any(before, _CHOICE_STARTS):
        return []
    return find_cues(text, low, begin) if begin else []


def _answer_cues(low: str, starts: tuple[str, ...], begin: int) -> list[Cue]:
    cues = []
    for at in _last(finditer_at(_ANSWER, low, starts, begin)):
        if not _is_real(low, at):
            continue
        if at["bare"] is not None:
            cues.append(Cue(at.start(), at.end(), "stated_answer", True))
        elif not (at["link"] == "would be" and _CONDITION.search(low, max(0, at.start() - 100), at.start())):
            cues.append(Cue(at.start(), at.end(), "stated_answer", False))
    return cues


def _choice_cues(low: str, begin: int) -> list[Cue]:
    cues: list[Cue] = []
    if has_any(low, _CHOICE_KEYS):
        found = _last(finditer_at(_CHOICE, low, _CHOICE_STARTS, begin))
        cues += [Cue(at.start(), at.end(), "stated_answer", False) for at in found if _is_real(low, at)]
        found = _last(finditer_at(_THE_CHOICE, low, _CHOICE_NOUNS, begin))
        cues += [Cue(at.start(), at.end(), "stated_answer", True) for at in found if _is_real(low, at)]
    if '"' in low or "'" in low:
        cues += [Cue(at.start(), at.end(), "stated_answer", False) for at in _last(_KEYED.finditer(low, begin))]
    for at in _last(finditer_at(_VERB, low, _VERB_KEYS, begin)):
        window = max(0, at.start() - 30)
        subject = _SUBJECT.search(low, window, at.start()) if _may_have_subject(low[window : at.start()]) else None
        if subject is None:
            continue
        if subject[0].startswith("to") and not _TO_INFINITIVE.search(low, window, at.start()):
            continue
        cues.append(Cue(at.start(), at.end(), "chosen", True))
    return cues


def _may_have_subject(before: str) -> bool:
    """Say whether it is worth to look for a subject at the end of `before`, for which an expression takes long."""
    kept = before.rstrip()
    if not kept or kept[-1] in ".,;:!" or "\n" in before[len(kept) :]:
        return True
    return len(kept) < len(before) and kept.endswith(_SUBJECT_ENDS)


def _cjk_cue(at: re.Match[str]) -> Cue:
    if at[0].startswith("选"):
        return Cue(at.start(), at.end(), "chosen", False)
    return Cue(at.start(), at.end(), "stated_answer", at[0].rstrip("\"'*_`)]} \t\n")[-1] not in _CJK_LINKS)


def _is_real(low: str, at: re.Match[str]) -> bool:
    """Say whether nothing before the cue in its sentence takes it back ("I first thought that the answer is")."""
    window = max(0, at.start() - 100)
    if low[window : at.start()].rstrip().endswith("no") and _NO.search(low, window, at.start()):
        return False
    return _FALSE_START.search(low, window, at.start()) is None


def line_after(text: str, position: int) -> str:
    """Return the line of the answer after a cue (see `announced_line`); a box ends it too."""
    return announced_line(text, position)[:_LONGEST_LINE].partition(BOX_CLOSE)[0].strip()
