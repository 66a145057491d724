"""CSV and TSV files: every cell is text, and stays what it is."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path

from flagmm.errors import DataError
from flagmm.formats.quoting import UnclosedQuoteError, split_cells, split_rows
from flagmm.formats.row_scan import index_quoted_rows
from flagmm.formats.text_file import TextFile
from flagmm.formats.text_table import TextTable

logger = logging.getLogger(__name__)

_LINE_END = re.compile(rb"\r\n?|\n")


class DelimitedTable(TextTable):
    """A CSV or TSV file, whose first row names the columns.

    "NA", "null" and "007" are text, an empty cell is "", and cells that a short row lacks are None. A row is wrong when
    it has more cells than the header, an unclosed quote, a NUL, or bytes that are no UTF-8. Columns without a name are
    left out.
    """

    def __init__(self, path: Path, delimiter: bytes, *, lazy: bool = False) -> None:
        """Read the header and find the rows; `DataError` where the file or its header cannot be read.

        With `lazy`, rows are found by the first `scan`, in its one pass, unless `index` is set; until then one thread
        alone may use the table.
        """
        file = TextFile(path)
        super().__init__(file, index_quoted_rows(file, delimiter), header=1, lazy=lazy)
        self._delimiter = delimiter
        if not self._index.has(0):
            raise DataError(f"{path}: empty; the first line has to name the columns")
        line = self._index.line(0)
        header = self._split(self._index.read(file, 0), line, names=())
        self._names = tuple(_text(cell, f"{path}:{line}: header, cell {n}") for n, cell in enumerate(header, start=1))
        self._columns = tuple(name for name in self._names if name)
        self._check_names(line)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns

    def scan(self) -> Iterator[list[bytes] | None]:
        """The raw cells of all rows in one pass, in the order of `columns`; a short row has fewer, a wrong one is None.

        Whether cells are UTF-8 without NUL is not looked at.
        """
        number, most = self._header, len(self._names)
        has_nameless = len(self._columns) < most
        for rows in self._index.read_blocks(self._file, self._header):
            for cells in split_rows(rows, self._delimiter) or self._split_each(rows, number):
                if cells is None or len(cells) > most:
                    yield None
                else:
                    yield list(compress(cells, self._names)) if has_nameless else cells
            number += len(rows)

    def _split_each(self, rows: Sequence[bytes], first: int) -> Iterator[list[bytes] | None]:
        for number, raw in enumerate(rows, start=first):
            try:
                yield self._split(raw, self._index.line(number), names=self._names)
            except DataError:
                yield None

    def _check_names(self, line: int) -> None:
        twice = next((name for name in self._columns if self._columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{self.path}:{line}: two columns are named {twice!r}; rename one")
        if not self._columns:
            raise DataError(f"{self.path}:{line}: the header names no column")
        nameless = [str(number) for number, name in enumerate(self._names, start=1) if not name]
        if nameless:
            logger.warning("%s: column %s has no name and is left out", self.path, ", ".join(nameless))

    def _parse(self, raw: bytes, line: int) -> dict[str, str | None]:
        cells = self._split(raw, line, names=self._names)
        if len(cells) > len(self._names):
            raise DataError(
                f"{self.path}:{line}: {len(cells)} cells, but the header names {len(self._names)} columns; "
                "quote cells that hold the delimiter"
            )
        row: dict[str, str | None] = dict.fromkeys(self._columns)
        for name, cell in zip(self._names, cells, strict=False):
            if name:
                row[name] = _text(cell, f"{self.path}:{line}: column {name!r}")
        return row

    def _split(self, raw: bytes, line: int, *, names: tuple[str, ...]) -> list[bytes]:
        try:
            return split_cells(raw, self._delimiter)
        except UnclosedQuoteError as error:
            line += len(_LINE_END.findall(raw, 0, error.position))
            cell = f"column {names[error.cell]!r}" if error.cell < len(names) else f"cell {error.cell + 1}"
            raise DataError(f"{self.path}:{line}: {cell}: the quote that opens this cell is never closed") from None


def _text(cell: bytes, place: str) -> str:
    if b"\0" in cell:
        raise DataError(f"{place}: a NUL at byte {cell.index(0)} of the cell")
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 text: {error.reason} at byte {error.start} of the cell") from None
