"""The notes on a large table's rows, kept in a file so that a later start need not read the table."""

from __future__ import annotations

import json
import logging
import os
import sys
import zlib
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from flagmm.dataset.tsv.row_notes import SECTIONS, RowNotes, look_at_rows
from flagmm.errors import OutputError
from flagmm.formats.delimited_table import DelimitedTable
from flagmm.jsonio import AtomicFile, dump_line

logger = logging.getLogger(__name__)

NOTES_NAME = ".rows"
"""The file's name in the folder of the table's pictures."""
_FORMAT = 1
"""To be raised with every change of what notes hold or how they come about."""
_SMALLEST = 8 << 20
"""Bytes of a table, below which reading it again is as good."""
_LONGEST_HEAD = 1 << 16
_CHECK_BYTES = 4


class _NoNotesError(Exception):
    """A file holds no notes on the present table."""


def notes_on(table: DelimitedTable, columns: tuple[str, ...], path: Path | None) -> RowNotes:
    """The notes on a table that was opened lazily: those in a file where they fit the table, else made and kept there.

    Args:
        columns: the table's, under the names that we know them by.
        path: the file; None keeps nothing.
    """
    if path is None or table.version.size < _SMALLEST:
        return look_at_rows(table, columns)
    head = {
        "format": _FORMAT,
        "byteorder": sys.byteorder,
        "table": os.path.realpath(table.path),
        **table.version._asdict(),
        "columns": list(columns),
    }
    try:
        notes = _load(path, head)
    except _NoNotesError as error:
        logger.info("%s: all %.1f MB are read", table.path, table.version.size / 1e6)
        logger.debug("%s: %s", path, error)
        notes = look_at_rows(table, columns)
        _save(path, head, notes)
    else:
        table.index = notes.places
    return notes


def _save(path: Path, head: Mapping[str, Any], notes: RowNotes) -> None:
    """A line of JSON, the sections in their order, and a CRC-32 of all that."""
    views = {name: memoryview(section).cast("B") for name, section in notes.sections().items() if len(section)}
    line = dump_line({**head, "sections": {name: len(view) for name, view in views.items()}}).encode() + b"\n"
    try:
        with AtomicFile(path, is_binary=True) as file:
            check = zlib.crc32(line)
            file.write(line)
            for view in views.values():
                check = zlib.crc32(view, check)
                file.write(view)
            file.write(check.to_bytes(_CHECK_BYTES, "little"))
    except OutputError as error:
        logger.info("%s; the next start reads the table again", error)


def _load(path: Path, head: Mapping[str, Any]) -> RowNotes:
    """The notes in a file; `_NoNotesError` where it is not there, or is not whole, or is of another table or time."""
    try:
        with open(path, "rb") as file:
            line = file.readline(_LONGEST_HEAD)
            sizes = _section_sizes(line, head, os.fstat(file.fileno()).st_size)
            check = zlib.crc32(line)
            sections: dict[str, array[int] | bytearray] = {}
            for name, code in SECTIONS.items():
                sections[name], check = _read_section(file, code, sizes.get(name, 0), check)
            if file.read() != check.to_bytes(_CHECK_BYTES, "little"):
                raise _NoNotesError("damaged")
    except OSError as error:
        raise _NoNotesError(error.strerror or error) from None
    columns = head["columns"]
    image_at = columns.index("image") if "image" in columns else len(columns)
    return RowNotes.of_sections(sections, end=head["size"], image_at=image_at)


def _section_sizes(line: bytes, head: Mapping[str, Any], file_size: int) -> dict[str, int]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise _NoNotesError("damaged") from None
    sizes = found.pop("sections", None) if isinstance(found, dict) else None
    if found != head or not isinstance(sizes, dict):
        raise _NoNotesError("of another table, or of another state of it")
    if not all(isinstance(size, int) and size > 0 for size in sizes.values()):
        raise _NoNotesError("damaged")
    if len(line) + sum(sizes.values()) + _CHECK_BYTES != file_size or any(
        size % array(SECTIONS.get(name) or "B").itemsize for name, size in sizes.items()
    ):
        raise _NoNotesError("damaged")
    return sizes


def _read_section(file: IO[bytes], code: str, size: int, check: int) -> tuple[array[int] | bytearray, int]:
    """A section of `size` bytes, and the check sum that was `check` before it."""
    section = array(code, bytes(size)) if code else bytearray(size)
    if not size:
        return section, check
    with memoryview(section) as view, view.cast("B") as plain:
        file.readinto(plain)  # type: ignore[attr-defined]  # a buffered file has it
        return section, zlib.crc32(plain, check)
