"""FlagEvalMM's typed open answers: the answer in a reply, its score by type, and the report by question type.

Reference: FlagEvalMM fef27ec6, `evaluator/open_evaluator.py`. Its type `open_ended` is for a judge and not scored here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from flagmm.metrics.flagevalmm_numbers import extract_numbers
from flagmm.metrics.open_careful import number_sequences, open_statement, states_number, states_text, truth_values

AnswerType = Literal["integer", "float", "true_false", "text match"]
Rule = Literal["reference", "careful"]

_BOX = "\\boxed{"
_BOX_REACH = 200  # how far behind the first closing brace the reference looks for signs of a longer box
_SCIENTIFIC = re.compile(r"\d[eE][+-]?\d|(?:\\times|x|×)\s*10\s*\^")
_LATEX_TEXT = re.compile(r"\\text\s*\{([^}]*)\}")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_FRACTION = re.compile(rf"([+-]?)\\frac\s*\{{\s*({_NUMBER})\s*\}}\s*\{{\s*({_NUMBER})\s*\}}")
_CUES = ("Answer:", "Answer", "答案：", "答案:", "答案")
_SPELLINGS = {
    "′": "'",
    "\u00a0": " ",
    "‐": "-",
    "−": "-",
    "–": "-",
    "⋅": "·",
    "\\sim": "~",
    "\\circ": "°",
    "\\theta": "θ",
} | {f"\\{name}": name for name in ("sin", "cos", "tan", "log", "ln")}

_WHOLE_TOLERANCE = 1e-3
_SINGLE_SHARE = 0.1
_LIST_SHARE = 0.08
_TRUTH_WORD = re.compile(r"\b(true|false)\b")
_TRUTH = {"true": True, "false": False}


class OpenRow(NamedTuple):
    """The score of one reply and the groups that it counts in."""

    score: float
    group: str
    subgroup: str | None = None
    """The group itself where there is none."""


@dataclass
class _Tally:
    score: float = 0
    count: int = 0
    parts: dict[str, list[float]] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return round(self.score / self.count, 3)


def extract_open_answer(text: str) -> str:
    """Return what the last `\\boxed{…}` holds, else what follows the last of the first cue present, else all.

    A box ends before the first brace that closes a line; else, where it holds braces, a power of ten or `\\text`, at
    the last brace of the text, else at the next one. An empty or open box is none. A lone fraction is divided.

    >>> extract_open_answer("So \\\\boxed{\\\\frac{1}{2}}"), extract_open_answer("Answer: 5")
    ('0.5', '5')
    """
    boxed = _boxed(text)
    if boxed:
        head, brace, tail = boxed.rpartition("}")  # no match ends behind it: looking there costs time
        content = _LATEX_TEXT.sub(r"\1", head + brace) + tail
        return _fraction_as_decimal(" ".join(content.split()))
    cue = next((cue for cue in _CUES if cue in text), None)
    return text if cue is None else text.rpartition(cue)[2].strip()


def normalize_open_answer(text: str) -> str:
    """Return `text` with dashes, primes, degrees and the names of functions in one spelling."""
    for old, new in _SPELLINGS.items():
        text = text.replace(old, new)
    return text


def open_score(prediction: str, answer: Any, answer_type: AnswerType, *, rule: Rule = "reference") -> int:
    """Return 1 for a right reply, else 0.

    By the reference: the last number must be within 0.001 of an integer or 10 % of a float, so that nothing matches a
    float of 0; a list's numbers must be all the numbers there are, in order, within 8 % where they are no whole ones;
    the words true and false must be the list; a text must contain one of the accepted texts, in any case.
    The careful rule reads what the reply states; see `open_careful`.

    Raises:
        ValueError: the right answer does not fit its type.
    """
    read = open_statement if rule == "careful" else extract_open_answer
    text = normalize_open_answer(read(prediction))
    answers = list(answer) if isinstance(answer, list | tuple) else [answer]
    if answer_type == "true_false":
        return int(has_truth_values(text, answers, rule))
    if answer_type == "text match":
        return int(any(has_text(text, str(candidate), rule) for candidate in answers))
    wanted = [float(number) for number in answers]
    if isinstance(answer, list | tuple):
        return int(has_numbers(text, wanted, rule))
    return int(has_number(text, wanted[0], answer_type, rule))


def open_report(rows: Iterable[OpenRow]) -> dict[str, Any]:
    """Return `final_score` [sum, count], `accuracy` in percent (3 decimals), and [sum, count, mean, parts] per group.

    `parts` is [sum, count, mean] per subgroup. Groups come in the order of their first row. Without rows the accuracy
    is None, where the reference fails.
    """
    tallies: dict[str, _Tally] = {}
    for row in rows:
        tally = tallies.setdefault(row.group, _Tally())
        part = tally.parts.setdefault(row.group if row.subgroup is None else row.subgroup, [0, 0, 0])
        tally.score, tally.count = tally.score + row.score, tally.count + 1
        part[0], part[1] = part[0] + row.score, part[1] + 1
        part[2] = round(part[0] / part[1], 3)
    score, count = sum(tally.score for tally in tallies.values()), sum(tally.count for tally in tallies.values())
    return {
        "final_score": [score, count],
        "accuracy": round(score / count * 100, 3) if count else None,
        **{group: [tally.score, tally.count, tally.mean, tally.parts] for group, tally in tallies.items()},
    }


def _boxed(text: str) -> str:
    _, box, rest = text.rpartition(_BOX)
    if not box:
        return ""
    end = rest.find("}\n")
    if end == -1:
        first = rest.find("}")
        end = rest.rfind("}") if _is_long_box(rest, first) else first
    return rest[:end] if end != -1 else ""


def _is_long_box(rest: str, first_close: int) -> bool:
    ahead = rest if first_close == -1 else rest[: first_close + _BOX_REACH]
    inner = rest[: max(first_close, 0)]
    return _SCIENTIFIC.search(ahead) is not None or "\\text" in ahead or "{" in inner


def _fraction_as_decimal(text: str) -> str:
    fraction = _FRACTION.fullmatch(text)
    if fraction is None or float(fraction[3]) == 0:
        return text
    value = float(fraction[2]) / float(fraction[3])
    return str(-value if fraction[1] == "-" else value)


def has_number(text: str, wanted: float, answer_type: AnswerType, rule: Rule = "reference") -> bool:
    """Say whether the last number of `text` is the one wanted."""
    tolerance = abs(wanted) * _SINGLE_SHARE if answer_type == "float" else _WHOLE_TOLERANCE
    if rule == "careful":
        return states_number(text, wanted, tolerance=tolerance)
    numbers = extract_numbers(text)
    return bool(numbers) and abs(numbers[-1] - wanted) < tolerance


def has_numbers(text: str, wanted: Sequence[float], rule: Rule = "reference") -> bool:
    """Say whether the numbers of `text` are those wanted; whole ones must be met, whatever their type."""
    readings = number_sequences(text) if rule == "careful" else [extract_numbers(text)]
    tolerances = [_WHOLE_TOLERANCE if float(number).is_integer() else abs(number) * _LIST_SHARE for number in wanted]
    return any(_are_near(numbers, wanted, tolerances) for numbers in readings if numbers)


def _are_near(numbers: Sequence[float], wanted: Sequence[float], tolerances: Sequence[float]) -> bool:
    if len(numbers) != len(wanted):
        return False
    return all(abs(one - other) < limit for one, other, limit in zip(numbers, wanted, tolerances, strict=True))


def has_text(text: str, candidate: str, rule: Rule = "reference") -> bool:
    """Say whether `text` contains, or by the careful rule states, the accepted text."""
    if rule == "careful":
        return states_text(text, normalize_open_answer(candidate))
    return candidate.lower() in text.lower()


def has_truth_values(text: str, wanted: Sequence[str | bool], rule: Rule = "reference") -> bool:
    """Say whether the words true and false in `text` are those wanted, in order."""
    words = truth_values(text) if rule == "careful" else _truth_words(text)
    return words == [_truth_value(value) for value in wanted]


def _truth_words(text: str) -> list[bool]:
    return [_TRUTH[word] for word in _TRUTH_WORD.findall(text.lower())]


def _truth_value(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower())
