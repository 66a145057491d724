"""Media in the columns of a record (`image_1`, `images`, `audio_1_format`) and their placeholders in its texts.

Shared by the General-VQA and General-VMCQ formats. Nothing is opened here: a cell is a path, a URL, a data URI, base64
or a dict, and stays so.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from flagmm.errors import DataError
from flagmm.types import Medium

MEDIA: tuple[Medium, ...] = ("image", "video", "audio")
MOST_INDEXED = 100
"""Columns such as `image_101` are not looked at; list columns may be longer."""

_PLACEHOLDER = re.compile(r"<(image|video|audio)[ _](\d+)>")
_MEDIA_COLUMN = re.compile(r"(?:image|video|audio)(?:s|_\d+(?:_format)?)")


class MediaCell(NamedTuple):
    """One medium of a record, as its cell has it."""

    column: str
    """For messages: `image_2`, or `images[2]` for the second of a list."""
    value: Any
    format: str | None = None
    """The hint beside it, as in `audio_1_format`."""


class Piece(NamedTuple):
    """One part of a message, in order."""

    type: Literal["text", "image", "video", "audio"]
    value: Any
    """The text as it is, or what `media` gave for the placeholder."""


class Reference(NamedTuple):
    """What a placeholder asks for."""

    medium: Medium
    number: int
    """0 where the number is none that anything can have."""


class Split(NamedTuple):
    pieces: tuple[Piece, ...]
    missing: tuple[Reference, ...]
    """What placeholders ask for in vain; they are left out of the text."""


def filled_media_columns(record: Mapping[str, Any]) -> list[str]:
    """The columns of a record that have media, by their names; `image` alone, which no placeholder means, is one."""
    return [
        column
        for column, cell in record.items()
        if cell not in (None, "", [])
        and (column in MEDIA or (is_media_column(column) and not column.endswith("_format")))
    ]


def is_media_column(column: str) -> bool:
    """Whether the column holds media, or a hint about one."""
    return _MEDIA_COLUMN.fullmatch(column) is not None


def referenced(texts: Iterable[str]) -> dict[Medium, set[int]]:
    """The numbers that placeholders in the texts ask for, by medium."""
    numbers: dict[Medium, set[int]] = {medium: set() for medium in MEDIA}
    for text in texts:
        for found in _PLACEHOLDER.finditer(text):
            reference = _reference(found)
            numbers[reference.medium].add(reference.number)
    return numbers


def collect_media(
    record: Mapping[str, Any], medium: Medium, *, numbers: Collection[int] | None = None
) -> dict[int, MediaCell]:
    """The filled cells of one medium by number, from 1.

    They are in columns such as `image_1`; the list column `images` is looked at only if none of those is filled.

    Args:
        numbers: the only ones to look at; others count for nothing, not even against the list column.

    Raises:
        DataError: the list column is looked at and is no list.
    """
    if numbers is not None and not numbers:
        return {}
    wanted = range(1, MOST_INDEXED + 1) if numbers is None else sorted(numbers)
    indexed = {}
    for number in (number for number in wanted if 1 <= number <= MOST_INDEXED):
        column = f"{medium}_{number}"
        cell = _undressed(record.get(column))
        if _is_filled(cell):
            indexed[number] = MediaCell(column, cell, record.get(f"{column}_format") or None)
    if indexed:
        return indexed
    return {
        number: cell
        for number, cell in enumerate(_listed(record, f"{medium}s"), start=1)
        if _is_filled(cell.value) and (numbers is None or number in numbers)
    }


def split_at_media(text: str, media: Mapping[Medium, Mapping[int, Any]]) -> Split:
    """Cut `text` at its placeholders (`<image 1>`, `<video_2>`) and put the media in their places.

    Text keeps its white space, but a piece of nothing else is left out, and so is a placeholder without a medium.
    """
    pieces: list[Piece] = []
    missing: list[Reference] = []
    start = 0
    for found in _PLACEHOLDER.finditer(text):
        _append_text(pieces, text[start : found.start()])
        start = found.end()
        reference = _reference(found)
        cells = media.get(reference.medium, {})
        if reference.number in cells:
            pieces.append(Piece(reference.medium, cells[reference.number]))
        else:
            missing.append(reference)
    _append_text(pieces, text[start:])
    return Split(tuple(pieces), tuple(missing))


def has_placeholder(text: str) -> bool:
    """Whether anything in the text would be put in the place of, or left out for want of, a medium."""
    return _PLACEHOLDER.search(text) is not None


def read_list(cell: object) -> list[Any] | None:
    """The list that a cell is, or holds as JSON or as a Python literal; None where it is none."""
    value = _literal(cell) if isinstance(cell, str) else cell
    return list(value) if isinstance(value, list | tuple) else None


def _listed(record: Mapping[str, Any], column: str) -> list[MediaCell]:
    cell = record.get(column)
    if not _is_filled(cell):
        return []
    values = read_list(cell)
    if values is None:
        raise DataError(f"{column}: expected a list, found {cell!r:.60}")
    return [MediaCell(f"{column}[{number}]", value) for number, value in enumerate(values, start=1)]


def _reference(found: re.Match[str]) -> Reference:
    medium: Medium = found[1]  # type: ignore[assignment]  # the pattern has no other words
    digits = found[2].lstrip("0")
    # int() refuses a number of thousands of digits.
    return Reference(medium, int(digits) if digits and len(digits) < 10 else 0)


def _append_text(pieces: list[Piece], text: str) -> None:
    if text.strip():
        pieces.append(Piece("text", text))


def _is_filled(cell: object) -> bool:
    if isinstance(cell, Mapping):
        return any(value is not None for value in cell.values())  # a null of a HuggingFace feature has null fields
    return cell is not None and cell != ""


def _undressed(cell: object) -> object:
    """A dict that a text table holds as JSON, as a dict; anything else as it is."""
    if isinstance(cell, str) and cell.startswith("{"):
        try:
            value = json.loads(cell)
        except (ValueError, RecursionError):
            return cell
        return value if isinstance(value, dict) else cell
    return cell


def _literal(text: str) -> object:
    if not text.lstrip().startswith(("[", "(")):  # saves the parsers megabytes of base64
        return None
    for parse in (json.loads, _python_literal):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, list | tuple):
            return value
    return None


def _python_literal(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of "\\d" and the like, which LaTeX in options is full of
        return ast.literal_eval(text.strip())
