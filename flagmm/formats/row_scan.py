"""Find where the rows of a text table start, in one pass and without holding the file.

A row ends at LF, CR LF or CR; in a table with quotes, only outside of quoted cells. Blank rows are left out.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import accumulate

from flagmm.formats.quoting import lone_quote, mask_line_ends, opening_quote
from flagmm.formats.row_index import RowIndex
from flagmm.formats.text_file import TextFile

_CHUNK = 1 << 20
_HEAD = 64
_STRIDE = 61  # bytes; a prime, as rows that are alike may have 64
_SPARSE = 512  # bytes between two quotes or line ends, from which looking at each beats taking all at once
_HOPS = 16
_ONE_MORE = (1).__add__
_LINE_END = re.compile(rb"\r\n?|\n")
_LONE_CR = re.compile(rb"\r(?!\n)")
_CR, _LF, _QUOTE, _SPACE = b'\r\n" '


def index_lines(file: TextFile, *, chunk_size: int = _CHUNK) -> RowIndex:
    """Every line with more than white space on it is a row."""
    return _LineScan(file, chunk_size).index()


def index_quoted_rows(file: TextFile, delimiter: bytes, *, chunk_size: int = _CHUNK) -> RowIndex:
    """Every row of a CSV or TSV, the header too.

    A quote that is never closed, or is closed lines later in the midst of a word, spoils the line it stands on and no
    more: that line ends a row, which `split_cells` will refuse, and the next line starts another.
    """
    return _QuotedScan(file, delimiter, chunk_size).index()


class _LineScan:
    """One pass over a file of one row a line; ask for its index once."""

    _blanks = b" \t\r\n"

    def __init__(self, file: TextFile, chunk_size: int) -> None:
        self._file = file
        self._chunk_size = chunk_size
        self._starts = array("Q")
        self._lines = array("Q")
        self._start = file.start  # of the present row
        self._start_line = 1
        self._line = 1
        self._base = file.start  # where the present chunk stands in the file
        self._chunk = b""
        self._lone_cr = False  # whether the chunk has a CR without LF
        self._sparse = False  # whether the chunk has few quotes and line ends

    def index(self) -> RowIndex:
        """The rows, which are found only when the index is asked for them."""
        return RowIndex(self._starts, self._lines, self._file.size, growth=self._run())

    def _run(self) -> Iterator[None]:
        position = self._file.start
        while position < self._file.size:
            self._load(position)
            position = self._scan_chunk()
            yield
        if self._start < self._file.size and not self._is_blank(self._file.size):
            self._add_row()

    def _load(self, position: int) -> None:
        length = min(self._chunk_size, self._file.size - position)
        chunk = self._file.read(position, length)
        if chunk[-1] == _CR and position + length < self._file.size:  # CR LF stays in one chunk
            following = self._file.read(position + length, 1)
            chunk += following if following == b"\n" else b""
        self._base, self._chunk = position, chunk
        self._lone_cr = _has_lone_cr(chunk)
        sample = chunk[::_STRIDE]
        self._sparse = (sample.count(b"\n") + sample.count(b'"') + 1) * _SPARSE < len(sample)

    def _scan_chunk(self) -> int:
        """Find the rows that end in the chunk; returns the position in the file to go on from."""
        if not self._sparse and self._add_whole_rows(self._chunk):
            return self._start
        self._end_rows(0, len(self._chunk))
        return self._after_chunk()

    def _after_chunk(self) -> int:
        """Where the next chunk starts: where this one ends, or with a row, so that all rows can be taken at once."""
        end = self._base + len(self._chunk)
        is_near = self._start > self._base and end - self._start < self._chunk_size // 4 and end < self._file.size
        return self._start if is_near and not self._sparse else end

    def _add_whole_rows(self, masked: bytes) -> bool:
        """Add all rows that the chunk holds whole, at once; False where it is not made of plain rows.

        `masked` is the chunk without the line ends that end no row.
        """
        end = masked.rfind(b"\n")
        if self._start != self._base or end == -1 or _has_lone_cr(masked):
            return False
        rows = masked[:end].split(b"\n")
        if min(rows) < b"!" and not all(row.strip(self._blanks) for row in rows):
            return False
        lengths = map(_ONE_MORE, map(len, rows))
        starts = array("Q", accumulate(lengths, initial=self._base))
        self._start = starts.pop()
        self._starts.extend(starts)
        self._add_lines(starts, is_masked=masked is not self._chunk)
        return True

    def _add_lines(self, starts: array[int], *, is_masked: bool) -> None:
        """Add the lines of rows of the chunk that begin at `starts`, and go on to the next row's."""
        if not is_masked:
            self._lines.extend(range(self._line, self._line + len(starts)))
            self._line += len(starts)
        else:
            bounds = [position - self._base for position in (*starts, self._start)]
            lines = array("Q", accumulate(map(self._count_line_ends, bounds, bounds[1:]), initial=self._line))
            self._line = lines.pop()
            self._lines.extend(lines)
        self._start_line = self._line

    def _count_line_ends(self, begin: int, end: int) -> int:
        line_feeds = self._chunk.count(b"\n", begin, end)
        if not self._lone_cr:
            return line_feeds
        return line_feeds + self._chunk.count(b"\r", begin, end) - self._chunk.count(b"\r\n", begin, end)

    def _end_rows(self, begin: int, end: int) -> None:
        """Every line end in this part of the chunk ends a row."""
        chunk, base, start = self._chunk, self._base, self._start
        for after in _after_line_ends(chunk, begin, end, lone_cr=self._lone_cr):
            first = chunk[start - base] if start >= base else _SPACE
            if first > _SPACE or not self._is_blank(base + after):
                self._add_row()
            self._line += 1
            self._start = start = base + after
            self._start_line = self._line

    def _is_blank(self, end: int) -> bool:
        """Whether nothing stands between the row's start and `end`."""
        head = self._file.read(self._start, min(end - self._start, _HEAD))
        if head.strip(self._blanks) or self._start + len(head) == end:
            return not head.strip(self._blanks)
        return not self._file.read(self._start, end - self._start).strip(self._blanks)

    def _add_row(self) -> None:
        self._starts.append(self._start)
        self._lines.append(self._start_line)


class _QuotedScan(_LineScan):
    """One pass over a CSV or TSV, where line ends inside of quoted cells end no row."""

    _blanks = b"\r\n"

    def __init__(self, file: TextFile, delimiter: bytes, chunk_size: int) -> None:
        super().__init__(file, chunk_size)
        self._delimiter = delimiter
        self._opening = opening_quote(delimiter)
        self._before_opening = b"\r\n" + delimiter
        self._last = _LF  # the byte before the chunk
        self._quoted = False  # whether the scan is inside a quoted cell
        self._half = False  # whether the last chunk ended with a quote that closes the cell or is half of a pair
        self._opened = self._opened_line = 0  # where the quoted cell starts

    def _scan_chunk(self) -> int:
        if not self._sparse and self._start == self._base:
            masked = mask_line_ends(self._chunk, self._delimiter)
            if masked is not None and self._add_whole_rows(masked):
                return self._start
        position: int | None = 0
        while position is not None and position < len(self._chunk):
            position = self._scan_quoted(position) if self._quoted else self._scan_plain(position)
        end = self._base + len(self._chunk)
        is_open = self._quoted and not self._half and end >= self._file.size
        if position is None or is_open:
            return self._give_up_cell()
        self._last = self._chunk[-1]
        if self._quoted:
            return end
        following = self._after_chunk()
        if following == self._start:
            self._line, self._last = self._start_line, _LF
        return following

    def _scan_plain(self, position: int) -> int:
        """Pass rows up to the next quote that opens a cell; returns the position after it."""
        quote = self._find_opening(position)
        end = len(self._chunk) if quote == -1 else quote
        self._end_rows(position, end)
        if quote == -1:
            return end
        self._quoted = True
        self._opened, self._opened_line = self._base + quote, self._line
        return quote + 1

    def _find_opening(self, position: int) -> int:
        if position == 0 and self._chunk[0] == _QUOTE and self._last in self._before_opening:
            return 0
        for _ in range(_HOPS):
            position = self._chunk.find(b'"', position)
            if position == -1 or (position and self._chunk[position - 1] in self._before_opening):
                return position
            position += 1
        found = self._opening.search(self._chunk, position)  # quotes in the text are many: 20 times faster
        return found.start() if found else -1

    def _scan_quoted(self, position: int) -> int | None:
        """Pass the text of a quoted cell; returns the position after it, None where the quote was no good one."""
        if self._half:
            self._half = False
            if self._chunk[position] != _QUOTE:
                return self._close_cell(position)
            position += 1
        close = lone_quote(self._chunk, position)
        end = len(self._chunk) if close == -1 else close
        self._line += self._count_line_ends(position, end)
        if close == -1:
            return end
        if close + 1 == len(self._chunk):
            self._half = True
            return close + 1
        return self._close_cell(close + 1)

    def _close_cell(self, after: int) -> int | None:
        """The cell ends before `after`; one of several lines that a word follows was not meant to be one."""
        if self._line > self._opened_line and self._chunk[after] not in self._before_opening:
            return None
        self._quoted = False
        return after

    def _give_up_cell(self) -> int:
        """End the row with the line on which the cell was opened; returns where the next line starts."""
        self._add_row()
        self._start = self._after_line(self._opened)
        self._line = self._start_line = self._opened_line + 1
        self._quoted = self._half = False
        self._last = _LF
        return self._start

    def _after_line(self, position: int) -> int:
        while position < self._file.size:
            self._load(position)
            found = _LINE_END.search(self._chunk)
            if found:
                return position + found.end()
            position += len(self._chunk)
        return position


def _has_lone_cr(text: bytes) -> bool:
    return b"\r" in text and _LONE_CR.search(text) is not None


def _after_line_ends(chunk: bytes, begin: int, end: int, *, lone_cr: bool) -> Iterator[int]:
    """Positions after the line ends of a part of a chunk; LF alone is ten times faster to find."""
    if lone_cr:
        yield from (found.end() for found in _LINE_END.finditer(chunk, begin, end))
        return
    found = chunk.find(b"\n", begin, end)
    while found != -1:
        yield found + 1
        found = chunk.find(b"\n", found + 1, end)
