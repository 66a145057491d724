"""What a judge read in an answer: a choice, several, or a value. Verdicts are read in `judge_verdicts.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagmm.evaluator.last_statement import json_at_end, last_line, lines_of
from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.text_match import text_equal

_BEFORE = r"\W*(?:(?:so|therefore|thus|hence|the|my|final|selected|chosen|correct)[, ]\s*)*"
_CHOICE = lazy_compile(
    rf"(?i){_BEFORE}(?:choices?|options?|answers?|letters?|选项|答案|选择)\s*(?::|=|\b(?:is|are)\b|是|为)\s*:?(.*)"
)
_VALUE = lazy_compile(rf"(?i){_BEFORE}(?:answer|答案)\s*(?::|=|\bis\b|是|为)\s*:?(.*)")
_LABELLED_VALUE = lazy_compile(r"\W*ANSWER\s*[:：](.*)")  # as the prompt asks for it, with the value as it stands
_BOX = lazy_compile(r"\$*\\boxed\s*\{(.*)\}\$*")
_BETWEEN_LABELS = lazy_compile(r"(?:[^A-Z]|\bAND\b)+")
_WITH_TEXT = lazy_compile(r"\W*([A-Z]{1,2})\W*[).:]\s*(.+)")
_WRAPPING = " \t*`_\"'()[]{}.,;。"
_CHOICE_KEYS = ("choice", "choices", "option", "options", "answer", "letter", "selected_option", "选项", "答案")
_VALUE_KEYS = ("answer", "final_answer", "value", "答案")


class Reading(NamedTuple):
    """What a judge read in an answer."""

    is_said: bool
    """Whether the last thing it says is what was asked for; if not, it failed."""
    value: Any
    """None where it says that the answer commits to nothing."""


_UNSAID = Reading(False, None)
_NOTHING = Reading(True, None)

Labels = Sequence[str] | Mapping[str, str]
"""The labels that can be chosen; with the options' texts, these may stand behind them."""


def read_choice(reply: str, labels: Labels) -> Reading:
    """The label that was chosen."""
    found = read_choices(reply, labels)
    if found.value is None:
        return found
    return Reading(True, found.value[0]) if len(found.value) == 1 else _UNSAID


def read_choices(reply: str, labels: Labels) -> Reading:
    """The list of the labels that were chosen: all that the last line names, and nothing else stands there."""
    said = _json_value(reply, _CHOICE_KEYS)
    if said is None:
        line = last_line(reply)
        match = _CHOICE.fullmatch(line)
        said = match[1] if match is not None else line
    if isinstance(labels, Mapping) and (with_text := _WITH_TEXT.fullmatch(said)):
        label = with_text[1]
        if label in labels and text_equal(with_text[2], [labels[label]]):
            return Reading(True, [label])
    named = [label for label in _BETWEEN_LABELS.split(said.upper()) if label]
    if named == ["NONE"]:
        return _NOTHING
    return Reading(True, named) if named and set(named) <= set(labels) else _UNSAID


def read_value(reply: str) -> Reading:
    """The final answer as a text."""
    said = _json_value(reply, _VALUE_KEYS)
    if said is None:
        lines = lines_of(reply)
        match = _LABELLED_VALUE.fullmatch(lines[-1]) if lines else None
        match = match or _BOX.fullmatch(last_line(reply)) or _VALUE.fullmatch(last_line(reply))
        said = match[1] if match is not None else ""
    value = said.strip(" \t*`")
    if not value:
        return _UNSAID
    return _NOTHING if value.strip(_WRAPPING).upper() == "NONE" else Reading(True, value)


def _json_value(reply: str, keys: Sequence[str]) -> str | None:
    """What the JSON object at the end of a reply has under one of the keys; None where there is none."""
    values = json_at_end(reply) or {}
    named = [value for key, value in values.items() if key.strip().lower() in keys]
    if len(named) != 1 or isinstance(named[0], bool | Mapping):
        return None
    value = named[0]
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def repeats_instruction(reply: str, prompt: str) -> bool:
    """Whether a reply ends as its prompt does, so that its last line is one that it was offered, not one it chose."""
    end = lines_of(prompt)[-2:]
    return len(end) > 1 and lines_of(reply)[-2:] == end
