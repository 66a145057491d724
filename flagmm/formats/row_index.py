"""Where each row of a text table stands in its file, and its bytes."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator

from flagmm.formats.text_file import TextFile

_BLOCK = 1 << 20


class RowIndex:
    """The first byte and the line of every row, 16 bytes a row.

    A row reaches to the next one's start, so line ends and blank lines trail it.
    """

    def __init__(self, starts: array[int], lines: array[int], end: int) -> None:
        self._starts = starts
        self._lines = lines
        self._end = end

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> int:
        """The line that a row starts on, from 1."""
        return self._lines[number]

    def read(self, file: TextFile, number: int) -> bytes:
        """The bytes of one row."""
        start = self._starts[number]
        return file.read(start, self._end_of(number) - start)

    def read_all(self, file: TextFile, first: int) -> Iterator[bytes]:
        """The bytes of row `first` and all after it; rows that are small are read many at a time."""
        number = first
        while number < len(self):
            base = self._starts[number]
            following = max(number + 1, bisect_right(self._starts, base + _BLOCK) - 1)
            block = file.read(base, self._end_of(following - 1) - base)
            for row in range(number, following):
                yield block[self._starts[row] - base : self._end_of(row) - base]
            number = following

    def _end_of(self, number: int) -> int:
        return self._starts[number + 1] if number + 1 < len(self._starts) else self._end
