"""What VLMEvalKit's `evaluate` returns, as flat names with percentages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Flat = dict[str, float]

_COUNT = re.compile(
    r"(?i)n|num|number|count|total|tot|hits?|samples?|questions"
    r"|(num|number|n|count|total)[ _].*|.*[ _](num|count|total)"
)


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """The scores of a run."""

    flattened: Flat
    """As `evaluate` returned them, by flat name."""
    primary: Flat
    """The score that stands for the run, as VLMEvalKit reports it."""
    percent: Flat
    """All of them, in percent where they are shares; the primary one first."""
    scale: str
    """Whether they were taken for shares, and why."""


def convert(returned: Any, reported: Mapping[str, Any] | None, *, shares: bool | None = None) -> Metrics:
    """Flatten and convert to percent.

    VLMEvalKit's data sets return shares between 0 and 1, or percentages, or points, and do not say which. It is told
    by a primary metric that is a hundred times one of the scores, or is one of them under another name; else by the
    numbers, which are shares if none is below 0 or above 1. Numbers of questions among them stay what they are.

    Args:
        returned: a DataFrame, a dict, or lists and dicts in each other.
        reported: what `report_primary_metric` said; None where the data set has no such method.
        shares: whether they are shares, where a person knows.
    """
    flattened = flatten(returned)
    named = reported if reported else _usual_primary(flattened)
    primary = {name: float(value) for name, value in named.items() if _is_number(value)}
    counts = _counts(flattened)
    told = _told_by(flattened, primary)
    if shares is None:
        shares = (
            told
            if told is not None
            else all(0 <= value <= 1 for name, value in flattened.items() if name not in counts)
        )
        scale = "by the primary metric" if told is not None else "by the numbers"
    else:
        scale = "as told"
    kept = counts if shares else flattened.keys()
    converted = {name: value if name in kept else value * 100 for name, value in flattened.items()}
    percent = {name: converted[name] if flattened.get(name) == value else value for name, value in primary.items()}
    percent |= {name: value for name, value in converted.items() if name not in percent}
    about = f"{'shares' if shares else 'as returned'}, {scale}"
    return Metrics(flattened=flattened, primary=primary, percent=percent, scale=about)


def _told_by(flattened: Flat, primary: Flat) -> bool | None:
    """Whether scores are shares, by a primary metric with a name of its own; None where it does not tell."""
    renamed = [value for name, value in primary.items() if flattened.get(name) != value and value]
    is_percent, is_same = (
        any(math.isclose(value, score * factor) for value in renamed for score in flattened.values())
        for factor in (100, 1)
    )
    return None if is_percent == is_same else is_percent


def _counts(flattened: Flat) -> set[str]:
    """The names of numbers of questions: called so, and above 1 somewhere."""
    called = [name for name in flattened if _COUNT.fullmatch(_last(name))]
    large = {_last(name) for name in called if flattened[name] > 1 and flattened[name].is_integer()}
    return {name for name in called if _last(name) in large}


def _last(name: str) -> str:
    return name.rpartition("|")[2].partition("#")[0]


def flatten(returned: Any) -> Flat:
    """All numbers by flat names, as VLMEvalKit's own reports name them.

    A row of a table gives `<text column>=<its text>|<number column>`, what is nested gives its keys joined by `|`.

    >>> flatten({"a": {"b": 1, "c": "x"}, "d": [0.5]})
    {'a|b': 1.0, 'd': 0.5}
    """
    flat: Flat = {}
    for name, value in _numbers(returned, ""):
        key, number = name, 0
        while key in flat:  # two rows of one name
            number += 1
            key = f"{name}#{number}"
        flat[key] = value
    return flat


def _numbers(value: Any, prefix: str) -> Iterator[tuple[str, float]]:
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        yield from _table_numbers(value, prefix)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers(item, _joined(prefix, _name(key)))
    elif isinstance(value, list | tuple) and not (len(value) == 1 and _is_number(value[0])):
        for number, item in enumerate(value):
            yield from _numbers(item, _joined(prefix, str(number)))
    else:
        value = value[0] if isinstance(value, list | tuple) else value
        if _is_number(value):
            yield prefix or "value", float(value)


def _table_numbers(table: Any, prefix: str) -> Iterator[tuple[str, float]]:
    rows = table.to_dict("records")
    of_numbers = [column for column in table.columns if any(_is_number(row[column]) for row in rows)]
    for row in rows:
        texts = [
            f"{_name(key)}={str(cell).strip()}" for key, cell in row.items() if key not in of_numbers and _is_text(cell)
        ]
        for column in of_numbers:
            if _is_number(row[column]):
                yield "|".join([*([prefix] if prefix else []), *texts, _name(column)]), float(row[column])


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}|{name}" if prefix else name


def _name(key: Any) -> str:
    return str(key).strip() or "value"


def _is_text(cell: Any) -> bool:
    return cell is not None and cell == cell and bool(str(cell).strip())


def _is_number(value: Any) -> bool:
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item() if getattr(value, "size", 1) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False


def _usual_primary(flattened: Flat) -> Flat:
    """The score that stands for the run where the data set does not say: an overall one, else an accuracy."""

    def rank(name: str) -> int:
        last = _last(name).lower()
        order = (last == "overall", "overall" in name.lower(), last == "acc", "acc" in last, "score" in last)
        return order.index(True) if True in order else len(order)

    return {name: flattened[name] for name in sorted(flattened, key=rank)[:1]}
