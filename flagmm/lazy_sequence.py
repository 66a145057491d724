"""Sequences whose items are made when they are looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Item = TypeVar("Item")


class LazySequence(Sequence[Item]):
    """Write `__len__` and `at`; a slice is a list of the items."""

    @abstractmethod
    def at(self, number: int) -> Item:
        """The item with this number, which is not below 0 and not beyond the last."""

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self.at(number) for number in range(*index.indices(len(self)))]
        return self.at(range(len(self))[index])
