"""What General-VQA and General-VMCQ share: subsets, ids, limits, failed rows, annotations."""

from __future__ import annotations

import bisect
import itertools
import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, get_args

from flagmm.dataset.compact import Annotations
from flagmm.dataset.general.parts import PartMaker, located
from flagmm.dataset.general.subsets import Selection, Subset, open_subsets
from flagmm.dataset.sample import Limit, count_within
from flagmm.dataset.sampled import SampledDataset
from flagmm.errors import ConfigError, DataError
from flagmm.media.places import MediaPlaces
from flagmm.prompt.media_columns import MOST_INDEXED, Reference, filled_media_columns
from flagmm.types import ROW_ERROR, Annotation, Message, Sample, TextPart, VideoMode

logger = logging.getLogger(__name__)


class Asked(NamedTuple):
    """What a record is turned into."""

    question: str
    """As text, placeholders included."""
    messages: tuple[Message, ...]
    options: tuple[str, ...] = ()
    missing: tuple[Reference, ...] = ()
    """Media that placeholders ask for in vain."""


class GeneralDataset(SampledDataset):
    """Rows of one or more tables, each read only when its turn comes.

    A row that cannot be read or made into a question raises a `DataError` that names file, line and column; the
    runner makes a failed item of it. With several subsets, ids start with `<subset>/`.

    Args:
        name: the task's name in results.
        data_root: folder of the tables, or one table; relative to the working directory.
        local_path: other name of `data_root`.
        subset_list: names of tables without ending, or without `_<split>` and ending; None takes all of the folder.
        split: looked for as `<subset>_<split>` before `<subset>`; "test" for VQA and "val" for VMCQ where not given.
        system_prompt: for the records that have none of their own.
        limit: the first N rows of each subset, or with a fraction that share of them; None and 0 take all.
        shuffle: shuffle the rows of each subset before the limit.
        seed: of everything that is shuffled.
        allow_media_roots: further folders that media may be read from, beside those of the tables and the working
            directory.
        strict: a faulty row ends the run before anything is asked.
        video_mode: "file" sends videos as they are, "frames" as pictures.
        base_dir: folder of the task file; not used, as paths are a person's.
        cache_dir: not used, as nothing is prepared.
    """

    kind: ClassVar[str]
    default_split: ClassVar[str]

    def __init__(
        self,
        *,
        name: str,
        data_root: str | None = None,
        local_path: str | None = None,
        subset_list: Sequence[str] | str | None = None,
        split: str | None = None,
        system_prompt: str | None = None,
        limit: Limit | None = None,
        shuffle: bool = False,
        seed: int | None = 42,
        allow_media_roots: Sequence[str] = (),
        strict: bool = False,
        video_mode: VideoMode = "file",
        base_dir: str | None = None,
        cache_dir: str | None = None,
    ) -> None:
        if video_mode not in get_args(VideoMode):
            raise ConfigError(f"dataset: video_mode: expected 'file' or 'frames', found {video_mode!r}")
        self.name = name
        self.system_prompt = system_prompt
        self.seed = seed
        self.strict = strict
        selection = Selection(
            path=_data_path(data_root, local_path),
            subset_list=(subset_list,) if isinstance(subset_list, str) else tuple(subset_list or ()),
            split=split or self.default_split,
            limit=_checked_limit(limit),
            shuffle=shuffle,
            seed=seed,
        )
        self.subsets: list[Subset] = open_subsets(selection)
        allowed = tuple(Path(root).expanduser() for root in allow_media_roots)
        self._makers = [
            PartMaker(places=MediaPlaces(near=subset.folder, allowed=allowed), video_mode=video_mode)
            for subset in self.subsets
        ]
        self._starts = [0, *itertools.accumulate(len(subset.rows) for subset in self.subsets)]
        self._told: set[str] = set()

    @abstractmethod
    def ask(self, record: Mapping[str, Any], question_id: str, maker: PartMaker) -> Asked:
        """What is asked of the model for one record.

        Raises:
            DataError: the record is malformed; the message names the column.
        """

    @abstractmethod
    def annotate(self, record: Mapping[str, Any], question_id: str) -> Annotation:
        """What scoring sees of one record; it does not raise for a record that could not be asked."""

    @property
    @abstractmethod
    def question_type(self) -> str:
        """The type of questions whose record does not say."""

    def __len__(self) -> int:
        return self._starts[-1]

    def build_sample(self, index: int) -> Sample:
        """The question number `index`, ready to be sent; no media file is opened.

        Raises:
            DataError: the row is malformed; the message names file, line and column.
        """
        place = self._locate(index)
        subset, question_id = self.subsets[place.subset], self.question_id_at(index)
        record = subset.table.row(place.row)
        with located(subset.table.where(place.row)):
            try:
                asked = self.ask(record, question_id, self._makers[place.subset])
            except RecursionError:
                raise DataError("nested too deeply") from None
        self._warn_of_missing(asked.missing, subset.table.where(place.row))
        self._warn_of_unasked(record, asked.messages, subset.table.where(place.row))
        return Sample(
            question_id=question_id,
            question=asked.question,
            question_type=self.question_type,
            messages=self._with_system_prompt(asked.messages),
            options=asked.options,
        )

    def question_id_at(self, index: int) -> str:
        """The id of an item, known without reading its row."""
        place = self._locate(index)
        return self.subsets[place.subset].question_ids[place.row]

    def indices_in(self, limit: Limit | None) -> list[int]:
        """The items that a limit lets through: of each subset the first N, or for a fraction that share of it."""
        found: list[int] = []
        for start, subset in zip(self._starts, self.subsets, strict=False):
            found.extend(range(start, start + count_within(limit, len(subset.rows))))
        return found

    def get_annotation(self) -> Annotations:
        """The annotations by question id; rows are read again when they are looked up, and not kept."""
        places = {self.question_id_at(index): index for index in range(len(self))}
        return Annotations(places, self._annotation)

    def meta_info(self) -> dict[str, Any]:
        return {"name": self.name, "length": len(self), "type": self.kind}

    def _locate(self, index: int) -> _Place:
        if not 0 <= index < len(self):
            raise IndexError(index)
        number = bisect.bisect_right(self._starts, index) - 1
        return _Place(number, self.subsets[number].rows[index - self._starts[number]])

    def _annotation(self, index: int) -> Annotation:
        place = self._locate(index)
        subset, question_id = self.subsets[place.subset], self.question_id_at(index)
        known: Annotation = {"question_id": question_id, "subset": subset.name, "question_type": self.question_type}
        try:
            return known | self.annotate(subset.table.row(place.row), question_id)
        except (DataError, RecursionError) as error:
            return known | {"question": "", "answer": None, ROW_ERROR: str(error)}

    def _with_system_prompt(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        if not self.system_prompt or any(message.role in ("system", "developer") for message in messages):
            return messages
        return (Message(role="system", content=(TextPart(text=self.system_prompt),)), *messages)

    def _warn_of_missing(self, missing: Iterable[Reference], where: str) -> None:
        """Tell of each index once a run; those that no column can have are told of as one."""
        for reference in missing:
            number = str(reference.number) if reference.number <= MOST_INDEXED else f"above {MOST_INDEXED}"
            name = f"{reference.medium} {number}"
            if name not in self._told:
                self._told.add(name)
                logger.warning("%s: no medium for the placeholder <%s>; it is left out (told once)", where, name)

    def _warn_of_unasked(self, record: Mapping[str, Any], messages: Iterable[Message], where: str) -> None:
        """Tell of each column once a run whose media no text asks for, where a question is sent without any."""
        if any(not isinstance(part, TextPart) for message in messages for part in message.content):
            return
        for column in filled_media_columns(record):
            if column not in self._told:  # as such names have no blank, they are none of `_warn_of_missing`
                self._told.add(column)
                logger.warning(
                    "%s: %s: is not sent, as no text of the record asks for it with a placeholder such as <image 1> "
                    "(and columns such as image_1 or images); the question goes as text alone (told once)",
                    where,
                    column,
                )


class _Place(NamedTuple):
    subset: int
    """Its number."""
    row: int
    """Number of the row in its table."""


def _data_path(data_root: str | None, local_path: str | None) -> Path:
    if data_root and local_path and data_root != local_path:
        raise ConfigError(f"dataset: data_root is {data_root!r} and local_path {local_path!r}; give one of them")
    path = data_root or local_path
    if not path:
        raise ConfigError(
            "dataset: where are the data? give --data-root DIR, local_path in --dataset-args, or "
            "data_root in the task file"
        )
    return Path(path).expanduser()


def _checked_limit(limit: Limit | None) -> Limit | None:
    if limit is None or (limit == 0 and not isinstance(limit, bool)):
        return None
    is_share = isinstance(limit, float) and 0 < limit <= 1
    is_number = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1
    if not (is_share or is_number):
        raise ConfigError(f"dataset: limit: expected a number from 1, or a fraction up to 1.0, found {limit!r}")
    return limit
