"""Text as a cell of an xlsx sheet holds it: what XML cannot hold goes as `_xHHHH_`, and a cell has a longest length."""

from __future__ import annotations

import re

LONGEST_CELL = 32_767
"""UTF-16 units of one cell; spreadsheets refuse longer ones, and libraries cut them without a word."""

CUT_COLUMN = "cut_cells"
"""Column that names the cells of its row which hold only the beginning of a text that is too long."""

_UNHOLDABLE = r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]"  # also \r, which XML readers turn into \n
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# An underscore that would be taken for the beginning of an escape, also of one that ends with an escape to come.
_TO_ESCAPE = re.compile(rf"_(?=x[0-9A-Fa-f]{{4}}(?:_|{_UNHOLDABLE}))|{_UNHOLDABLE}")


def escape_cell(text: str) -> str:
    r"""The text with what XML cannot hold in escapes.

    >>> escape_cell("bell\x07, _x0041_")
    'bell_x0007_, _x005F_x0041_'
    """
    return _TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def unescape_cell(text: str) -> str:
    """The text that `escape_cell`, or a spreadsheet, wrote so."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def cell_length(text: str) -> int:
    """How long a spreadsheet takes the text for."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_cell(text: str, note: str) -> str:
    """The beginning of a text that is too long, escaped, with a note after it; the whole fits into a cell."""
    room = LONGEST_CELL - cell_length(note)
    kept = text[:room]  # escapes and characters of two units make it longer again
    while cell_length(escape_cell(kept)) > room:
        surplus = cell_length(escape_cell(kept)) - room
        kept = kept[: -max(1, surplus // 7)]
    return escape_cell(kept) + note
