"""How a judge's reply is read: only its last line counts, and only in the form that was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

Grade = Literal["correct", "incorrect", "not_attempted"]

_VERDICT = re.compile(r"\W*VERDICT\s*[:：]\W*(CORRECT|INCORRECT)\W*", re.IGNORECASE)
_GRADE = re.compile(r"\W*GRADE\s*[:：]\W*(CORRECT|INCORRECT|NOT[_ -]ATTEMPTED)\W*", re.IGNORECASE)
_CHOICE = re.compile(r"\W*CHOICES?\s*[:：](.*)", re.IGNORECASE)
_VALUE = re.compile(r"\W*ANSWER\s*[:：](.*)", re.IGNORECASE)
_BETWEEN_LABELS = re.compile(r"(?:[^A-Z]|\bAND\b)+")
_WRAPPING = " \t*`_\"'()[]{}.,;。"
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL | re.IGNORECASE)
_JSON_GRADES: dict[str, Grade] = {"A": "correct", "CORRECT": "correct", "B": "incorrect", "INCORRECT": "incorrect"}
_GRADES: dict[str, Grade] = {"CORRECT": "correct", "INCORRECT": "incorrect"}


class Reading(NamedTuple):
    """What a judge read in an answer."""

    is_said: bool
    """Whether its last line says what was asked for; if not, it failed."""
    value: Any
    """None where it says that the answer commits to nothing."""


_UNSAID = Reading(False, None)
_NOTHING = Reading(True, None)


def read_verdict(reply: str) -> Grade | None:
    """Whether the judge says "correct" or "incorrect"; None where it says neither.

    A reply that is one JSON object and nothing else may say so under `verdict`, as EvalScope's judges do.
    """
    return _grade(_VERDICT.fullmatch(_last_line(reply))) or _json_verdict(reply)


def _json_verdict(reply: str) -> Grade | None:
    text = _FENCE.sub(r"\1", reply.strip())
    if not text.startswith("{"):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _JSON_GRADES.get(str(values.get("verdict")).strip().upper())


def read_grade(reply: str) -> Grade | None:
    """The grade; None where it gives none."""
    return _grade(_GRADE.fullmatch(_last_line(reply)))


def _grade(match: re.Match[str] | None) -> Grade | None:
    return None if match is None else _GRADES.get(match[1].upper(), "not_attempted")


def read_choice(reply: str, labels: Sequence[str]) -> Reading:
    """The label that was chosen."""
    found = read_choices(reply, labels)
    if found.value is None:
        return found
    return Reading(True, found.value[0]) if len(found.value) == 1 else _UNSAID


def read_choices(reply: str, labels: Sequence[str]) -> Reading:
    """The list of the labels that were chosen."""
    match = _CHOICE.fullmatch(_last_line(reply))
    if match is None:
        return _UNSAID
    named = [label for label in _BETWEEN_LABELS.split(match[1].upper()) if label]
    if named == ["NONE"]:
        return _NOTHING
    return Reading(True, named) if named and set(named) <= set(labels) else _UNSAID


def read_value(reply: str) -> Reading:
    """The final answer as a text."""
    match = _VALUE.fullmatch(_last_line(reply))
    value = match[1].strip(" \t*`") if match is not None else ""
    if not value:
        return _UNSAID
    return _NOTHING if value.strip(_WRAPPING).upper() == "NONE" else Reading(True, value)


def repeats_instruction(reply: str, prompt: str) -> bool:
    """Whether a reply ends as its prompt does, so that its last line is one that it was offered, not one it chose."""
    end = _lines(prompt)[-2:]
    return len(end) > 1 and _lines(reply)[-2:] == end


def _last_line(text: str) -> str:
    lines = _lines(text)
    return lines[-1] if lines else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
