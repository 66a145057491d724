"""POPE: does the model see what is not there? Yes/no questions, scored as a search for "yes".

References: POPE 08d957b9, `evaluate.py` (labels and fractions); VLMEvalKit e8e78f05, `yorn.py:POPE_rating` (the table
by category); lmms-eval 75571cfe, `tasks/pope/utils.py` (exact labels). Labels are "yes", "no" or None where a reply
says neither; only `pope_label` never says None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Label = Literal["yes", "no"]

_DENIALS = {"No", "no", "not"}


@dataclass(frozen=True, kw_only=True)
class PopeScores:
    """Fractions, from 0 to 1. Precision, recall and F1 are 0 where the reference divides by zero."""

    accuracy: float | None
    """None for no questions; so is `yes_ratio`."""
    precision: float
    recall: float
    f1: float
    yes_ratio: float | None
    """Share of replies that say yes."""


def pope_label(text: str) -> Label:
    """Return what the benchmark's own script reads: "no" if the text before the first period holds `No`, `no` or `not`.

    Everything else is "yes", be it empty, a refusal, "NO" or "**No**". For a careful reading, give the labels of
    another reader to `pope_scores`.
    """
    words = text.split(".", 1)[0].replace(",", "").split(" ")
    return "no" if _DENIALS.intersection(words) else "yes"


def exact_label(text: str) -> Label | None:
    """Return the label of a reply that is "yes" or "no" and nothing else, as lmms-eval wants it."""
    word = text.lower().strip()
    return "yes" if word == "yes" else "no" if word == "no" else None


def pope_scores(golds: Sequence[Label], labels: Sequence[Label | None], *, unread_is_miss: bool = True) -> PopeScores:
    """Return accuracy, precision, recall, F1 (positive is "yes") and the share of "yes".

    Args:
        labels: what the replies say, in the order of `golds`; None is always wrong and never a "yes".
        unread_is_miss: whether None where "yes" is right lowers the recall; in lmms-eval it does not.
    """
    pairs = list(zip(golds, labels, strict=True))
    found = pairs.count(("yes", "yes"))
    missed = pairs.count(("yes", "no")) + (pairs.count(("yes", None)) if unread_is_miss else 0)
    precision = _ratio(found, found + pairs.count(("no", "yes")))
    recall = _ratio(found, found + missed)
    return PopeScores(
        accuracy=sum(gold == label for gold, label in pairs) / len(pairs) if pairs else None,
        precision=precision,
        recall=recall,
        f1=_ratio(2 * precision * recall, precision + recall),
        yes_ratio=yes_ratio(labels),
    )


def yes_ratio(labels: Sequence[Label | None]) -> float | None:
    """Return the share of "yes"; None for no labels.

    lmms-eval reports that of the reference answers, which says nothing about the model.
    """
    return labels.count("yes") / len(labels) if labels else None


def pope_by_category(
    golds: Sequence[Label], labels: Sequence[Label | None], categories: Sequence[str]
) -> list[dict[str, Any]]:
    """Return VLMEvalKit's table, in percent: `Overall`, then each category in order; `Overall` there is F1.

    A category may be several, with commas between; such a question counts once in each, and as often in `Overall`.
    No questions give one line with an `acc` of None.
    """
    rows = [
        (name, gold, label)
        for gold, label, joined in zip(golds, labels, categories, strict=True)
        for name in joined.split(",")
    ]
    table = [_category_line("Overall", [(gold, label) for _, gold, label in rows])]
    for category in sorted({name for name, _, _ in rows if name}):
        table.append(_category_line(category, [(gold, label) for name, gold, label in rows if name == category]))
    return table


def _category_line(split: str, pairs: Sequence[tuple[Label, Label | None]]) -> dict[str, Any]:
    scores = pope_scores([gold for gold, _ in pairs], [label for _, label in pairs])
    return {
        "split": split,
        "Overall": scores.f1 * 100,
        "acc": None if scores.accuracy is None else scores.accuracy * 100,
        "precision": scores.precision * 100,
        "recall": scores.recall * 100,
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
