"""VLMEvalKit's reports on multiple-choice and yes/no items, and its circular evaluation.

Reference: VLMEvalKit e8e78f05, `vlmeval/dataset/utils/multiple_choice.py` and `vlmeval/dataset/utils/yorn.py`, under
exact matching: no judge model. A row is a dict of its table's columns; a cell that is absent, None or NaN is empty.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from flagmm.metrics.vlmevalkit_infer import can_infer, yes_or_no

Row = Mapping[str, Any]
Record = dict[str, Any]
"""One line of a report: `split` and, by name, the share of right items, None where there is no item."""

_ABILITIES = {
    "coarse_perception": "CP",
    "finegrained_perception (instance-level)": "FP-S",
    "finegrained_perception (cross-instance)": "FP-C",
    "logic_reasoning": "LR",
    "relation_reasoning": "RR",
    "attribute_reasoning": "AR",
}
_NO_SPLIT = "none"
_ROLL = 1_000_000
"""A question's copies with rolled options have its index plus a multiple of this."""


@dataclass(frozen=True, kw_only=True)
class CircularResult:
    """What circular evaluation found, next to the items taken one by one ("vanilla")."""

    group_hits: dict[int, int]
    """1 by index of the question if all its copies are right, else 0."""
    group_report: list[Record]
    row_hits: dict[int, int]
    """1 by index of the row if it is right, else 0."""
    first_report: list[Record]
    """Over the rows that are no copies."""
    row_report: list[Record]
    """Over all rows."""


def report_acc(rows: Sequence[Row]) -> list[Record]:
    """Return one record per split, sorted: `Overall`, then each l2-category and category, as means of `hit`.

    Six abilities of MMBench get their short names. A name met again replaces what stood there: a category its
    namesake among the l2-categories. Rows without a split make the split "none"; rows without a category count in
    `Overall` only. No rows give the split "none" with `Overall` None.

    >>> report_acc([{"hit": 1, "category": "logic_reasoning"}, {"hit": 0, "category": "ocr"}])
    [{'split': 'none', 'Overall': 0.5, 'LR': 1.0, 'ocr': 0.0}]
    """
    by_split: dict[Any, list[Row]] = {split: [] for split in _sorted(_split(row) for row in rows) or [_NO_SPLIT]}
    for row in rows:
        by_split[_split(row)].append(row)
    records = {
        split: {"split": split, "Overall": _mean(row["hit"] for row in members)} for split, members in by_split.items()
    }
    for column in ("l2-category", "category"):
        names = _sorted(row[column] for row in rows if _is_filled(row, column))
        for split, members in by_split.items():
            hits = _grouped((row[column], row["hit"]) for row in members if _is_filled(row, column))
            records[split].update((_ABILITIES.get(name, name), _mean(hits.get(name, ()))) for name in names)
    return list(records.values())


def yes_no_rating(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the percentage of right rows: `Overall`, then each category and each l2-category.

    A row is right if `yes_or_no` of its `prediction` is its `answer`, Yes or No. No rows give `Overall` None.
    """
    return rating([{**row, "hit": float(yes_or_no(row["prediction"]) == row["answer"])} for row in rows])


def rating(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the mean of `hit` in percent: `Overall`, then each category and each l2-category.

    >>> rating([{"hit": 1, "category": "ocr"}, {"hit": 0}])
    {'Overall': 50.0, 'ocr': 100.0}
    """
    means = {"Overall": _percent(_mean(row["hit"] for row in rows))}
    for column in ("category", "l2-category"):
        hits = _grouped((row[column], row["hit"]) for row in rows if _is_filled(row, column))
        means.update((name, _percent(_mean(hits[name]))) for name in _sorted(hits))
    return means


def circular_evaluation(rows: Sequence[Row]) -> CircularResult:
    """Score questions that were asked once per rotation of their options.

    Rows have `index`, `answer`, `prediction` and their options in the columns A to Z. A question is right only if
    `can_infer` reads the answer out of every copy; a refusal or a reply that cannot be read is wrong. Copies of a
    question that is itself not among the rows count as rows only.
    """
    row_hits = {_index(row): _hit(row) for row in rows}
    copies = _grouped((index % _ROLL, hit) for index, hit in row_hits.items())
    firsts = [row for row in rows if _index(row) < _ROLL]
    group_hits = {_index(row): int(all(copies[_index(row)])) for row in firsts}
    return CircularResult(
        group_hits=group_hits,
        group_report=_report_with(firsts, group_hits),
        row_hits=row_hits,
        first_report=_report_with(firsts, row_hits),
        row_report=_report_with(rows, row_hits),
    )


def _report_with(rows: Sequence[Row], hits: Mapping[int, int]) -> list[Record]:
    return report_acc([{**row, "hit": hits[_index(row)]} for row in rows])


def _hit(row: Row) -> int:
    choices = {label: row[label] for label in ascii_uppercase if _is_filled(row, label)}
    label = can_infer(row["prediction"], choices)
    return int(label is not None and label == row["answer"])


def _index(row: Row) -> int:
    return int(row["index"])


def _split(row: Row) -> Any:
    return row["split"] if _is_filled(row, "split") else _NO_SPLIT


def _is_filled(row: Row, column: str) -> bool:
    cell = row.get(column)
    return cell is not None and not (isinstance(cell, float) and math.isnan(cell))


def _sorted(names: Iterable[Any]) -> list[Any]:
    distinct = dict.fromkeys(names)
    same_kind = len({type(name) for name in distinct}) <= 1
    return sorted(distinct) if same_kind else sorted(distinct, key=str)


def _grouped(pairs: Iterable[tuple[Any, float]]) -> dict[Any, list[float]]:
    groups: dict[Any, list[float]] = defaultdict(list)
    for name, value in pairs:
        groups[name].append(value)
    return groups


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100
