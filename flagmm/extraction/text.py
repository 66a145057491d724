"""The short answer of a reply: what it states, without the words around it."""

from __future__ import annotations

import re

from flagmm.extraction.cues import Cue, find_cues, line_after, lower_same_length
from flagmm.extraction.reply import BOX_CLOSE, BOX_OPEN, NO_ANSWER, Extraction, marked_reply
from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.text_match import trim_outer

_LEADING_DRESS = " \t*_`#:：="
_QUOTATION = lazy_compile(r"(?:>[ \t]*)+(?![> \t0-9])")  # ">42" is a bound
_STOP = lazy_compile(r"[.!?](?=\s+\S)|[。！？]")
_LATEX_WRAPPER = lazy_compile(r"\\(?:text|textbf|mathrm|mathbf)\s?\{([^{}]*)\}")
_QUOTES = ("'", '"')
_QUOTED = lazy_compile(r"""(["'])((?:(?!\1).){1,400})\1""")
_PLACEHOLDER = lazy_compile(
    r"""[\[<({"']+\s?(?:your\b[^\]>)}]{0,40}|(?:final\s)?answer|letter|option|number)\s?[\]>)}"']+\.?""", re.IGNORECASE
)


def extract_short_answer(text: str) -> Extraction:
    """Read what the reply states last ("The answer is Paris." gives "Paris"), else take the whole reply.

    A stated answer ends with its line, after "is" with its sentence. The words keep their spelling.
    """
    marked = marked_reply(text)
    for cue in reversed(find_cues(marked, lower_same_length(marked))):
        if cue.rule == "chosen" or cue.strict:
            continue
        answer = _boxed(marked, cue) if cue.rule == "boxed" else _stated(marked, cue)
        if answer and not _PLACEHOLDER.fullmatch(answer):
            return Extraction(value=answer, rule=cue.rule)
    whole = _undress(marked)
    return Extraction(value=whole, rule="whole_text") if whole else NO_ANSWER


def _boxed(marked: str, cue: Cue) -> str:
    end = marked.find(BOX_CLOSE, cue.end)
    return _undress(marked[cue.end : end] if end >= 0 else line_after(marked, cue.end))


def _stated(marked: str, cue: Cue) -> str:
    line = line_after(marked, cue.end)
    if marked[cue.start - 1 : cue.start] in _QUOTES and (quoted := _QUOTED.match(line)):  # a JSON member
        return _undress(quoted[2])
    if marked[cue.end - 1] not in ":：=":
        line = _first_sentence(line)
    return _undress(line)


def _first_sentence(line: str) -> str:
    for stop in _STOP.finditer(line):
        word = line[: stop.start()].rpartition(" ")[2]
        if len(word) > 2 or word[-1:].isdigit() or stop[0] in "。！？":  # else an abbreviation such as "St."
            return line[: stop.start()]
    return line


def _undress(text: str) -> str:
    """Take off emphasis, quotes, maths delimiters and outer punctuation; nothing else is changed."""
    text = text.replace(BOX_OPEN, "").replace(BOX_CLOSE, "").replace("**", "").strip().lstrip(_LEADING_DRESS)
    text = _QUOTATION.sub("", text, count=1) if text.startswith(">") else text
    if not text:
        return ""
    trimmed = trim_outer(text)
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)")):
        if len(trimmed) > 2 * len(opening) and trimmed.startswith(opening) and trimmed.endswith(closing):
            trimmed = trim_outer(trimmed[len(opening) : -len(closing)])
    wrapper = _LATEX_WRAPPER.fullmatch(trimmed)
    return trim_outer(wrapper[1]) if wrapper and wrapper[1].strip() else trimmed
