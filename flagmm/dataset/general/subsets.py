"""The files of a data set, and an id for each of their rows."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.dataset.sample import Limit, count_within
from flagmm.errors import ConfigError, DataError
from flagmm.formats.table import Table, find_table, list_subsets, open_table

logger = logging.getLogger(__name__)

DEFAULT_SUBSET = "default"
"""What the only subset is called where the data are given as a file."""

_ID_COLUMNS = ("id", "question_id", "index")


@dataclass(frozen=True, kw_only=True)
class Subset:
    """One table, in the order in which its rows are asked."""

    name: str
    table: Table
    rows: Sequence[int]
    """Numbers of the rows, those beyond the limit left out."""
    question_ids: Sequence[str]
    """By row number."""

    @property
    def folder(self) -> Path:
        """Where relative paths of its media start."""
        return Path(self.table.path).parent


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which files and rows a person asks for."""

    path: Path
    """A folder, or one file."""
    subset_list: tuple[str, ...] = ()
    """Empty: all that the folder holds."""
    split: str
    limit: Limit | None = None
    shuffle: bool = False
    seed: int | None = None


def open_subsets(selection: Selection) -> list[Subset]:
    """The subsets in the order asked for.

    Raises:
        ConfigError: two subsets of one name, or several of a single file.
        DataError: a file is missing or unreadable.
    """
    tables = _tables(selection)
    return [_open(name, path, selection, is_only=len(tables) == 1) for name, path in tables]


def _tables(selection: Selection) -> list[tuple[str, Path]]:
    path, names = selection.path, list(selection.subset_list)
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise ConfigError(f"subset_list: {twice[0]!r} is named twice")
    if path.is_file():
        if len(names) > 1:
            raise ConfigError(f"subset_list: {', '.join(names)}: {path} is one file; give its folder, or one name")
        return [(names[0] if names else DEFAULT_SUBSET, path)]
    if not path.is_dir():
        raise DataError(f"{path}: no such file or folder")
    found = names or list(list_subsets(path))
    if not found:
        raise DataError(f"{path}: holds no .jsonl, .csv, .tsv or .parquet file")
    return [(name, find_table(path, name, selection.split)) for name in found]


def _open(name: str, path: Path, selection: Selection, *, is_only: bool) -> Subset:
    table = open_table(path)
    ids = row_ids(table)
    order: Sequence[int] = range(len(table))
    if selection.shuffle:
        shuffled = list(order)
        random.Random(selection.seed).shuffle(shuffled)
        order = shuffled
    return Subset(
        name=name,
        table=table,
        rows=order[: count_within(selection.limit, len(table))],
        question_ids=ids if is_only else [f"{name}/{question_id}" for question_id in ids],
    )


def row_ids(table: Table) -> list[str]:
    """The rows' own ids where they are unique, else their numbers from 0; a row without an id has its number."""
    for column in _ID_COLUMNS:
        if column not in table.columns:
            continue
        ids = [_id_text(cell) or str(number) for number, cell in enumerate(table.cells(column))]
        if len(set(ids)) == len(ids):
            return ids
        logger.info("%s: column %r is not unique; rows are named by their numbers", table.path, column)
    return [str(number) for number in range(len(table))]


def _id_text(cell: Any) -> str:
    return str(cell) if isinstance(cell, str | int | float) and not isinstance(cell, bool) else ""
