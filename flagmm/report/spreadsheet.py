"""Write rows of texts as an xlsx sheet in which every text stays what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from flagmm.errors import OutputError
from flagmm.formats.xlsx_text import CUT_COLUMN, LONGEST_CELL, cell_length, cut_cell, escape_cell
from flagmm.jsonio import AtomicFile

Row = Mapping[str, Any]

MOST_ROWS = 1_048_575
"""Lines of a sheet, without the header."""
_EXACT_DIGITS = 15


def has_long_cell(rows: Sequence[Row]) -> bool:
    """Whether a text is too long for a cell."""
    return any(_is_long(value) for row in rows for value in row.values())


def write_xlsx(path: Path, columns: Sequence[str], rows: Sequence[Row], *, whole: str) -> None:
    """Write the sheet, whole or not at all.

    Texts that begin with `=`, that look like numbers, URLs or errors stay texts; control characters survive. A text
    that is too long for a cell is there with its beginning and a note, and the row says so in `CUT_COLUMN`.

    Args:
        whole: the file that holds long texts whole, for the note.

    Raises:
        OutputError: the sheet has too many rows, or cannot be written.
    """
    if len(rows) > MOST_ROWS:
        raise OutputError(f"{path}: {len(rows)} rows, and a sheet holds {MOST_ROWS}; set PRED_FORMAT=tsv")
    columns = [*columns, CUT_COLUMN] if has_long_cell(rows) and CUT_COLUMN not in columns else list(columns)
    with AtomicFile(path, is_binary=True) as file:
        _save(file, columns, rows, whole)


def _save(file: IO[bytes], columns: Sequence[str], rows: Sequence[Row], whole: str) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    sheet.append([_cell(sheet, name, whole) for name in columns])
    for row in rows:
        long = [name for name in columns if _is_long(row.get(name))]
        shown = {**row, CUT_COLUMN: ", ".join(long)} if long else row
        sheet.append([_cell(sheet, shown.get(name), whole) for name in columns])
    book.save(file)


def _is_long(value: Any) -> bool:
    if not isinstance(value, str) or len(value) * 7 <= LONGEST_CELL:  # 7: an escape
        return False
    return cell_length(escape_cell(value)) > LONGEST_CELL


def _cell(sheet: Any, value: Any, whole: str) -> Any:
    """A cell that holds the value and nothing that a spreadsheet would make of it."""
    from openpyxl.cell import WriteOnlyCell

    if value is None or value == "" or (isinstance(value, int | float) and _is_exact(value)):
        return WriteOnlyCell(sheet, value=None if value == "" else value)
    text = str(value)
    if _is_long(text):
        text = cut_cell(text, f"… [cut here: {len(text)} characters; whole in {whole}]")
    else:
        text = escape_cell(text)
    cell = WriteOnlyCell(sheet, value=text)
    if cell.data_type != "s":
        cell.data_type = "s"
        cell.quotePrefix = True  # stays text when a person edits it
    return cell


def _is_exact(value: float) -> bool:
    """Whether a spreadsheet's numbers hold it as it is."""
    return not isinstance(value, bool) and len(str(value).lstrip("-").replace(".", "")) <= _EXACT_DIGITS
