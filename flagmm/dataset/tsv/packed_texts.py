"""Many short texts in one piece of memory, which a file can hold as it is."""

from __future__ import annotations

from array import array
from itertools import pairwise


class PackedTexts:
    """Texts in UTF-8 or bytes that are none, by number.

    Attributes:
        data: all of them, one after another.
        ends: where each one ends in `data`.
    """

    def __init__(self, data: bytearray, ends: array[int]) -> None:
        self.data = data
        self.ends = ends

    @classmethod
    def empty(cls) -> PackedTexts:
        """No texts yet."""
        return cls(bytearray(), array("Q"))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> bytearray:
        return self.data[self.ends[number - 1] if number else 0 : self.ends[number]]

    def decoded(self) -> list[str]:
        """All of them; "" for one that is no UTF-8."""
        if self.data.isascii():
            whole = self.data.decode("ascii")  # much faster than one by one
            return [whole[begin:end] for begin, end in pairwise((0, *self.ends))]
        return [_decoded(self[number]) for number in range(len(self))]

    def append(self, text: bytes) -> None:
        self.data += text
        self.ends.append(len(self.data))


def _decoded(text: bytearray) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return ""
