"""Annotation files -> checked annotations."""

from __future__ import annotations

import ast
import bisect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flagmm.errors import DataError
from flagmm.formats import READERS
from flagmm.hints import shown
from flagmm.media.source import is_url
from flagmm.registry import FORMATS
from flagmm.types import Annotation

DEFAULT_FILE = "data.json"
_ID_TYPES = (str, int, float)  # as a tuple, which is looked through faster than a union
MEDIA_KEYS = ("img_path", "video_path", "audio_path")


class Place(NamedTuple):
    """Where an item stands."""

    path: Path
    position: int

    def __str__(self) -> str:
        return f"{self.path}: item {self.position}"


def annotation_paths(data_root: Path, anno_file: str | Sequence[str] | None) -> list[Path]:
    """The annotation files of a data set; names are relative to its folder."""
    names = [anno_file or DEFAULT_FILE] if isinstance(anno_file, str | None) else anno_file
    return [data_root / Path(name).expanduser() for name in names]


def load_annotations(paths: Sequence[Path]) -> list[Annotation]:
    """All that `read_annotations` gives."""
    return list(read_annotations(paths))


def read_annotations(paths: Sequence[Path]) -> Iterator[Annotation]:
    """The items of the files in order, ids checked, options made lists.

    Raises:
        DataError: a file cannot be read, an item lacks a field, or two have the same id (`1` and `"1"` are the same).
    """
    numbers: dict[str, int] = {}
    starts: list[int] = []
    for path in paths:
        starts.append(len(numbers))
        for position, annotation in enumerate(_reader_of(path)(path)):
            place = Place(path, position)
            _check(annotation, place)
            question_id = str(annotation["question_id"])
            first = numbers.setdefault(question_id, len(numbers))
            if first != starts[-1] + position:
                file = bisect.bisect_right(starts, first) - 1
                earlier = Place(paths[file], first - starts[file])
                raise DataError(f"{place} has the question_id {question_id!r} of {earlier}; make ids unique")
            if "options" in annotation:
                annotation["options"] = option_texts(annotation["options"], place)
            yield annotation


def is_plain_file(path: Path) -> bool:
    """Whether all values in the file are such as JSON knows; a reader that a task brings may make others."""
    return _reader_of(path) in READERS.values()


def _reader_of(path: Path) -> Callable[[Path], Iterable[Annotation]]:
    reader: Callable[[Path], Iterable[Annotation]]
    reader = FORMATS.lookup(path.suffix) if path.suffix in FORMATS.names() else FORMATS.lookup(".json")
    return reader


def _check(annotation: Annotation, place: Place) -> None:
    question_id = annotation.get("question_id")
    if question_id is None or not isinstance(question_id, _ID_TYPES) or question_id == "":
        raise DataError(f"{place}: 'question_id' is missing, or neither a text nor a number")
    for key in ("question", "question_type"):
        if not isinstance(annotation.get(key), str):
            raise DataError(f"{place} (question_id {question_id!r}): {key!r} is missing, or no text")
    for key in MEDIA_KEYS:
        value = annotation.get(key)
        if value is None or type(value) is str:  # nearly always
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(each, str | os.PathLike | None):
                found = f"expected a path or a list of paths, found {shown(value)}"
                raise DataError(f"{place} (question_id {question_id!r}): {key!r}: {found}")


def option_texts(options: Any, place: Place) -> list[str]:
    """Options as a list of texts; they may come as a list, a dict by letter, or a text that holds a list.

    Raises:
        DataError: none of these.
    """
    if options is None or options == "":
        return []
    if isinstance(options, str):
        options = _literal(options, place)
    if isinstance(options, Mapping):
        options = list(options.values())
    if not isinstance(options, list | tuple):
        raise DataError(f"{place}: 'options' is no list")
    return list(map(str, options))


def _literal(text: str, place: Place) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass  # perhaps Python's spelling of a list
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise DataError(f"{place}: 'options' is a text that holds no list: {text[:80]!r}") from None


def is_file_path(value: str) -> bool:
    """Whether a medium is a file, and not an http(s) URL or a data URI.

    >>> [is_file_path(value) for value in ("img/1.png", "https://h/1.png", "data:image/png;base64,iVBO")]
    [True, False, False]
    """
    return not is_url(value.strip()) and value.lstrip()[:5].lower() != "data:"


def media_paths(annotation: Annotation, key: str) -> list[str]:
    """The values of `img_path`, `video_path` or `audio_path` as a list; null and empty are none."""
    value = annotation.get(key)
    if value is None or value == "":
        return []
    return [str(item) for item in value if item] if isinstance(value, list | tuple) else [str(value)]
