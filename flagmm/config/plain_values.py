"""Values that a person wrote into a file or a flag: plain ones, of a sane size, before anything else looks at them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flagmm.errors import ConfigError
from flagmm.hints import shown

_DEEPEST = 50
_MOST_VALUES = 100_000
_LARGEST = 10**18
MOST_CALLS = 10_000
"""Repetitions of a question, and calls at once, above which a number is a slip."""


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that can be counted with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST and (isinstance(value, int) or math.isfinite(value))


def check_plain(value: Any, *, where: str) -> None:
    """Refuse what no JSON can hold or no program should walk through.

    Args:
        where: file or flag, as the error begins.

    Raises:
        ConfigError: it is nested too deeply or holds itself, as YAML's references can; has a number that is not finite
            or too large, a NUL in a text, or a value of another kind, such as a date of YAML.
    """
    left = _MOST_VALUES
    waiting: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    while waiting:
        item, path = waiting.pop()
        left -= 1
        if len(path) > _DEEPEST:
            raise ConfigError(f"{where}: {path[0]}: nested more than {_DEEPEST} deep, or holds itself; make it flat")
        if left < 0:
            raise ConfigError(f"{where}: more than {_MOST_VALUES} values, references repeated; write it out shorter")
        if isinstance(item, Mapping):
            waiting += [(inner, (*path, str(name))) for name, inner in item.items()]
            fault = next((f"the key {name!r} holds a NUL" for name in item if "\0" in str(name)), None)
        elif isinstance(item, list | tuple):
            waiting += [(inner, (*path, f"[{number}]")) for number, inner in enumerate(item)]
            fault = None
        else:
            fault = _fault(item)
        if fault is not None:
            raise ConfigError(": ".join([where, *path[:4], fault]))


def _fault(value: Any) -> str | None:
    if isinstance(value, str):
        return "a text with a NUL character, which nothing can take; remove it" if "\0" in value else None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return None if is_number(value) else f"found {shown(value)}, no number that can be counted with"
    return f"expected a text, a number, a list or an object, found {type(value).__name__}; put it in quotes"
