"""Rows with large pictures, kept in memory without them, so that only decoding reads the pictures again."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from flagmm.dataset.tsv.image_cell import HEAD, Note, size_of
from flagmm.dataset.tsv.packed_texts import PackedTexts

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
    """The rows by number.

    Attributes:
        texts: the cells of each row, the picture cut short; nothing where the row is not kept.
        sizes: bytes of each row's picture; see `size_of`.
    """

    def __init__(self, place: int, texts: PackedTexts, sizes: array[int]) -> None:
        """`place` is the number of the column with pictures."""
        self._place = place
        self.texts = texts
        self.sizes = sizes

    def append(self, cells: Sequence[bytes]) -> None:
        """Take the next row; it is kept if its picture is large and the other cells are not."""
        image = cells[self._place] if self._place < len(cells) else b""
        light = self._without(image, cells) if len(image) >= _LARGE else b""
        self.texts.append(light)
        self.sizes.append(size_of(image) if light else 0)

    def get(self, row: int) -> LightRow | None:
        """The row, if it is kept and its cells are sound; what is wrong with it is told by reading all of it."""
        joined = self.texts[row] if row < len(self.texts) else b""
        if not joined:
            return None
        try:
            cells = joined.decode("utf-8").split(_BETWEEN.decode())
        except UnicodeDecodeError:
            return None
        note = Note(cells[self._place], self.sizes[row])
        cells[self._place] = ""
        return LightRow(cells, note)

    def _without(self, image: bytes, cells: Sequence[bytes]) -> bytes:
        joined = _BETWEEN.join([*cells[: self._place], image[:HEAD], *cells[self._place + 1 :]])
        is_fit = len(joined) <= len(image) and joined.count(_BETWEEN) < len(cells)
        return joined if is_fit and len(self.texts.data) + len(joined) <= _MOST_KEPT else b""
