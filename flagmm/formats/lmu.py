"""How cells of VLMEvalKit's tables are read: lists in one cell, and pictures that other rows share.

Plain functions of texts; the tables themselves are TSV files like any other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from flagmm.errors import DataError

LONGEST_REFERENCE = 64
"""Characters of an `image` cell, up to which it names another row."""
_MOST_COMMAS = 100_000
_LONGEST_CHAIN = 1000
_ESCAPE = re.compile(r"\\(?:[\\'\"abfnrtvxuUN\n]|[0-3]?[0-7]{1,2}(?![0-7])|(.))", re.DOTALL)


def parse_list_cell(text: str) -> list[str]:
    """The texts of a cell that holds a list as Python writes it; any other cell is a list of itself.

    Elements that are no text are given as Python writes them. A cell in brackets that is no list of literals, such as
    "[unclear]", is text.

    Raises:
        DataError: the list is too long to be one of cells.
    """
    if not (text.startswith("[") and text.endswith("]")):
        return [text]
    if text.count(",") > _MOST_COMMAS:
        raise DataError(f"a list of more than {_MOST_COMMAS:,} elements in one cell")
    try:
        value = ast.literal_eval(_ESCAPE.sub(_kept_escape, text))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):  # MemoryError: nested too deeply
        return [text]
    return [str(element) for element in value] if isinstance(value, list) else [text]


def _kept_escape(found: re.Match[str]) -> str:
    """A backslash that escapes nothing, which Python would keep with a warning, is doubled."""
    return found[0] if found[1] is None else "\\" + found[0]


class SharedImage(NamedTuple):
    """A picture and the row it stands in."""

    owner: str
    """Index of that row; rows that share a picture have one owner."""
    cell: str
    """Its `image` cell: base64, or a list of such."""


def find_image(index: str, image_of: Callable[[str], str | None]) -> SharedImage | None:
    """The picture of row `index`; None where its cell is empty.

    A cell of up to 64 characters names the row whose picture is meant, which may name another in turn.

    Args:
        index: the row's `index`.
        image_of: the `image` cell of the row with an index, "" or None for an empty one; `KeyError` where there is no
            such row.

    Raises:
        DataError: a row that is named does not exist, has no picture, or is reached again.
    """
    passed: list[str] = []
    owner = index
    while True:
        cell = _image_cell(owner, image_of, named_by=passed[-1] if passed else None)
        if len(cell) > LONGEST_REFERENCE:
            return SharedImage(owner, cell)
        if not cell and not passed:
            return None
        passed.append(owner)
        owner = cell
        if owner in passed or len(passed) > _LONGEST_CHAIN:
            raise DataError(f"column 'image': rows name each other's picture in a circle: {_chain([*passed, owner])}")


def _image_cell(index: str, image_of: Callable[[str], str | None], *, named_by: str | None) -> str:
    try:
        cell = image_of(index)
    except KeyError:
        if named_by is None:
            raise
        raise DataError(
            f"column 'image': {index!r} of row {named_by!r} is too short for a picture, and no row has that index"
        ) from None
    if not cell and named_by is not None:
        raise DataError(f"column 'image': row {named_by!r} names row {index!r}, which has no picture")
    return cell or ""


def _chain(indexes: list[str]) -> str:
    shown = indexes if len(indexes) <= 5 else [*indexes[:3], "…", indexes[-1]]
    return " → ".join(shown)
