"""Annotations from a JSON list, or from JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flagmm import jsonio
from flagmm.errors import DataError
from flagmm.types import Annotation


def read_json_list(path: Path) -> Iterator[Annotation]:
    """The objects of a JSON file that holds a list of them, one after another.

    Raises:
        DataError: the file is no such list.
    """
    for position, item in enumerate(jsonio.read_json_list(path)):
        if not isinstance(item, dict):
            raise DataError(f"{path}: item {position}: expected an object, found {jsonio.kind_of(item)}")
        yield item


def read_json_lines(path: Path) -> Iterator[Annotation]:
    """The objects of a JSON Lines file, one after another.

    Raises:
        DataError: a line holds no object.
    """
    for number, item in jsonio.read_jsonl(path):
        if not isinstance(item, dict):
            raise DataError(f"{path}:{number}: expected an object, found {jsonio.kind_of(item)}")
        yield item
