"""Parquet files, read a few rows at a time; needs pyarrow, which comes with `datasets`."""

from __future__ import annotations

import math
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flagmm.errors import DataError
from flagmm.formats.text_file import check_regular_file

if TYPE_CHECKING:
    import pyarrow

_BATCH = 32 << 20  # bytes that a batch of rows is meant to take
_KEPT = 2  # batches
_BUFFER = 1 << 20
_LONGEST_REASON = 200  # characters


class _Batch(NamedTuple):
    first: int
    """Number of its first row in the file."""
    end: int
    """Number of the row after its last."""
    rows: pyarrow.RecordBatch

    def has(self, number: int) -> bool:
        return self.first <= number < self.end


class ParquetTable:
    """A Parquet file; pictures and sounds of HuggingFace's come as `{"bytes", "path"}`, not decoded.

    Row groups are read in batches as rows are asked for, in order at best: to go back within a large row group is to
    read it again from its start. NaN is None. Safe to use from several threads.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        """Read the file's footer; `DataError` where it is no Parquet, or names a column twice."""
        import pyarrow

        self.path = path
        self._errors = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
        self._file = self._open()
        try:
            self._columns = tuple(self._file.schema_arrow.names)
        except self._errors as error:
            raise DataError(f"{path}: not readable as Parquet: {_one_line(error)}") from None
        if len(set(self._columns)) < len(self._columns):
            raise DataError(f"{path}: two columns have one name: {', '.join(self._columns)}")
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        if min([0, *(group.num_rows for group in groups)]) < 0:
            raise DataError(f"{path}: not readable as Parquet: a row group of less than no rows")
        self._group_starts: list[int] = [0, *accumulate(group.num_rows for group in groups)]
        self._group_sizes = [group.total_byte_size for group in groups]
        self._lock = threading.Lock()  # one reader of the file, one row of batches
        self._kept: deque[_Batch] = deque(maxlen=_KEPT)
        self._coming: Iterator[_Batch] = iter(())
        self._reached = -1  # the row that `_coming` goes on with

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    def __len__(self) -> int:
        return self._group_starts[-1]

    def where(self, number: int) -> str:
        """File and row, counted from 0."""
        return f"{self.path}: row {number}"

    def row(self, number: int) -> dict[str, Any]:
        """Row `number`, from 0; `DataError` where it cannot be read."""
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path}: no row {number}, there are {len(self)}")
        try:
            with self._lock:
                batch = self._batch_of(number)
            row = batch.rows.slice(number - batch.first, 1).to_pylist()[0]
        except self._errors as error:
            raise DataError(f"{self.where(number)}: {_one_line(error)}") from None
        return {name: _without_nan(value) for name, value in row.items()}

    def cells(self, column: str) -> Iterator[Any]:
        """One column of all rows; None where a cell cannot be read, or there is no such column."""
        if column not in self._columns:
            yield from (None for _ in range(len(self)))
            return
        file = self._open()
        for group, (start, end) in enumerate(zip(self._group_starts, self._group_starts[1:], strict=False)):
            number = start
            try:
                for batch in self._batches(file, group, [column]):
                    for cell in batch.rows.column(batch.rows.schema.names.index(column)):
                        yield self._value(cell)
                        number += 1
            except self._errors:
                pass  # `row` tells why
            yield from (None for _ in range(number, end))

    def _open(self) -> pyarrow.parquet.ParquetFile:
        import pyarrow.parquet

        check_regular_file(self.path)
        try:
            return pyarrow.parquet.ParquetFile(str(self.path), pre_buffer=False, buffer_size=_BUFFER)
        except self._errors as error:
            raise DataError(f"{self.path}: not readable as Parquet: {_one_line(error)}") from None

    def _batch_of(self, number: int) -> _Batch:
        for batch in self._kept:
            if batch.has(number):
                return batch
        group = bisect_right(self._group_starts, number) - 1
        start, reached = self._group_starts[group], self._reached
        self._reached = -1  # until the reading below has worked
        if not start < reached <= number:
            self._coming = self._batches(self._file, group)
        for batch in self._coming:
            self._kept.append(batch)
            if batch.has(number):
                self._reached = batch.end
                return batch
        raise ValueError("the row group has fewer rows than the footer says")

    def _batches(
        self, file: pyarrow.parquet.ParquetFile, group: int, columns: list[str] | None = None
    ) -> Iterator[_Batch]:
        first, end = self._group_starts[group : group + 2]
        row_size = max(1, self._group_sizes[group] // (end - first or 1))
        batch_rows = max(1, min(_BATCH // row_size, end - first))
        for rows in file.iter_batches(batch_rows, row_groups=[group], columns=columns, use_threads=False):
            yield _Batch(first, first + rows.num_rows, rows)
            first += rows.num_rows

    def _value(self, cell: pyarrow.Scalar[Any]) -> Any:
        try:
            return _without_nan(cell.as_py())
        except self._errors:
            return None


def _without_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:_LONGEST_REASON]
