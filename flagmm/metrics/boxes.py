"""Boxes that a model writes into its answer, and how well they meet the right ones.

References: FlagEvalMM fef27ec6, `tasks/refcoco/evaluate.py`, and for the overlap lmms-eval 75571cfe,
`tasks/refcoco/utils_rec.py`, which computes the same. A box is left, top, right, bottom, in any unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from flagmm.thinking import split_thinking

Box = tuple[float, float, float, float]
Rule = Literal["reference", "careful"]

NO_BOX: Box = (0.0, 0.0, 0.0, 0.0)
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)

_NUMBER = r"-?\d+(?:\.\d+)?"
_ANY_FOUR = re.compile(rf"({_NUMBER})" + rf"\s*,?\s*({_NUMBER})" * 3)
_CAREFUL_NUMBER = r"(-?(?:\d+(?:\.\d+)?|\.\d+))"
_SEPARATOR = r"(?:\s*\)?\s*[,，;；]\s*\(?\s*|\s+)"
_CAREFUL_FOUR = re.compile(
    rf"(?<![\d.,]){_CAREFUL_NUMBER}" + f"{_SEPARATOR}{_CAREFUL_NUMBER}" * 3 + r"(?![\d.]*\d)", re.ASCII
)
_MAX_DIGITS = 300


def parse_box(text: str, *, rule: Rule = "reference") -> Box:
    """Return the box that an answer names, or `NO_BOX` where it names none.

    The reference takes the first four numbers with nothing but blanks and single commas between them, even the digits
    of one number ("2024" is a box). The careful rule removes thinking first, takes the last box, wants whole numbers
    apart, and reads two points "(x, y), (x, y)" too.

    >>> parse_box("The box is [10, 20, 30.5, 40].")
    (10.0, 20.0, 30.5, 40.0)
    """
    if rule == "reference":
        found = _ANY_FOUR.search(text)
        return _box(found) if found else NO_BOX
    boxes = list(_CAREFUL_FOUR.finditer(split_thinking(text).answer))
    return _box(boxes[-1]) if boxes else NO_BOX


def box_iou(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the shared area as a part of the area of both; 0 where both are empty.

    Swapped corners are not put right: they make an area negative or nothing.
    """
    width = max(0.0, min(first[2], second[2]) - max(first[0], second[0]))
    height = max(0.0, min(first[3], second[3]) - max(first[1], second[1]))
    shared = width * height
    union = _area(first) + _area(second) - shared
    return shared / union if union else 0.0


def is_box_hit(gold: Sequence[float], predicted: Sequence[float], *, threshold: float = 0.5) -> bool:
    """Say whether the overlap is at least `threshold`."""
    return box_iou(gold, predicted) >= threshold


def is_center_hit(gold: Sequence[float], predicted: Sequence[float]) -> bool:
    """Say whether the middle of the predicted box is in the gold box, its border included."""
    x, y = (predicted[0] + predicted[2]) / 2, (predicted[1] + predicted[3]) / 2
    return gold[0] <= x <= gold[2] and gold[1] <= y <= gold[3]


def box_report(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> dict[str, float | None]:
    """Return `IoU`, `ACC@0.1` … `ACC@0.9` and `Center_ACC` as means from 0 to 1 over pairs of gold and predicted box.

    Without pairs each is None.
    """
    boxes = list(pairs)
    scores: dict[str, list[float]] = {"IoU": [box_iou(*pair) for pair in boxes]}
    for threshold in THRESHOLDS:
        scores[f"ACC@{threshold}"] = [iou >= threshold for iou in scores["IoU"]]
    scores["Center_ACC"] = [is_center_hit(*pair) for pair in boxes]
    return {name: sum(values) / len(boxes) if boxes else None for name, values in scores.items()}


def _box(found: re.Match[str]) -> Box:
    left, top, right, bottom = (_number(digits) for digits in found.groups())
    return left, top, right, bottom


def _number(digits: str) -> float:
    return float(digits[:_MAX_DIGITS])


def _area(box: Sequence[float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
