"""What scoring sees of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagmm.prompt.media_columns import is_media_column
from flagmm.types import ROW_ERROR, Annotation

_LONGEST_KEPT = 1 << 16
"""Characters of a further column's cell; longer ones are media or the like, and would stay in memory."""


def further_columns(record: Mapping[str, Any], *, taken: frozenset[str]) -> Annotation:
    """The columns that no format knows, for scoring by groups and for a task's own scoring; media left out."""
    return {
        column: cell
        for column, cell in record.items()
        if column not in taken and column != ROW_ERROR and not is_media_column(column) and _is_light(cell)
    }


def _is_light(cell: Any) -> bool:
    if isinstance(cell, list | tuple):
        return all(not isinstance(item, list | tuple) and _is_light(item) for item in cell)
    if isinstance(cell, str):
        return len(cell) <= _LONGEST_KEPT
    return cell is None or isinstance(cell, bool | int | float)


def reference_answer(cell: Any) -> str | list[str] | None:
    """An `answer` cell as text or a list of texts; None where there is none.

    >>> reference_answer(7), reference_answer(["a", 1]), reference_answer("")
    ('7', ['a', '1'], None)
    """
    if isinstance(cell, list | tuple):
        texts = [str(item) for item in cell if not _is_absent(item)]
        return texts or None
    return None if _is_absent(cell) else str(cell)


def _is_absent(cell: Any) -> bool:
    return cell is None or cell == ""
