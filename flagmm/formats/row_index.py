"""Where each row of a text table stands in its file, and its bytes."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from flagmm.formats.text_file import TextFile

_BLOCK = 1 << 20
_DONE = object()


class RowIndex:
    """The first byte and the line of every row, 16 bytes a row.

    A row reaches to the next one's start, so line ends and blank lines trail it. Rows may be found only while they are
    read; until all are, one thread alone may use the index.

    Attributes:
        starts: the position of each row's first byte.
        lines: the line, from 1, that each row starts on.
        end: where the last row ends.
    """

    def __init__(
        self, starts: array[int], lines: array[int], end: int, *, growth: Iterator[object] | None = None
    ) -> None:
        """`growth` adds rows that are whole to both arrays, some at each step; without it they hold all."""
        self.starts = starts
        self.lines = lines
        self.end = end
        self._growth = growth

    def __len__(self) -> int:
        self.complete()
        return len(self.starts)

    def complete(self) -> None:
        """Find all rows that are not found yet."""
        while self._grow():
            pass

    def has(self, number: int) -> bool:
        """Whether there is a row with this number, from 0; rows after it need not be found for that."""
        while number >= len(self.starts) and self._grow():
            pass
        return number < len(self.starts)

    def line(self, number: int) -> int:
        """The line that a row starts on, from 1."""
        return self.lines[number]

    def read(self, file: TextFile, number: int) -> bytes:
        """The bytes of one row."""
        start = self.starts[number]
        return file.read(start, self._end_of(number) - start)

    def read_all(self, file: TextFile, first: int) -> Iterator[bytes]:
        """The bytes of row `first` and all after it; rows that are small are read many at a time."""
        for rows in self.read_blocks(file, first):
            yield from rows

    def read_blocks(self, file: TextFile, first: int) -> Iterator[list[bytes]]:
        """The same in lists of rows: one that is large, or many that are small."""
        number = first
        while self.has(number):
            base = self.starts[number]
            end_of_first = self._end_of(number)  # which may find more rows
            following = max(number + 1, bisect_right(self.starts, base + _BLOCK, number) - 1)
            bounds = [start - base for start in self.starts[number:following]]
            bounds.append((end_of_first if following == number + 1 else self.starts[following]) - base)
            block = file.read(base, bounds[-1])
            yield [block[begin:end] for begin, end in pairwise(bounds)]
            number = following

    def _end_of(self, number: int) -> int:
        return self.starts[number + 1] if self.has(number + 1) else self.end

    def _grow(self) -> bool:
        """Take a step, if one is left."""
        if self._growth is None:
            return False
        if next(self._growth, _DONE) is _DONE:
            self._growth = None
        return self._growth is not None
