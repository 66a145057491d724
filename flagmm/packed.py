"""A list that needs next to no memory."""

from __future__ import annotations

import logging
import marshal
import os
from array import array
from collections.abc import Iterable, Iterator
from typing import IO, Any

from flagmm.lazy_sequence import LazySequence

logger = logging.getLogger(__name__)

IN_MEMORY = 1 << 20
"""Bytes that are kept in memory before they go to disk."""
_AT_ONCE = 32
"""Values that are made at once, where they are looked at in turn."""
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXT = frozenset({str})


def is_plain(value: Any) -> bool:
    """Whether a value is made of the types of JSON, and tuples."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        return set(map(type, value)) <= _TEXT and is_plain([*value.values()])
    return kind in (list, tuple) and (_SCALARS.issuperset(map(type, value)) or all(map(is_plain, value)))


class PackedValues(LazySequence[Any]):
    """A growing list of values of built-in types, kept as bytes: the last megabyte in memory, the rest on disk.

    The file has no name and is gone with the list. Each look makes a new value. What is no built-in type must not be
    put in: objects that know the buffer protocol, as numpy's numbers do, would come out as bytes.
    """

    def __init__(self) -> None:
        self._ends = array("q")  # of each value, in bytes from the start of the first
        self._recent = bytearray()
        self._on_disk = 0  # bytes, those of `_recent` come after them
        self._file: IO[bytes] | None = None
        self._has_space = True
        self._made: dict[int, Any] = {}  # by number, each of them to be given away once
        self._next = 0

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, value: Any) -> None:
        """Put a value at the end; raises as `extend`."""
        self.extend((value,))

    def extend(self, values: Iterable[Any]) -> None:
        """Put values at the end.

        Raises:
            ValueError: one is of no built-in type, or nested too deeply.
        """
        for value in values:
            self._recent += marshal.dumps(value)
            self._ends.append(self._on_disk + len(self._recent))
            if len(self._recent) >= IN_MEMORY and self._has_space:
                self._move_to_disk()

    def __len__(self) -> int:
        return len(self._ends)

    def at(self, number: int) -> Any:
        if number == self._next:
            self._next += 1
            if number not in self._made:
                self._made = dict(enumerate(self._values(number, number + _AT_ONCE), start=number))
            return self._made.pop(number)
        self._next = number + 1
        return self._values(number, number + 1)[0]

    def __iter__(self) -> Iterator[Any]:
        first = 0
        while first < len(self):
            values = self._values(first, first + _AT_ONCE)
            yield from values
            first += len(values)

    def _values(self, first: int, stop: int) -> list[Any]:
        """Those with these numbers, as far as there are any."""
        start = origin = self._ends[first - 1] if first else 0
        ends = self._ends[first:stop]
        packed, values = self._bytes(start, ends[-1]), []
        for end in ends:
            values.append(marshal.loads(packed[start - origin : end - origin]))  # made by this process
            start = end
        return values

    def _bytes(self, start: int, end: int) -> bytes | bytearray:
        if start >= self._on_disk:
            return self._recent[start - self._on_disk : end - self._on_disk]
        assert self._file is not None
        stored = os.pread(self._file.fileno(), min(end, self._on_disk) - start, start)
        return stored + self._recent[: end - self._on_disk] if end > self._on_disk else stored

    def _move_to_disk(self) -> None:
        import tempfile

        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed in __del__
            self._file.seek(self._on_disk)
            rest = memoryview(self._recent)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._has_space = False
            place = tempfile.gettempdir()
            logger.warning("%s: cannot be written: %s; the data stay in memory", place, error.strerror or error)
            return
        self._on_disk += len(self._recent)
        self._recent = bytearray()
