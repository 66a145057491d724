"""JSON Lines files: an object a line, parsed when its turn comes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.formats.row_scan import index_lines
from flagmm.formats.text_file import TextFile
from flagmm.formats.text_table import TextTable
from flagmm.jsonio import kind_of, parse_json

_DEEPEST = 200  # levels; what Python can parse it may fail to copy or write


class JsonLinesTable(TextTable):
    """A JSON Lines file.

    NaN, as pandas writes for a missing value, is null. A row is wrong when its line is no JSON, no object, has a key
    twice, holds Infinity, or is nested deeper than 200 levels.
    """

    def __init__(self, path: Path) -> None:
        """Find the rows; `DataError` where the file cannot be read."""
        file = TextFile(path)
        super().__init__(file, index_lines(file), header=0)
        if path.suffix == ".json" and len(self) and self._index.read(file, 0).lstrip().startswith(b"["):
            raise DataError(f"{path}: a JSON list; write one object a line and name the file .jsonl")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The keys of the first row that is right; later rows may have others."""
        for number in range(len(self)):
            try:
                return tuple(self.row(number))
            except DataError:
                continue  # told when that row's turn comes
        return ()

    def _parse(self, raw: bytes, line: int) -> dict[str, Any]:
        place = f"{self.path}:{line}"
        try:
            text = raw.rstrip(b" \t\r\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{place}: not UTF-8 text: {error.reason} at byte {error.start} of the line") from None
        try:
            value = parse_json(text, self.path, line, decode=_DECODER.decode)
        except _UnwantedJsonError as error:
            raise DataError(f"{place}: {error}") from None
        if not isinstance(value, dict):
            raise DataError(f"{place}: expected an object, found {kind_of(value)}")
        if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(value):
            raise DataError(f"{place}: nested too deeply, over {_DEEPEST} levels")
        return value


class _UnwantedJsonError(Exception):
    """Python's parser would take it, and it is not what the writer of the file can have meant."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _UnwantedJsonError(f"the key {twice!r} occurs twice in one object")
    return value


def _constant(name: str) -> None:
    if name != "NaN":
        raise _UnwantedJsonError(f"{name} is no JSON; write null or a text")


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of, parse_constant=_constant)


def _is_too_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in _children(parent)]
    return any(isinstance(node, dict | list) for node in level)


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()
