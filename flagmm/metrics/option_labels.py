"""The letters of options: what prompts print and answers are read by."""

from __future__ import annotations


def option_labels(count: int) -> list[str]:
    """Labels of `count` options: A to Z, then AA, AB and on, as spreadsheets name their columns.

    >>> option_labels(3)
    ['A', 'B', 'C']
    >>> option_labels(28)[-2:]
    ['AA', 'AB']
    """
    return [_label(number) for number in range(count)]


def _label(number: int) -> str:
    label = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        label = chr(ord("A") + rest) + label
    return label
