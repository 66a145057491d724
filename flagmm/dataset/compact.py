"""Annotations in little memory."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from typing import Any, overload

from flagmm.types import Annotation


class CompactAnnotations(Sequence[Annotation]):
    """A sequence that keeps annotations as bytes, in a fifth of the memory; each look makes a new dict.

    Raises:
        ValueError: a value is of no built-in type.
    """

    def __init__(self, annotations: Iterable[Annotation], *, common: Annotation) -> None:
        """Take the annotations, and what every one of them has besides."""
        self._common = common
        own = ({key: value for key, value in item.items() if key not in common} for item in annotations)
        self._packed = list(map(marshal.dumps, own))

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> Annotation: ...

    @overload
    def __getitem__(self, index: slice) -> list[Annotation]: ...

    def __getitem__(self, index: int | slice) -> Annotation | list[Annotation]:
        if isinstance(index, slice):
            return [self._unpacked(packed) for packed in self._packed[index]]
        return self._unpacked(self._packed[index])

    def _unpacked(self, packed: bytes) -> Annotation:
        annotation: dict[str, Any] = marshal.loads(packed)  # made by this process
        annotation.update(self._common)
        return annotation
