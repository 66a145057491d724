"""The item that a reply answers, and what one rule of the choice extractor finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from flagmm.extraction.labels import LabelSet, label_set
from flagmm.extraction.options import OptionTexts, option_texts
from flagmm.metrics.option_labels import option_labels

_LETTERS = tuple(option_labels(26))


class Found(NamedTuple):
    """What a rule sees; no labels means that the reply speaks of an answer there but commits to none."""

    labels: tuple[str, ...]
    rule: str


UNDECIDED = Found((), "no_answer")
INSTRUCTION = Found((), "instruction")
"""The question or its format, repeated: no statement at all."""


@dataclass(frozen=True)
class Item:
    """Labels and option texts of one question, and whether several labels may be right."""

    known: LabelSet
    options: tuple[str, ...]
    multi: bool

    @cached_property
    def texts(self) -> OptionTexts:
        """The option texts; made when first asked for, because most replies name a label."""
        return option_texts(self.options, self.known.labels)

    def found(self, labels: Iterable[str], rule: str) -> Found:
        """Return the labels as a finding; more than one is undecided unless several may be right."""
        distinct = self.known.sorted(labels)
        if not distinct or (len(distinct) > 1 and not self.multi):
            return UNDECIDED
        return Found(distinct, rule)

    def is_instruction(self, labels: tuple[str, ...], *, alternatives: bool) -> bool:
        """Say whether naming these labels repeats the question ("A, B, C or D") rather than answers it."""
        if len(labels) < 3:
            return False
        return alternatives or (not self.multi and len(labels) == len(self.known.rank))


def make_item(options: Sequence[str], labels: Sequence[str] | None, *, multi: bool) -> Item:
    """Return the item with these options."""
    return _cached_item(tuple(map(str, options)), known_labels(options, labels), multi)


@lru_cache(maxsize=1024)
def _cached_item(options: tuple[str, ...], known: LabelSet, multi: bool) -> Item:
    return Item(known, options, multi)


def known_labels(options: Sequence[str], labels: Sequence[str] | None) -> LabelSet:
    """Return the labels that an answer can have; without options and labels any letter may be one."""
    if labels is not None:
        return label_set(tuple(labels))
    return _labels_of_count(len(options)) if options else label_set(_LETTERS, listed=False)


@lru_cache(maxsize=128)
def _labels_of_count(count: int) -> LabelSet:
    return label_set(tuple(option_labels(count)))
