"""The rows of the first sheet of an xlsx file, every cell as text."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from flagmm.errors import DataError
from flagmm.formats.text_file import check_regular_file
from flagmm.formats.xlsx_text import unescape_cell

Row = dict[str, str | None]


def read_xlsx(path: Path) -> list[Row]:
    """The rows by the names in the first line; an empty cell is None.

    What a program that took text for formulas has stored as such is the text again.

    Raises:
        DataError: no xlsx file, or two columns of one name.
    """
    check_regular_file(path)
    try:
        lines = list(_lines(path))
    except (
        BadZipFile,
        zlib.error,
        NotImplementedError,
        EOFError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ParseError,
        OSError,
    ) as error:
        # An index out of range says nothing to a person.
        reason = "a cell names a text that is not there" if isinstance(error, IndexError) else error
        raise DataError(f"{path}: no xlsx file that can be read: {' '.join(str(reason).split())}") from None
    if not lines:
        raise DataError(f"{path}: empty; the first line has to name the columns")
    header = [_text(cell) for cell in lines[0]]
    named = [name for name in header if name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None or not named:
        raise DataError(f"{path}: {f'two columns are named {twice!r}' if twice else 'the header names no column'}")
    return [_row(header, line) for line in lines[1:]]


def _lines(path: Path) -> Iterator[tuple[Any, ...]]:
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions of the sheet, which mean nothing here
        book = load_workbook(path, read_only=True)
        try:
            if not book.worksheets:
                raise ValueError("it has no sheet")
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # some programs state wrong ones
            yield from (line for line in sheet.iter_rows(values_only=True) if any(cell is not None for cell in line))
        finally:
            book.close()


def _row(header: list[str | None], line: tuple[Any, ...]) -> Row:
    row: Row = {name: None for name in header if name}
    row |= {name: _text(cell) for name, cell in zip(header, line, strict=False) if name}
    return row


def _text(cell: Any) -> str | None:
    if cell is None:
        return None
    formula = getattr(cell, "text", None)  # of an array formula
    text = formula if isinstance(formula, str) else str(cell)
    return unescape_cell(text)
