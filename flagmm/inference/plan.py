"""What is still to be asked: every question whose saved answer does not fit the present request."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from flagmm.dataset.sample import Dataset, Limit, annotations_of, build_sample, indices_in, knows_ids, question_id_at
from flagmm.dataset.sampled import SampledDataset
from flagmm.errors import DataError
from flagmm.inference.store import PredictionStore
from flagmm.lazy_sequence import LazySequence
from flagmm.media.identity import identify, identify_bytes
from flagmm.models.request import request_hash
from flagmm.types import MediaIdentity, Message, Sample, TextPart


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much of each data set is asked."""

    limit: Limit | None = None
    label: str = ""
    """What a partial run is called in results: "try run", "limit 10"."""
    keep_failed: bool = False
    """Leave failed, refused and empty items as they are."""
    ignore_errors: bool = False
    """Ask on where the endpoint turns down one question after the other; `keep_failed` does so, too."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One thing to ask."""

    question_id: str
    inference: int
    sample: Sample | None = None
    known: tuple[MediaIdentity, ...] = ()
    """Identities of the media as of the last answer."""
    error: DataError | None = None
    """Why there is no sample."""


class OpenCalls(LazySequence[tuple[int, int]]):
    """The (index of the question, number of the repetition) pairs of calls, in little memory."""

    def __init__(self, calls: Iterable[tuple[int, int]], *, repeats: int) -> None:
        self._repeats = repeats
        self._numbers = array("q", (index * repeats + inference for index, inference in calls))

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, number: int) -> tuple[int, int]:
        return divmod(self._numbers[number], self._repeats)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return (divmod(number, self._repeats) for number in self._numbers)


class Plan:
    """The calls of one task that no saved answer makes needless.

    Raises:
        DataError: two items have the same id, or the data set is strict and an item cannot be built.

    Attributes:
        count: questions in scope.
        open_calls: those to be made, in order.
        fingerprint: of the model and its settings, as the hashes of requests hold it.
        repeats: calls of each question, saved ones that are not asked for included.
        kept: saved calls of the data set's questions that are not asked for, as a limit or fewer repetitions leave
            them out.
        unfit: those of them whose request is another now.
        is_patient: whether all are made, also where the endpoint turns down one question after the other.
    """

    def __init__(
        self, dataset: Dataset, store: PredictionStore, *, fingerprint: str, repeats: int, scope: Scope
    ) -> None:
        self._dataset = dataset
        self._store = store
        self.fingerprint = fingerprint
        self._repeats = repeats
        self._keep_failed = scope.keep_failed
        self.is_patient = scope.keep_failed or scope.ignore_errors
        self._ids: list[str | None] = [None] * len(dataset)  # by index, of the questions that could be built
        self._known_ids: set[str] = set()
        self._indices = indices_in(dataset, scope.limit)
        self.count = len(self._indices)
        if getattr(dataset, "strict", False):
            for index in self._indices:
                build_sample(dataset, index)
        self._met = 0
        self.open_calls = OpenCalls(self._find_open(), repeats=repeats)
        self.kept = self.unfit = 0
        if len(store) > self._met:
            self._look_beyond()
        self.repeats = max(repeats, store.repeats) if self.kept else repeats

    @property
    def total_calls(self) -> int:
        return self.count * self._repeats

    def calls(self) -> Iterator[Call]:
        """The open calls, each made ready only when its turn comes."""
        for index, group in itertools.groupby(self.open_calls, key=itemgetter(0)):
            sample, error = self._build(index)
            question_id = sample.question_id if sample else question_id_at(self._dataset, index)
            for _, inference in group:
                entry = self._store.get(question_id, inference)
                known = entry.media if entry else ()
                yield Call(question_id=question_id, inference=inference, sample=sample, known=known, error=error)

    def question_ids(self) -> Iterator[str]:
        """The ids of all questions in scope, in order; where answers beyond it are kept, among them those of these."""
        for index in range(len(self._ids)) if self.kept else self._indices:
            question_id = self._ids[index]
            if question_id is not None:
                yield question_id
            elif index in self._in_scope:
                yield question_id_at(self._dataset, index)

    def count_strangers(self) -> int:
        """How many questions have saved answers and are not in the data set."""
        known = annotations_of(self._dataset)
        return sum(question_id not in known for question_id in self._store.question_ids())

    @cached_property
    def _in_scope(self) -> Container[int]:
        return self._indices if isinstance(self._indices, range) else frozenset(self._indices)

    def _look_beyond(self) -> None:
        """Count what is saved of the data set beyond the calls of this run, and does or does not fit it."""
        for index in range(len(self._dataset)):
            asked = self._repeats if index in self._in_scope else 0
            question_id = self._ids[index] or self._id_at(index)
            beyond = [number for number in self._store.repetitions_of(question_id) if number >= asked]
            if beyond:
                sample = self._build(index)[0]
                self._name(index, question_id)
                self.kept += len(beyond)
                self.unfit += sum(not self._fits(question_id, sample, number) for number in beyond)

    def _id_at(self, index: int) -> str:
        """The id of a question, which some data sets only tell when it is built."""
        if not knows_ids(self._dataset) and (sample := self._build(index)[0]):
            return sample.question_id
        return question_id_at(self._dataset, index)

    def _fits(self, question_id: str, sample: Sample | None, inference: int) -> bool:
        """Whether a saved answer is to the present request, as far as can be told: a picture may be gone."""
        entry = self._store.get(question_id, inference)
        if entry is None or sample is None or not entry.request:
            return True
        try:
            messages = identified(sample.messages, entry.media)
        except DataError:
            return True
        return request_hash(self.fingerprint, messages, inference) == entry.request

    def _find_open(self) -> Iterator[tuple[int, int]]:
        for index in self._indices:
            # Without saved answers everything is open, and no prompt need be built to know it.
            sample = self._build(index)[0] if self._may_be_done(index) else None
            for inference in range(self._repeats):
                if sample is None or not self._is_done(sample, inference):
                    yield index, inference

    def _may_be_done(self, index: int) -> bool:
        """Whether there is an answer; where only building the item tells its id, whether there is any at all."""
        if isinstance(self._dataset, SampledDataset) and hasattr(self._dataset, "question_id_at"):
            return self._store.has(question_id_at(self._dataset, index))
        return len(self._store) > 0

    def _build(self, index: int) -> tuple[Sample | None, DataError | None]:
        try:
            sample = build_sample(self._dataset, index)
        except DataError as error:
            return None, error
        self._name(index, sample.question_id)
        return sample, None

    def _name(self, index: int, question_id: str) -> None:
        if self._ids[index] == question_id:
            return
        if question_id in self._known_ids:
            first = self._ids.index(question_id)
            name = self._dataset.name
            raise DataError(f"{name}: items {first} and {index} have the same question_id {question_id!r}")
        self._known_ids.add(question_id)
        self._ids[index] = question_id

    def _is_done(self, sample: Sample, inference: int) -> bool:
        entry = self._store.get(sample.question_id, inference)
        if entry is None:
            return False
        self._met += 1
        if entry.status != "ok":
            return self._keep_failed
        try:
            messages = identified(sample.messages, entry.media)
        except DataError:  # a picture is gone; asking tells so
            return False
        return request_hash(self.fingerprint, messages, inference) == entry.request


def identified(messages: tuple[Message, ...], known: tuple[MediaIdentity, ...] = ()) -> tuple[Message, ...]:
    """The messages with every medium identified; media unchanged since `known` are not read.

    Raises:
        DataError: a file cannot be read.
    """
    remembered = iter(known)
    return tuple(
        replace(message, content=tuple(_identified(part, remembered) for part in message.content))
        for message in messages
    )


def _identified(part: Any, remembered: Iterator[MediaIdentity]) -> Any:
    if isinstance(part, TextPart) or part.source.url is not None:
        return part
    source = part.source
    if source.path is not None:
        identity = identify(source.path, next(remembered, None))
    else:
        identity = identify_bytes(source.data or b"")
    return replace(part, source=replace(source, identity=identity))


def media_identities(messages: tuple[Message, ...]) -> tuple[MediaIdentity, ...]:
    """The identities of the files in messages, in order; what `identified` takes as `known`."""
    sources = (part.source for message in messages for part in message.content if not isinstance(part, TextPart))
    return tuple(source.identity for source in sources if source.path is not None and source.identity is not None)
