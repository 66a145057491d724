"""What a judge's reply says last: its last statements, or the JSON object that it ends in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.text_match import fold_width

JsonObject = Mapping[str, Any]

_MOST_LINES = 200
"""How far up from its end a JSON object may begin."""
_FENCE = lazy_compile(r"```\w*")
_OPENING = lazy_compile(r"\s*(?:```\w*\s*)?\{")
_EMPHASIS = lazy_compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)|^\s*(?:#+|>|[-•])\s+")
_SENTENCE_END = lazy_compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\betc\.)(?<=[.!?;])[\"')\]]*\s+|(?<=[。！？；])\s*"
)
_QUOTES = '"“”'


class Statement(NamedTuple):
    """One sentence, or a line without any."""

    text: str
    is_whole_line: bool


def last_statements(text: str) -> list[Statement]:
    """The last statement and the one before it, in plain text: the emphasis of Markdown is gone, and width folded.

    >>> last_statements("They differ. **Verdict**: No\\n```")[-1].text
    'Verdict: No'
    """
    found: list[Statement] = []
    for line in reversed(lines_of(text)):
        plain = _plain(line)
        pieces = [piece for piece in _SENTENCE_END.split(plain) if re.search(r"\w|[✓✔✅☑√✗✘❌×]", piece)]
        if any(sum(piece.count(quote) for quote in _QUOTES) % 2 for piece in pieces):
            pieces = [plain]  # a sentence that is quoted is not said
        found = [*(Statement(piece, len(pieces) == 1) for piece in pieces), *found]
        if len(found) > 1:
            break
    return found[-2:]


def last_line(text: str) -> str:
    """The last line in plain text."""
    lines = lines_of(text)
    return _plain(lines[-1]) if lines else ""


def _plain(line: str) -> str:
    return " ".join(_EMPHASIS.sub("", fold_width(line)).split())


def lines_of(text: str) -> list[str]:
    """The lines that say something; the fences of code blocks do not."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not _FENCE.fullmatch(line)]


def json_at_end(text: str) -> JsonObject | None:
    """The JSON object that begins on a line of its own, or in a code block, and ends the text."""
    lines = [line for line in text.rstrip().splitlines() if line.strip()]
    if lines and _FENCE.fullmatch(lines[-1].strip()):
        lines.pop()
    last = lines[-1].rstrip() if lines else ""
    if not last.removesuffix("```").rstrip().endswith("}"):
        return None
    tail = lines[-_MOST_LINES:]
    for number, line in enumerate(tail):
        if not _OPENING.match(line):
            continue
        try:
            values = json.loads(_FENCE.sub("", "\n".join(tail[number:])).strip())
        except (ValueError, RecursionError):
            continue
        return values if isinstance(values, dict) else None
    return None
