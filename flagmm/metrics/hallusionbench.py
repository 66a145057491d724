"""HallusionBench: accuracy per question (aAcc), per figure (fAcc) and per question over its figures (qAcc).

References: HallusionBench 744007c2, `utils.py`; VLMEvalKit e8e78f05, `dataset/utils/yorn.py:Hallusion_rating`;
FlagEvalMM fef27ec6, `tasks/hallusion_bench/evaluate.py`. A figure or a question is right only if all its rows are.
The official keys include the category; the other two mix up what VD and VS both have, such as "ocr".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

Verdict = Literal["right", "wrong", "unclear"]
"""Whether a reply agrees with the reference; "unclear" where it says neither yes nor no."""

_Key = Callable[["HallusionRow"], Hashable]


@dataclass(frozen=True, kw_only=True)
class HallusionRow:
    """One question and what became of it."""

    category: str
    """"VD" (the figure is needed) or "VS" (the figure supplements common knowledge)."""
    subcategory: str
    set_id: str
    figure_id: str
    """"0" is the original figure; for VS there is none then."""
    question_id: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class HallusionShares:
    """Fractions, from 0 to 1; None where there is nothing to count."""

    question: float | None
    figure: float | None
    pair: float | None
    """Questions that are right on all their figures."""


def hallusionbench_shares(rows: Sequence[HallusionRow], *, keys_with_category: bool = True) -> HallusionShares:
    """Return the three accuracies over all rows, unclear replies being wrong."""
    prefix = _subcategory_of_category if keys_with_category else _subcategory
    return HallusionShares(
        question=_share([row.verdict == "right" for row in rows]),
        figure=_share(_all_right(rows, lambda row: (prefix(row), row.set_id, row.figure_id)).values()),
        pair=_share(_all_right(rows, lambda row: (prefix(row), row.set_id, row.question_id)).values()),
    )


def hallusionbench_vlmevalkit(rows: Sequence[HallusionRow]) -> list[dict[str, Any]]:
    """Return VLMEvalKit's table, in percent: `Overall`, then each category, then each subcategory, in order.

    No rows give one line of None.
    """
    groups = {"Overall": list(rows)}
    for category in sorted({row.category for row in rows}):
        groups[category] = [row for row in rows if row.category == category]
    table = [_vlmevalkit_line(name, members) for name, members in groups.items()]
    for subcategory in sorted({row.subcategory for row in rows}):
        table.append(_vlmevalkit_line(subcategory, [row for row in rows if row.subcategory == subcategory]))
    return table


def hallusionbench_official(rows: Sequence[HallusionRow]) -> dict[str, Any]:
    """Return the figures of the benchmark's own script, in percent with four decimals.

    It differs from the others on VS questions that have no figure (`figure_id` "0"): there an unclear reply is right,
    and fAcc leaves them out. `figure_stats` holds figures that are right, wrong on all, and wrong on some of their
    questions, and the mean share of right questions; {} without figures.

    Where the script fails, there is None: aAcc for no rows, fAcc for no figures, qAcc where a question lacks its row
    with `figure_id` "0".
    """
    right = [_officially_right(row) for row in rows]
    figures: dict[Hashable, list[bool]] = defaultdict(list)
    pairs: dict[Hashable, list[bool]] = defaultdict(list)
    originals = set()
    for row, is_right in zip(rows, right, strict=True):
        pair = (row.category, row.subcategory, row.set_id, row.question_id)
        pairs[pair].append(is_right)
        if row.figure_id == "0":
            originals.add(pair)
        if not _lacks_figure(row):
            figures[row.category, row.subcategory, row.set_id, row.figure_id].append(is_right)
    return {
        "aAcc": _percent4(right),
        "fAcc": _percent4([all(members) for members in figures.values()]),
        "qAcc": _percent4([all(members) for members in pairs.values()]) if originals == pairs.keys() else None,
        "figure_stats": _figure_stats(list(figures.values())),
    }


def hallusionbench_flagevalmm(rows: Sequence[HallusionRow]) -> dict[str, float | None]:
    """Return FlagEvalMM's figures, in percent with two decimals; `accuracy` is the one over figures.

    No rows give None.
    """
    shares = hallusionbench_shares(rows, keys_with_category=False)
    names = {
        "question_acc": shares.question,
        "question_pair_acc": shares.pair,
        "figure_acc": shares.figure,
        "accuracy": shares.figure,
    }
    return {name: None if share is None else round(share * 100, 2) for name, share in names.items()}


def _subcategory(row: HallusionRow) -> Hashable:
    return row.subcategory


def _subcategory_of_category(row: HallusionRow) -> Hashable:
    return row.category, row.subcategory


def _all_right(rows: Iterable[HallusionRow], key: _Key) -> dict[Hashable, bool]:
    groups: dict[Hashable, bool] = {}
    for row in rows:
        name = key(row)
        groups[name] = groups.get(name, True) and row.verdict == "right"
    return groups


def _share(values: Iterable[bool]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _vlmevalkit_line(split: str, rows: Sequence[HallusionRow]) -> dict[str, Any]:
    shares = hallusionbench_shares(rows, keys_with_category=False)
    named = {"aAcc": shares.question, "fAcc": shares.figure, "qAcc": shares.pair}
    return {"split": split, **{name: None if share is None else share * 100 for name, share in named.items()}}


def _lacks_figure(row: HallusionRow) -> bool:
    return row.category == "VS" and row.figure_id == "0"


def _officially_right(row: HallusionRow) -> bool:
    return row.verdict == "right" or (row.verdict == "unclear" and _lacks_figure(row))


def _percent4(values: Sequence[bool]) -> float | None:
    return round(100 * sum(values) / len(values), 4) if values else None


def _figure_stats(figures: Sequence[Sequence[bool]]) -> dict[str, float]:
    if not figures:
        return {}
    correct = sum(all(members) for members in figures)
    wrong = sum(not any(members) for members in figures)
    return {
        "total": len(figures),
        "correct": correct,
        "wrong": wrong,
        "inconsistent": len(figures) - correct - wrong,
        "score": fsum(sum(members) / len(members) for members in figures) / len(figures),
    }
