"""What one look at all rows of a table tells: with it they are asked without reading the table again."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flagmm.dataset.tsv.light_rows import LightRows
from flagmm.dataset.tsv.packed_texts import PackedTexts
from flagmm.formats.delimited_table import DelimitedTable
from flagmm.formats.row_index import RowIndex

HAS_PICTURE, IS_YES_NO, IS_OTHER_ANSWER = 1, 2, 4
"""Bits of a row's mark: `image` or `image_path` is filled, the answer is Yes or No, the answer is another."""
SECTIONS = {
    "starts": "Q", "lines": "Q", "indexes": "", "index_ends": "Q", "marks": "", "light": "", "light_ends": "Q",
    "light_sizes": "q",
}  # fmt: skip
"""What the notes are in memory and in a file: the type code of an array, "" of mere bytes."""
_SHORT_ANSWER = 64
_YES_NO = frozenset({"yes", "no"})

Sections = Mapping[str, "array[int] | bytearray"]


@dataclass(frozen=True, kw_only=True)
class RowNotes:
    """The notes on each row, by its number from 0."""

    places: RowIndex
    """Where the rows are in the file; the header's is the first."""
    indexes: PackedTexts
    """Their `index` cells; "" where a row is wrong or has none."""
    marks: bytearray
    light: LightRows
    """No rows where the table has no column `image`."""

    @classmethod
    def of_sections(cls, sections: Sections, *, end: int, image_at: int) -> RowNotes:
        """What `sections` gave; `end` is the size of the table, `image_at` the number of its column `image`."""
        return cls(
            places=RowIndex(sections["starts"], sections["lines"], end),  # type: ignore[arg-type]  # by SECTIONS
            indexes=PackedTexts(sections["indexes"], sections["index_ends"]),  # type: ignore[arg-type]
            marks=sections["marks"],  # type: ignore[arg-type]
            light=LightRows(
                image_at,
                PackedTexts(sections["light"], sections["light_ends"]),  # type: ignore[arg-type]
                sections["light_sizes"],  # type: ignore[arg-type]
            ),
        )

    def sections(self) -> Sections:
        """All of it, named as in `SECTIONS`."""
        values = (
            self.places.starts, self.places.lines, self.indexes.data, self.indexes.ends, self.marks,
            self.light.texts.data, self.light.texts.ends, self.light.sizes,
        )  # fmt: skip
        return dict(zip(SECTIONS, values, strict=True))


def look_at_rows(table: DelimitedTable, columns: Sequence[str]) -> RowNotes:
    """Pass over a table once; `columns` are its columns under the names that we know them by."""
    places = {name: place for place, name in enumerate(columns)}
    nowhere = len(columns)  # beyond every row's last cell
    index_at, answer_at, image_at, path_at = (
        places.get(name, nowhere) for name in ("index", "answer", "image", "image_path")
    )
    indexes, marks = PackedTexts.empty(), bytearray()
    light = LightRows(image_at, PackedTexts.empty(), array("q"))
    for found in table.scan():
        cells = found or ()
        count = len(cells)
        indexes.append(cells[index_at] if index_at < count else b"")
        mark = _answer_mark(cells[answer_at]) if answer_at < count else 0
        if (image_at < count and cells[image_at]) or (path_at < count and cells[path_at]):
            mark |= HAS_PICTURE
        marks.append(mark)
        if image_at != nowhere:
            light.append(cells)
    return RowNotes(places=table.index, indexes=indexes, marks=marks, light=light)


def _answer_mark(answer: bytes) -> int:
    return _short_answer_mark(answer) if len(answer) <= _SHORT_ANSWER else _any_answer_mark(answer)


def _any_answer_mark(answer: bytes) -> int:
    if not answer:
        return 0
    try:
        return IS_YES_NO if answer.decode("utf-8").strip().lower() in _YES_NO else IS_OTHER_ANSWER
    except UnicodeDecodeError:  # told when the row's turn comes
        return 0


_short_answer_mark = functools.lru_cache(1000)(_any_answer_mark)  # most tables have few answers
