"""The letters of options: what prompts print and answers are read by."""

from __future__ import annotations

import re
from functools import lru_cache


def option_labels(count: int) -> list[str]:
    """Labels of `count` options: A to Z, then AA, AB and on, as spreadsheets name their columns.

    >>> option_labels(3)
    ['A', 'B', 'C']
    >>> option_labels(28)[-2:]
    ['AA', 'AB']
    """
    return list(_labels(count))


@lru_cache(maxsize=64)
def _labels(count: int) -> tuple[str, ...]:
    return tuple(_label(number) for number in range(count))


def _label(number: int) -> str:
    label = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        label = chr(ord("A") + rest) + label
    return label


_LETTERED = re.compile(r"(?<![A-Za-z0-9])\(?([A-Z])[.):：]")


def labels_in(question: str) -> list[str]:
    """The labels of options that stand inside a question's text, as in "A: red, B: blue"; [] where there are none.

    They must begin with A and go on without a gap; a letter out of order is something else.

    >>> labels_in("Which? Options: A: red, B: blue, or green, C: white")
    ['A', 'B', 'C']
    >>> labels_in("Is vitamin C: good?")
    []
    """
    found: list[str] = []
    for match in _LETTERED.finditer(question):
        if match[1] == _label(len(found)):
            found.append(match[1])
    return found if len(found) > 1 else []
