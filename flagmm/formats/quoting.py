"""Quotes of CSV and TSV as RFC 4180 and Python's `csv` have them, on bytes.

A quote opens a cell only as its first byte; elsewhere in an unquoted cell it is text. Inside, a doubled quote is one
quote, and delimiters and line ends are text. What follows a closing quote up to the delimiter is added to the cell.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Iterable, Sequence

_MASK = b"\xff"  # which no UTF-8 text has
_MASK_LINE_ENDS = bytes.maketrans(b"\r\n", _MASK * 2)
_FIRST_WINDOW = 256
_LARGEST_WINDOW = 1 << 20
_LONG_ROW = 10_000  # bytes, from which looking for each delimiter beats splitting
_SHORT_ROWS = 1000  # bytes of a row on average, up to which `csv` is faster
_LINE_ENDS = b"\r\n"
_BYTES = "latin-1"  # a character for each byte


class UnclosedQuoteError(ValueError):
    """A quoted cell does not end."""

    def __init__(self, cell: int, position: int) -> None:
        super().__init__(f"the quote that opens cell {cell} is never closed")
        self.cell = cell
        """Number of the cell in its row, from 0."""
        self.position = position
        """Of the opening quote in the row."""


def lone_quote(data: bytes, begin: int) -> int:
    """Position of the first quote at or after `begin` that is no half of a doubled one; -1 where there is none.

    A quote as the last byte of `data` counts as one, though the other half may follow.
    """
    begin = data.find(b'"', begin)
    if begin == -1 or not data.startswith(b'""', begin):
        return begin
    width = _FIRST_WINDOW
    while begin < len(data):
        window = data[begin : begin + width].replace(b'""', b"  ")
        found = window.find(b'"')
        if found == -1:
            begin += width
        elif found + 1 < width or begin + width >= len(data):
            return begin + found
        else:
            begin += found  # its other half may stand in the next window
        width = min(width * 4, _LARGEST_WINDOW)
    return -1


@functools.cache
def opening_quote(delimiter: bytes) -> re.Pattern[bytes]:
    """Finds quotes that open a cell; where one is the first byte of the searched, what was before it decides."""
    return re.compile(rb'"(?<=[\r\n%b]")' % re.escape(delimiter))


@functools.cache
def _lone_border(delimiter: bytes) -> re.Pattern[bytes]:
    """Finds a quote between two borders of cells, as it is left where a quoted cell's text is taken out."""
    return re.compile(rb'"(?<=[\r\n%b]")(?=[\r\n%b]|\Z)' % (re.escape(delimiter), re.escape(delimiter)))


def mask_line_ends(data: bytes, delimiter: bytes) -> bytes | None:
    """`data`, which starts with a row, so that no line end of a quoted cell looks like one.

    What is returned has the same length; it is `data` itself where nothing had to be masked. None where a quote stands
    in an odd place, or `data` is no UTF-8: then only a look at each quote helps.
    """
    if b'"' not in data or not (data[:1] == b'"' or opening_quote(delimiter).search(data)):
        return data
    if _MASK in data:
        return None
    pieces = data.replace(b'""', _MASK * 2).split(b'"')  # by turns outside and inside of quoted cells
    ends_inside = len(pieces) % 2 == 0
    outside = pieces[::2] + [b"\n"] * ends_inside
    borders = b"\n" + b'"'.join(outside).replace(_MASK, b"")
    if len(_lone_border(delimiter).findall(borders)) != len(outside) - 1:
        return None
    spread = [number for number in range(1, len(pieces), 2) if b"\n" in pieces[number] or b"\r" in pieces[number]]
    for number in spread:
        pieces[number] = pieces[number].translate(_MASK_LINE_ENDS)
    return b'"'.join(pieces) if spread else data


def split_cells(row: bytes, delimiter: bytes) -> list[bytes]:
    """The cells of one row, quotes resolved; line ends that trail the row are none of its cells.

    Raises:
        UnclosedQuoteError: a quoted cell has no end.
    """
    row_end = len(row)
    while row_end and row[row_end - 1] in _LINE_ENDS:
        row_end -= 1
    if len(row) < _LONG_ROW and b'"' not in row:
        return row[:row_end].split(delimiter)
    cells: list[bytes] = []
    position = 0
    while True:
        text = b""
        if row.startswith(b'"', position):
            close = lone_quote(row, position + 1)
            if close == -1:
                raise UnclosedQuoteError(len(cells), position)
            text = row[position + 1 : close].replace(b'""', b'"')
            position = close + 1
        end = row.find(delimiter, position, row_end)
        rest = row[position : row_end if end == -1 else end]
        cells.append(text + rest if text and rest else text or rest)
        if end == -1:
            return cells
        position = end + 1


def split_rows(rows: Sequence[bytes], delimiter: bytes) -> Iterable[list[bytes]] | None:
    """The cells of each row, as `split_cells` gives them; several times as fast for many short rows.

    Rows are not blank. None where that takes a look at each row: some are long, or a quote is never closed.
    """
    together = b"".join(rows)
    if len(together) > _SHORT_ROWS * len(rows):
        return None
    if b'"' not in together:
        return (row.rstrip(_LINE_ENDS).split(delimiter) for row in rows)
    texts = [row.rstrip(_LINE_ENDS).decode(_BYTES) for row in rows]
    try:
        found = list(csv.reader([*texts, ""], delimiter=delimiter.decode(_BYTES)))
    except csv.Error:  # a NUL, or a cell beyond its limit
        return None
    if len(found) != len(texts) + 1 or found[-1]:  # a quote that is not closed joins rows
        return None
    return ([cell.encode(_BYTES) for cell in row] for row in found[:-1])
