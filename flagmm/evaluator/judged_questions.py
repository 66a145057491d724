"""The judged questions of a run: in memory is only what most numbers are made of, the rest is read when asked for."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from operator import attrgetter
from typing import Any, NamedTuple

from flagmm.evaluator.answers import Answer
from flagmm.evaluator.tallies import VerdictTally
from flagmm.evaluator.verdict import Judged, Verdict, Verdicts
from flagmm.lazy_sequence import LazySequence
from flagmm.packed import PackedValues, is_plain

_MOST_SHARED = 1024
_SCORABLE, _COUNTS = 1, 2


class JudgedQuestions(LazySequence[Judged]):
    """Questions with their verdicts; each look makes a new object that reads its answer when that is asked for.

    Args:
        answers: what the verdicts are on, in the same order.
        fields: annotation fields whose values are kept at hand, as to group by them.
    """

    def __init__(self, answers: Sequence[Answer], fields: Iterable[str] = ()) -> None:
        self.answers = answers
        self.verdicts = _VerdictStore()
        self.scores = array("d")
        self.marks = bytearray()
        self._fields: dict[str, list[Any]] = {field: [] for field in fields}
        self._texts: dict[str, str] = {}
        self._chosen: Sequence[int] | None = None

    def extend(self, items: Collection[Judged]) -> None:
        """Add the verdicts on the next answers."""
        self._extend(items)
        for field, values in self._fields.items():
            for item in items:
                value = item.answer.annotation.get(field)
                values.append(self._texts.setdefault(value, value) if isinstance(value, str) else value)

    def _extend(self, items: Iterable[Judged]) -> None:
        for item in items:
            outcome = self.verdicts.append(item)
            self.scores.append(outcome.score)
            self.marks.append(outcome.mark)

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, number: int) -> Judged:
        return _KeptJudged(self, self._numbers[number])

    def __iter__(self) -> Iterator[Judged]:
        return (_KeptJudged(self, number) for number in self._numbers)

    @property
    def _numbers(self) -> Sequence[int]:
        return range(len(self.scores)) if self._chosen is None else self._chosen

    def counted_scores(self) -> list[float]:
        """The scores of the questions that count."""
        return [self.scores[number] for number in self._numbers if self.marks[number] & _COUNTS]

    def values_of(self, field: str) -> Iterable[Any]:
        """The value of an annotation field for each question; None where it has none."""
        if field not in self._fields:
            return (item.answer.annotation.get(field) for item in self)
        values = self._fields[field]
        return values if self._chosen is None else [values[number] for number in self._chosen]

    def tally(self) -> VerdictTally:
        """The counts of all verdicts."""
        return self.verdicts.tally() if self._chosen is None else VerdictTally(self)

    def unscorable(self) -> Iterator[Judged]:
        """The questions whose replies cannot be scored."""
        return (_KeptJudged(self, number) for number in self._numbers if not self.marks[number] & _SCORABLE)

    def chosen(self, places: Iterable[int]) -> JudgedQuestions:
        """Some of the questions, by their places among these."""
        numbers = self._numbers
        part = copy(self)
        part._chosen = array("q", (numbers[place] for place in places))
        return part

    def with_verdicts(self, changed: Mapping[int, Verdicts]) -> JudgedQuestions:
        """As the function; only of all questions of a run."""
        other = JudgedQuestions(self.answers)
        other._fields = self._fields
        other._extend(
            item.with_verdicts(changed[number]) if number in changed else item for number, item in enumerate(self)
        )
        return other


def with_verdicts(items: Sequence[Judged], changed: Mapping[int, Verdicts]) -> Sequence[Judged]:
    """The questions, some of them, by their places, with other verdicts."""
    if isinstance(items, JudgedQuestions):
        return items.with_verdicts(changed)
    return [item.with_verdicts(changed[place]) if place in changed else item for place, item in enumerate(items)]


class _KeptJudged(Judged):
    """A question of JudgedQuestions."""

    _questions: JudgedQuestions
    _number: int
    _answer: Answer | None

    def __init__(self, questions: JudgedQuestions, number: int) -> None:
        self.__dict__.update(_questions=questions, _number=number, _answer=None)

    @property
    def answer(self) -> Answer:
        found = self._answer
        if found is None:
            found = self.__dict__["_answer"] = self._questions.answers[self._number]
        return found

    @property
    def verdicts(self) -> Verdicts:
        return self._questions.verdicts[self._number]

    @property
    def scorable(self) -> bool:
        return bool(self._questions.marks[self._number] & _SCORABLE)

    @property
    def score(self) -> float:
        return self._questions.scores[self._number]

    @property
    def counts(self) -> bool:
        return bool(self._questions.marks[self._number] & _COUNTS)


class _Outcome(NamedTuple):
    verdicts: Verdicts
    score: float
    mark: int


class _VerdictStore:
    """The verdicts on each question; equal ones are kept once, and what is seldom equal is packed."""

    def __init__(self) -> None:
        self._shared: list[_Outcome] = []
        self._place_of: dict[Hashable, int] = {}
        self._packed = PackedValues()
        self._tally_of_packed = VerdictTally()
        self._places = array("q")
        """Of each question: its place among the shared, or below 0 the inverse of that among the packed."""

    def append(self, item: Judged) -> _Outcome:
        rows = tuple([None if verdict is None else _row(verdict) for verdict in item.verdicts])
        # Equal numbers of different types are not the same in files.
        key: Hashable = (item.scorable, rows, *[row and tuple(map(type, row)) for row in rows])
        try:
            place = self._place_of.get(key)
        except TypeError:  # it holds a list or a dict
            place = key = None
        if place is None:
            return self._add(item, rows, key)
        self._places.append(place)
        return self._shared[place]

    def _add(self, item: Judged, rows: tuple[Any, ...], key: Hashable | None) -> _Outcome:
        outcome = _Outcome(item.verdicts, item.score, _SCORABLE * item.scorable | _COUNTS * item.counts)
        if is_plain(rows) and (key is None or len(self._place_of) >= _MOST_SHARED):
            self._places.append(~len(self._packed))
            self._packed.append(rows)
            self._tally_of_packed.add(item.verdicts, scorable=item.scorable)
            return outcome
        place = len(self._shared)
        self._shared.append(outcome)
        self._places.append(place)
        if key is not None and len(self._place_of) < _MOST_SHARED:
            self._place_of[key] = place
        return outcome

    def __getitem__(self, number: int) -> Verdicts:
        place = self._places[number]
        if place >= 0:
            return self._shared[place].verdicts
        return tuple([None if row is None else _verdict(*row) for row in self._packed[~place]])

    def tally(self) -> VerdictTally:
        """The counts of all verdicts."""
        tally = deepcopy(self._tally_of_packed)
        for place, times in Counter(place for place in self._places if place >= 0).items():
            outcome = self._shared[place]
            tally.add(outcome.verdicts, scorable=bool(outcome.mark & _SCORABLE), times=times)
        return tally


_fields_of = attrgetter(*Verdict.__slots__)


def _row(verdict: Verdict) -> tuple[Any, ...]:
    row: tuple[Any, ...] = _fields_of(verdict)
    return row


def _verdict(*row: Any) -> Verdict:
    return Verdict(**dict(zip(Verdict.__slots__, row, strict=True)))
