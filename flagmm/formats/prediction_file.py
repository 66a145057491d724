"""Read a file of predictions as VLMEvalKit writes them: `index` and `prediction` among the columns of the table."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.formats.table import open_table
from flagmm.formats.xlsx_table import read_xlsx
from flagmm.formats.xlsx_text import CUT_COLUMN
from flagmm.jsonio import read_json

logger = logging.getLogger(__name__)

SUFFIXES = (".xlsx", ".tsv", ".json")
FAILED = "Failed to obtain answer"
"""What VLMEvalKit's model classes answer in place of a call that failed; more words follow."""

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SavedPrediction:
    """One row of such a file."""

    index: str
    prediction: str
    thinking: str
    question: str | None
    """What the file says that was asked; None where it does not."""

    @property
    def is_failed(self) -> bool:
        return FAILED in self.prediction


def read_predictions(path: Path) -> list[SavedPrediction]:
    """The rows of an xlsx, TSV or JSON file, in its order.

    Raises:
        DataError: the file cannot be read, lacks a column, has an index twice or a row without one, or holds a cell
            that was cut when it was written and whose whole text is not there.
    """
    rows = _read(path)
    columns = dict.fromkeys(name for row in rows[:1] for name in row)
    for name in ("index", "prediction"):
        if name not in columns:
            listed = ", ".join(columns) or "none"
            raise DataError(f"{path}: no column {name!r}, as files of predictions have; the columns are {listed}")
    found: dict[str, SavedPrediction] = {}
    for number, row in enumerate(_with_whole_cells(path, rows), start=1):
        index = _key(row)
        if not index:
            raise DataError(f"{path}: row {number}: no index")
        if index in found:
            raise DataError(f"{path}: row {number}: a second row with the index {index!r}")
        texts = {name: _text(row.get(name)) for name in ("prediction", "thinking")}
        found[index] = SavedPrediction(index=index, question=_text(row.get("question")) or None, **texts)
    if not found:
        raise DataError(f"{path}: no row")
    return list(found.values())


def find_predictions(stem: Path) -> Path | None:
    """The file `<stem>.xlsx`, `.tsv` or `.json`: the one changed last; None where there is none."""
    files = [path for suffix in SUFFIXES if (path := stem.with_name(f"{stem.name}{suffix}")).is_file()]
    return max(files, key=lambda path: path.stat().st_mtime_ns, default=None)


def _read(path: Path) -> Sequence[Row]:
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return read_xlsx(path)
    if suffix == ".json":
        return _read_json(path)
    if suffix == ".tsv":
        table = open_table(path)
        return [table.row(number) for number in range(len(table))]
    raise DataError(f"{path}: expected a file of predictions named {', '.join(SUFFIXES)}")


def _read_json(path: Path) -> Sequence[Row]:
    """A list of rows, or pandas' other way: an object of columns, each a list or an object by row number."""
    values = read_json(path)
    if isinstance(values, Mapping) and values and all(isinstance(item, Mapping | list) for item in values.values()):
        columns = {name: list(item.values()) if isinstance(item, Mapping) else item for name, item in values.items()}
        lengths = {len(cells) for cells in columns.values()}
        if len(lengths) == 1:
            return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if not isinstance(values, list) or not all(isinstance(row, Mapping) for row in values):
        raise DataError(f"{path}: expected a list of rows, each an object")
    return values


def _with_whole_cells(path: Path, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with the texts that were too long for a cell put back from the file written beside."""
    cut = [number for number, row in enumerate(rows) if row.get(CUT_COLUMN)]
    if not cut:
        return rows
    beside = [path.with_suffix(suffix) for suffix in (".tsv", ".json") if path.with_suffix(suffix).is_file()]
    if not beside:
        raise DataError(
            f"{path}: row {cut[0] + 1}: {rows[cut[0]][CUT_COLUMN]}: cut to fit a cell, and {path.with_suffix('.tsv')}, "
            "which holds it whole, is gone; score that file"
        )
    whole = {_key(row): row for row in _read(beside[0])}
    missing = next((number for number in cut if _key(rows[number]) not in whole), None)
    if missing is not None:
        raise DataError(f"{beside[0]}: no row with the index of row {missing + 1} of {path}, whose cell was cut")
    return [whole[_key(row)] if row.get(CUT_COLUMN) else row for row in rows]


def _key(row: Row) -> str:
    return _text(row.get("index")).strip()


def whole_number(index: str) -> str:
    """An index that a program has made a number with a fraction, as it was.

    >>> whole_number("7.0"), whole_number("7.5"), whole_number("a.0")
    ('7', '7.5', 'a.0')
    """
    head, dot, tail = index.partition(".")
    return head if dot and head.isdecimal() and tail and not tail.strip("0") else index


def _text(cell: Any) -> str:
    if cell is None or cell != cell:  # NaN
        return ""
    return cell if isinstance(cell, str) else str(cell)
