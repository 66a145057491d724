"""One item of a data set -> Sample: the prompt's pictures in their places, videos and sounds after the text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from flagmm.dataset.annotations import media_paths
from flagmm.errors import DataError, FlagMMError
from flagmm.media.placeholders import split_placeholders
from flagmm.media.source import to_source
from flagmm.plugin import describe
from flagmm.types import AudioPart, Message, Part, Sample, VideoPart

Limit = int | float
"""The first N items, or as a fraction that share of them."""


class Dataset(Protocol):
    """What the runner needs of a data set.

    It may also have `build_sample(index) -> Sample`, taken instead of the item; `question_id_at(index) -> str`, for
    items that cannot be built; `indices_in(limit) -> Sequence[int]`, which items a limit lets through; `strict`:
    whether an item that cannot be built ends the run before anything is asked; and `check_item(item)`, which raises a
    `DataError` for an item that must not be asked. `find_annotations()`, where it is there, is taken before
    `get_annotation`, and need not have all of them in memory.
    """

    name: str

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> dict[str, Any]: ...

    def get_annotation(self) -> Mapping[str, dict[str, Any]]: ...


def build_sample(dataset: Dataset, index: int) -> Sample:
    """The question number `index`, ready to be sent; no media file is opened.

    Raises:
        DataError: the item cannot be made into a question, or code of the task raised.
    """
    own = getattr(dataset, "build_sample", None)
    try:
        item = dataset[index] if own is None else own(index)
    except (FlagMMError, KeyboardInterrupt):
        raise
    except BaseException as error:  # prompt hooks and data set classes of a task
        raise DataError(describe(error)) from error
    if isinstance(item, Sample):
        return item
    if not isinstance(item, Mapping) or "question" not in item or "question_id" not in item:
        raise DataError(f"item {index} of {dataset.name}: expected a dict with 'question_id' and 'question'")
    check = getattr(dataset, "check_item", None)
    if check is not None:
        check(item)
    question = str(item["question"])
    return Sample(
        question_id=str(item["question_id"]),
        question=question,
        question_type=str(item.get("type", "")),
        messages=(Message(role="user", content=_parts(question, item)),),
        options=_options(dataset, index),
    )


def annotations_of(dataset: Dataset) -> Mapping[str, dict[str, Any]]:
    """The annotations by question id, to be looked at only; not all of them need be in memory."""
    own = getattr(dataset, "find_annotations", None)
    found: Mapping[str, dict[str, Any]] = dataset.get_annotation() if own is None else own()
    return found


def question_id_at(dataset: Dataset, index: int) -> str:
    """The id of an item that could not be built."""
    own = getattr(dataset, "question_id_at", None)
    if own is not None:
        return str(own(index))
    annotation = _annotation_at(dataset, index)
    if annotation is not None:
        return str(annotation.get("question_id", index))
    return list(dataset.get_annotation())[index]


def knows_ids(dataset: Dataset) -> bool:
    """Whether `question_id_at` is quick: it looks at one item only."""
    return hasattr(dataset, "question_id_at") or isinstance(getattr(dataset, "annotations", None), Sequence)


def _annotation_at(dataset: Dataset, index: int) -> Mapping[str, Any] | None:
    """The item's annotation, where the data set keeps them as a list in the order of its items."""
    annotations = getattr(dataset, "annotations", None)
    annotation = annotations[index] if isinstance(annotations, Sequence) else None
    return annotation if isinstance(annotation, Mapping) else None


def indices_in(dataset: Dataset, limit: Limit | None) -> Sequence[int]:
    """The items that a limit lets through: the first N, or for a fraction that share of all, rounded down."""
    own = getattr(dataset, "indices_in", None)
    if own is not None:
        found: Sequence[int] = own(limit)
        return found
    return range(count_within(limit, len(dataset)))


def count_within(limit: Limit | None, available: int) -> int:
    """How many of `available` items a limit lets through."""
    if limit is None:
        return available
    return min(available, int(available * limit) if isinstance(limit, float) else limit)


def _parts(question: str, item: Mapping[str, Any]) -> tuple[Part, ...]:
    images = [to_source(value, root=None) for value in _values(item, "img_path")]
    parts: tuple[Part, ...] = split_placeholders(question, images)
    span = _span(item)
    videos = [
        VideoPart(source=to_source(value, root=None), extra=span) for value in media_paths(dict(item), "video_path")
    ]
    sounds = [AudioPart(source=to_source(value, root=None)) for value in media_paths(dict(item), "audio_path")]
    return (*parts, *videos, *sounds)


def _span(item: Mapping[str, Any]) -> dict[str, float]:
    """The part of the video that is asked about, where the item says."""
    span = {key: item[f"video_{key}"] for key in ("start", "end") if item.get(f"video_{key}") is not None}
    for key, value in span.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise DataError(f"video_{key}: expected seconds, found {value!r:.60}")
    if span.get("end", math.inf) < span.get("start", 0):
        raise DataError(f"video_end {span['end']:g} is before video_start {span['start']:g}")
    return span


def _values(item: Mapping[str, Any], key: str) -> list[Any]:
    value = item.get(key)
    if value is None or value == "":
        return []
    return [entry for entry in value if entry is not None] if isinstance(value, list | tuple) else [value]


def _options(dataset: Dataset, index: int) -> tuple[str, ...]:
    """The option texts, where they can be found."""
    options = (_annotation_at(dataset, index) or {}).get("options")
    return tuple(str(option) for option in options) if isinstance(options, list | tuple) else ()
