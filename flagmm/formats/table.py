"""Tables of questions: JSON Lines, CSV, TSV and Parquet files behind one interface, read a row at a time.

Memory does not grow with the cells of a file: opening it finds where the rows are, and a row is read when it is asked
for. A row that is wrong is a `DataError` of that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from flagmm.errors import DataError
from flagmm.formats.delimited_table import DelimitedTable
from flagmm.formats.json_table import JsonLinesTable
from flagmm.formats.parquet_table import ParquetTable


class Table(Protocol):
    """Rows of named cells; safe to read from several threads."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The header; of JSON Lines the keys of the first row that is right."""

    def __len__(self) -> int:
        """How many rows; a header is none."""

    def row(self, number: int) -> dict[str, Any]:
        """The cells of row `number`, from 0.

        Raises:
            DataError: the row is wrong; names the file, the line, and the column where it is known.
            IndexError: there is no such row.
        """

    def where(self, number: int) -> str:
        """`path:line` with the line, from 1, on which the row starts; of Parquet `path: row number`."""

    def cells(self, column: str) -> Iterator[Any]:
        """One column of all rows; None where a row is wrong or has no such cell."""


_OPENERS: dict[str, Callable[[Path], Table]] = {
    ".jsonl": JsonLinesTable,
    ".csv": lambda path: DelimitedTable(path, b","),
    ".tsv": lambda path: DelimitedTable(path, b"\t"),
    ".parquet": ParquetTable,
}
SUFFIXES = tuple(_OPENERS)
"""Suffixes of tables in a folder, in the order in which they are looked for."""


def open_table(path: Path) -> Table:
    """The table in a file, whose suffix tells the format; `.json` is taken for JSON Lines.

    Raises:
        DataError: the file cannot be read, or has another suffix.
    """
    suffix = path.suffix.lower()
    opener = _OPENERS.get(".jsonl" if suffix == ".json" else suffix)
    if opener is None:
        raise DataError(f"{path}: unknown kind of table; expected a file named {_listed(SUFFIXES)}")
    return opener(path)


def find_table(folder_or_file: Path, subset: str, split: str) -> Path:
    """The file of a subset: `<subset>_<split>` or `<subset>` in a folder; a file is its own answer.

    Raises:
        DataError: there is none; tells what was looked for and what is there.
    """
    place = folder_or_file.expanduser()
    if place.is_file():
        return place
    names = [f"{stem}{suffix}" for suffix in SUFFIXES for stem in (f"{subset}_{split}", subset)]
    for name in names:
        if (place / name).is_file():
            return place / name
    available = _listed([path.name for path in _tables(place)]) or "no table"
    raise DataError(f"{place}: no file for the subset {subset!r}; looked for {_listed(names)}; found {available}")


def list_subsets(folder_or_file: Path) -> list[str]:
    """The stems of the tables in a folder, sorted; of a file its own.

    Raises:
        DataError: there is no such folder.
    """
    place = folder_or_file.expanduser()
    if place.is_file():
        return [place.stem]
    return sorted({path.stem for path in _tables(place)})


def _tables(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    except OSError as error:
        raise DataError(f"{folder}: {error.strerror or error}") from None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
