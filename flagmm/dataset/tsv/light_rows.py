"""Rows with large pictures, kept in memory without them, so that only decoding reads the pictures again."""

from __future__ import annotations

from typing import NamedTuple

from flagmm.dataset.tsv.image_cell import HEAD, Note, size_of

_LARGE = 4096
"""Bytes of a cell, from which skipping it is worth more than keeping the others."""
_MOST_KEPT = 128 << 20
"""Bytes of all rows kept; those beyond it are read from the table."""
_BETWEEN = b"\0"  # which no sound cell has


class LightRow(NamedTuple):
    """One row."""

    cells: list[str]
    """In the order of the columns; the picture's is empty."""
    image: Note


class LightRows:
    """The rows by number; `place` is the number of the column with pictures, None where there is none."""

    def __init__(self, place: int | None) -> None:
        self._place = place
        self._kept: dict[int, bytes] = {}
        self._sizes: dict[int, int] = {}
        self._bytes = 0

    def keep(self, row: int, cells: list[bytes] | None) -> None:
        """Keep a row, if its picture is large and the others are not."""
        if cells is None or self._place is None or self._place >= len(cells) or len(cells[self._place]) < _LARGE:
            return
        image = cells[self._place]
        light = [*cells[: self._place], image[:HEAD], *cells[self._place + 1 :]]
        joined = _BETWEEN.join(light)
        if self._bytes + len(joined) > _MOST_KEPT or len(joined) > len(image) or joined.count(_BETWEEN) >= len(cells):
            return
        self._bytes += len(joined)
        self._kept[row] = joined
        self._sizes[row] = size_of(image)

    def get(self, row: int) -> LightRow | None:
        """The row, if it is kept and its cells are sound; what is wrong with it is told by reading all of it."""
        joined = self._kept.get(row)
        if joined is None or self._place is None:
            return None
        try:
            cells = joined.decode("utf-8").split(_BETWEEN.decode())
        except UnicodeDecodeError:
            return None
        note = Note(cells[self._place], self._sizes[row])
        cells[self._place] = ""
        return LightRow(cells, note)
