"""Annotations in little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from flagmm.lazy_sequence import LazySequence
from flagmm.packed import PackedValues
from flagmm.types import Annotation


class CompactAnnotations(LazySequence[Annotation]):
    """A sequence of annotations that are packed; each look makes a new dict.

    Raises:
        ValueError: a value is of no built-in type.
    """

    def __init__(self, annotations: Iterable[Annotation], *, common: Annotation) -> None:
        """Take the annotations, and what every one of them has besides."""
        self._common = common
        self._packed = PackedValues()
        self._packed.extend(map(self._own_part, annotations))

    def __len__(self) -> int:
        return len(self._packed)

    def at(self, number: int) -> Annotation:
        return self._completed(self._packed[number])

    def __iter__(self) -> Iterator[Annotation]:
        return map(self._completed, self._packed)

    def _own_part(self, annotation: Annotation) -> Annotation:
        if self._common.keys().isdisjoint(annotation):
            return annotation
        return {key: value for key, value in annotation.items() if key not in self._common}

    def _completed(self, annotation: dict[str, Any]) -> Annotation:
        annotation.update(self._common)
        return annotation


class CompactById(Mapping[str, Annotation]):
    """The same by question id; as long as they are looked up in their order, it takes no index to find them."""

    def __init__(self, annotations: CompactAnnotations) -> None:
        self._annotations = annotations
        self._next = 0
        self._places: dict[str, int] | None = None

    def __getitem__(self, question_id: str) -> Annotation:
        if self._places is None:
            if self._annotations:
                annotation = self._annotations[self._next]
                self._next = (self._next + 1) % len(self._annotations)
                if str(annotation["question_id"]) == question_id:
                    return annotation
            self._places = {each: place for place, each in enumerate(self)}
        return self._annotations[self._places[question_id]]

    def __iter__(self) -> Iterator[str]:
        return (str(annotation["question_id"]) for annotation in self._annotations)

    def __len__(self) -> int:
        return len(self._annotations)


class Annotations(Mapping[str, Annotation]):
    """The annotations of a data set by question id, made when they are asked for.

    Args:
        places: question id -> index of the item.
        make: index -> annotation.
    """

    def __init__(self, places: Mapping[str, int], make: Callable[[int], Annotation]) -> None:
        self._places = places
        self._make = make

    def __getitem__(self, question_id: str) -> Annotation:
        return self._make(self._places[question_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, question_id: object) -> bool:
        return question_id in self._places
