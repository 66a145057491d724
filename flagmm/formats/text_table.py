"""What tables in text files have in common: rows found by an index, and parsed when they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.formats.row_index import RowIndex
from flagmm.formats.text_file import FileVersion, TextFile


class TextTable(ABC):
    """A table whose rows stand one after another in a text file; safe to read from several threads.

    Attributes:
        path: the file.
    """

    def __init__(self, file: TextFile, index: RowIndex, *, header: int, lazy: bool = False) -> None:
        """`header` is the number of indexed rows that come before the first row of data.

        With `lazy`, rows that are not found yet are found when they are needed, and the table is no thread's but one
        until all are.
        """
        self.path: Path = file.path
        self._file = file
        self._index = index
        self._header = header
        if not lazy:
            index.complete()

    @property
    def version(self) -> FileVersion:
        """Of the file, as it was opened."""
        return self._file.version

    @property
    def index(self) -> RowIndex:
        """Where the rows are, the header's too; it may be replaced by one that an earlier opening found."""
        return self._index

    @index.setter
    def index(self, index: RowIndex) -> None:
        self._index = index

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def _parse(self, raw: bytes, line: int) -> dict[str, Any]:
        """The cells of a row by column; `DataError` with the place where it is wrong."""

    def __len__(self) -> int:
        return len(self._index) - self._header

    def row(self, number: int) -> dict[str, Any]:
        """Row `number`, from 0; `DataError` with file, line and column where it is wrong."""
        position = self._position(number)
        return self._parse(self._index.read(self._file, position), self._index.line(position))

    def where(self, number: int) -> str:
        """File and line where row `number` starts."""
        return f"{self.path}:{self._index.line(self._position(number))}"

    def cells(self, column: str) -> Iterator[Any]:
        """One column of all rows; None where a row is wrong or lacks the column."""
        for position, raw in enumerate(self._index.read_all(self._file, self._header), start=self._header):
            try:
                row = self._parse(raw, self._index.line(position))
            except DataError:
                yield None
            else:
                yield row.get(column)

    def _position(self, number: int) -> int:
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path}: no row {number}, there are {len(self)}")
        return number + self._header
