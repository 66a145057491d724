"""Annotations from a JSON list, or from JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.jsonio import read_json, read_jsonl
from flagmm.types import Annotation


def read_json_list(path: Path) -> list[Annotation]:
    """The objects of a JSON file that holds a list of them.

    Raises:
        DataError: the file is no such list.
    """
    value = read_json(path)
    if not isinstance(value, list):
        raise DataError(f"{path}: expected a list of items, found {kind_of(value)}")
    for position, item in enumerate(value):
        if not isinstance(item, dict):
            raise DataError(f"{path}: item {position}: expected an object, found {kind_of(item)}")
    return value


def read_json_lines(path: Path) -> list[Annotation]:
    """The objects of a JSON Lines file.

    Raises:
        DataError: a line holds no object.
    """
    items = []
    for number, item in read_jsonl(path):
        if not isinstance(item, dict):
            raise DataError(f"{path}:{number}: expected an object, found {kind_of(item)}")
        items.append(item)
    return items


def kind_of(value: Any) -> str:
    """What JSON calls the kind of a value, with its article."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
