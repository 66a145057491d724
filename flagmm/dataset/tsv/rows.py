"""The rows of a table: ids and which have no picture known from the start, cells read when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

from flagmm.dataset.tsv.image_cell import ImageCell
from flagmm.dataset.tsv.row_notes import HAS_PICTURE, IS_YES_NO, RowNotes
from flagmm.dataset.tsv.saved_notes import notes_on
from flagmm.errors import DataError
from flagmm.formats.delimited_table import DelimitedTable

logger = logging.getLogger(__name__)

_DELIMITERS = {".tsv": b"\t", ".csv": b","}
_KNOWN = frozenset({
    "index", "image", "image_path", "question", "hint", "answer", "category", "l2-category", "split", "g_index",
    "video", "video_path", "subtitle_path", "candidates",
})  # fmt: skip
_IMAGE = "image"

Record = Mapping[str, str]
"""The filled cells of a row but for `image`; known columns under their own names, however the table writes them."""


class TsvRow(NamedTuple):
    """One row."""

    cells: Record
    image: ImageCell | None
    """None where the cell is empty."""


class TsvRows:
    """The rows of a table that are asked, in order.

    Attributes:
        path: the table.
        columns: its columns, known ones under their own names.
        question_ids: the `index` of each row, as text.
        is_yes_no: whether there are answers, and all of them are Yes or No.
    """

    def __init__(self, path: Path, *, skip_noimg: bool, notes: Path | None = None) -> None:
        """Read the header, and look at each row once, unless the file `notes` tells what that found the last time.

        Raises:
            DataError: no such table, no `index` or `question`, two rows with one index, or no row at all.
        """
        self.path = path
        self._table = _open(path)
        self._names = _canonical_names(self._table.columns)
        self.columns = tuple(self._names.values())
        missing = [name for name in ("index", "question") if name not in self.columns]
        if missing:
            raise DataError(f"{path}: no column {missing[0]!r}; the columns are {', '.join(self._table.columns)}")
        self.question_ids: list[str] = []
        self.is_yes_no = False
        self._rows: Sequence[int] = ()
        self._skipped: dict[str, int] = {}  # those without a picture, which other rows may still name
        found = notes_on(self._table, self.columns, notes)
        self._light = found.light
        self._choose(found, skip_noimg and _IMAGE in self.columns)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, position: int) -> TsvRow:
        """A row that is asked.

        Raises:
            DataError: the row is malformed; names file, line and column.
        """
        return self._read(self._rows[position])

    def where(self, position: int) -> str:
        """File and line of a row that is asked."""
        return self._table.where(self._rows[position])

    def named(self, index: str) -> TsvRow:
        """The row with this index, also one that is not asked.

        Raises:
            KeyError: there is none.
            DataError: the row is malformed.
        """
        return self._read(self._numbers[index])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Row numbers by index; made only where a row names another."""
        return {**self._skipped, **dict(zip(self.question_ids, self._rows, strict=True))}

    def _read(self, row: int) -> TsvRow:
        light = self._light.get(row)
        if light is not None:
            cells = {name: cell for name, cell in zip(self.columns, light.cells, strict=False) if cell}
            return TsvRow(cells, ImageCell.of_note(light.image, lambda: self._table.row(row)[self._image_column]))
        record = self._table.row(row)
        image = record.get(self._image_column)
        cells = {self._names[name]: cell for name, cell in record.items() if cell and name != self._image_column}
        return TsvRow(cells, ImageCell.of_text(image) if image else None)

    @cached_property
    def _image_column(self) -> str:
        """What the table calls it."""
        return next((column for column, name in self._names.items() if name == _IMAGE), "")

    def _choose(self, notes: RowNotes, skips: bool) -> None:
        """Take the rows that are asked."""
        indexes = notes.indexes.decoded()  # those that are no text are told when their rows' turns come
        ids = [index or f"row {row}" for row, index in enumerate(indexes, start=1)]
        if len(set(ids)) < len(ids):
            self._fail_for_twins(ids)
        if skips:
            bare = (row for row, mark in enumerate(notes.marks) if not mark & HAS_PICTURE)
            self._skipped = {ids[row]: row for row in bare if indexes[row]}
        left_out = set(self._skipped.values())
        self._rows = [row for row in range(len(ids)) if row not in left_out] if left_out else range(len(ids))
        self.question_ids = [ids[row] for row in self._rows] if left_out else ids
        marks = {notes.marks[row] for row in self._rows} if left_out else set(notes.marks)
        answers = {mark & ~HAS_PICTURE for mark in marks} - {0}
        self.is_yes_no = answers == {IS_YES_NO}
        self._tell_of_skipped()

    def _fail_for_twins(self, ids: Sequence[str]) -> NoReturn:
        seen: dict[str, int] = {}
        twin = next(row for row, question_id in enumerate(ids) if seen.setdefault(question_id, row) != row)
        pair = f"{self._table.where(seen[ids[twin]])} and {self._table.where(twin)}"
        raise DataError(f"{pair} have the same index {ids[twin]!r}; give each row its own")

    def _tell_of_skipped(self) -> None:
        if not self._rows:
            hint = "; skip_noimg=False asks rows without a picture" if self._skipped else ""
            raise DataError(f"{self.path}: no row to ask{hint}")
        if self._skipped:
            logger.warning(
                "%s: %d rows have no picture and are left out, as VLMEvalKit does; skip_noimg=False asks them",
                self.path,
                len(self._skipped),
            )


def _open(path: Path) -> DelimitedTable:
    delimiter = _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        raise DataError(f"{path}: expected a table named .tsv")
    return DelimitedTable(path, delimiter, lazy=True)


def _canonical_names(columns: tuple[str, ...]) -> dict[str, str]:
    """The name that a column is known by, by the name that the table gives it: "Question" is `question`."""
    taken = set(columns)
    names: dict[str, str] = {}
    for column in columns:
        low = column.strip().lower()
        is_other_spelling = column not in _KNOWN and low in _KNOWN and low not in taken
        names[column] = low if is_other_spelling else column
        taken.add(names[column])
    return names
