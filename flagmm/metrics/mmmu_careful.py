"""Whether an open response to MMMU states the right answer, read as a careful person would.

The official rule (see `mmmu`) takes any number of any line and any part of a word, so that "unknown" is right for "no".
Here only what the response states last counts: the first number of it, or the right answer's words as whole words,
not negated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from flagmm.metrics.text_match import announced_line, fold_width, is_bound, join_digits
from flagmm.thinking import split_thinking

_ANNOUNCED = re.compile(r".*\b(?:answer|result)\b", re.DOTALL)
_CONCLUDED = re.compile(r".*\b(?:therefore|thus|hence|so)\b", re.DOTALL)
_VERB = re.compile(r"\b(?:is|are|was|were|be|equals?)\b")
_ANNOUNCING_ENDS = (":", "：", "*", "is", "are")
_FEW_WORDS = 3
"""Words that a last line may have to be a statement without a verb."""

_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_NUMBER = re.compile(
    r"""\\[dt]?frac\s?\{(?P<over>\d{1,15})\}\s?\{(?P<under>\d{1,15})\}
    |(?<![a-z0-9.,])(?P<number>[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?=\.\d))(?:\.\d+)?)(?![0-9]|[.,][0-9])
    (?:e(?P<e>[-+]?\d{1,3})|\s?(?:x|×|\\times)\s?10\s?\^\s?\{?(?P<power>-?\d{1,3})\}?)?
    (?:\s?(?P<percent>%|\\%|percent)|\s(?P<scale>hundred|thousand|million|billion)\b)?""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_NEGATION = re.compile(r"(?:\b(?:not|no|never|neither|nor|without|except)|n['’]t)\s+(?:(?:a|an|the|in|at)\s+)?$")
_NEGATION_REACH = 40
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_OUTER = " .,;:!?'\"*_`$()[]{}"
_OPENING_ENDS = re.compile(r"\s*(?:[,.;:!\n]|$|(?:is|was|are|were)\b)")


def states_gold(response: str, golds: Sequence[str]) -> bool:
    """Say whether `response` states any of the right answers; an empty response states only an empty one.

    Numbers are compared rounded to 2 decimals, as MMMU does. "5%" is 5 and 0.05, "10 thousand" is 10000.

    >>> states_gold("x is 3, so the answer is 12 cm", ["12"]), states_gold("unknown", ["no"])
    (True, False)
    """
    text = join_digits(fold_width(split_thinking(response).answer)).strip().strip(".").lower()
    statement = _statement(text)
    values = _values(statement)
    return any(_is_stated(fold_width(gold).strip().lower(), text, statement, values) for gold in golds)


def _is_stated(gold: str, text: str, statement: str, values: Sequence[float]) -> bool:
    if not gold:
        return not text
    try:
        return round(float(gold.replace(",", "")), 2) in values
    except ValueError:
        return _names(statement, gold) or _opens_with(text, gold)


def _statement(text: str) -> str:
    """Return what the last line that states anything states, or the whole text if none does."""
    lines = [line.strip() for line in text.split("\n") if _LETTER_OR_DIGIT.search(line)]
    for number, line in reversed(list(enumerate(lines))):
        tail = _tail(line)
        if not tail and number + 1 < len(lines) and _ANNOUNCED.match(line) and line.endswith(_ANNOUNCING_ENDS):
            return announced_line("\n".join(lines[number + 1 :]), 0)
        if tail:
            return tail
        if line is lines[-1] and len(line.split()) <= _FEW_WORDS:
            return line
    return text


def _tail(line: str) -> str:
    """Return what follows the last announcement and, in that, the first verb and the last sign of equality."""
    start = 0
    for cue in (_ANNOUNCED, _CONCLUDED):
        found = cue.match(line, start)
        start = found.end() if found else start
    verb = _VERB.search(line, start)
    start = max(verb.end() if verb else start, line.rfind("=") + 1)
    return line[start:].strip(" :,") if start else ""


def _values(statement: str) -> list[float]:
    """Return the first number of the statement, or none; two of them where a percentage may be meant as a share."""
    found = _NUMBER.search(statement)
    if found is None or is_bound(statement, found.start(), found.end()):
        return []
    if found["over"]:
        under = int(found["under"])
        return [round(int(found["over"]) / under, 2)] if under else []
    number = float(f"{found['number'].replace(',', '')}e{found['e'] or found['power'] or 0}")
    number *= _SCALES.get(found["scale"], 1)
    return [round(number, 2), round(number / 100, 2)] if found["percent"] else [round(number, 2)]


def _names(statement: str, gold: str) -> bool:
    if len(gold) == 1 and gold.isascii():
        return statement.strip(_OUTER) == gold
    return any(not _is_negated(statement, found.start()) for found in _words(gold).finditer(statement))


def _is_negated(text: str, position: int) -> bool:
    return _NEGATION.search(text[max(0, position - _NEGATION_REACH) : position]) is not None


def _opens_with(text: str, gold: str) -> bool:
    found = _words(gold).match(text)
    return found is not None and _OPENING_ENDS.match(text, found.end()) is not None


def _words(gold: str) -> re.Pattern[str]:
    """Return a pattern for the words of `gold` as whole words, with any white space around its marks."""
    tokens = _TOKEN.findall(gold)
    pattern = re.escape(tokens[0])
    for before, token in pairwise(tokens):
        pattern += (r"\s+" if _is_word(before) and _is_word(token) else r"\s*") + re.escape(token)
    start = "(?<![a-z0-9.])" if _is_word(tokens[0]) else ""
    end = "(?![a-z0-9])" if _is_word(tokens[-1]) else ""
    return re.compile(f"{start}{pattern}{end}")


def _is_word(token: str) -> bool:
    return token.isascii() and token.isalnum()
