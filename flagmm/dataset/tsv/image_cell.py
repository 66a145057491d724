"""An `image` cell of which no more is read than what is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from flagmm.formats.lmu import LONGEST_REFERENCE

HEAD = LONGEST_REFERENCE + 1
"""So many characters tell whether a cell names a row, what kind of picture it is, and whether it is a list."""


class Note(NamedTuple):
    """What is kept of a large cell."""

    head: str
    size: int
    """Bytes of the picture; see `size_of`."""


@dataclass(frozen=True)
class ImageCell:
    """A picture in base64, a Python list of such, or the index of another row."""

    note: Note
    read: Callable[[], str | None]
    """All of the cell."""

    @classmethod
    def of_text(cls, text: str) -> ImageCell:
        """The cell with this text."""
        return cls(Note(text[:HEAD], size_of(text)), lambda: text)

    @classmethod
    def of_note(cls, note: Note, read: Callable[[], str | None]) -> ImageCell:
        """A cell that is read only when it is asked for."""
        return cls(note, read)

    @property
    def head(self) -> str:
        return self.note.head

    @property
    def is_list(self) -> bool:
        return self.head.lstrip().startswith("[")

    @property
    def text(self) -> str:
        """All of the cell; `DataError` where the table was changed meanwhile."""
        return self.read() or ""


def size_of(text: str | bytes) -> int:
    """How many bytes plain base64 holds; -1 where only decoding tells."""
    if len(text) % 4:
        return -1
    end = text[-2:]
    padding = end.count("=") if isinstance(end, str) else end.count(b"=")
    return len(text) // 4 * 3 - padding
