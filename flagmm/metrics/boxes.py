"""Boxes that a model writes into its answer, and how well they meet the right ones.

References: FlagEvalMM fef27ec6, `tasks/refcoco/evaluate.py`, and for the overlap lmms-eval 75571cfe,
`tasks/refcoco/utils_rec.py`, which computes the same. A box is left, top, right, bottom, in any unit, unless its form
is said to be "xywh": left, top, width, height.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from flagmm.thinking import split_thinking

Box = tuple[float, float, float, float]
Rule = Literal["reference", "careful"]
Unit = Literal["pixels", "fractions", "thousandths"]
"""What a coordinate counts: pixels, or parts from 0 to 1 or from 0 to 1000 of the picture's width or height."""
Form = Literal["xyxy", "xywh"]

NO_BOX: Box = (0.0, 0.0, 0.0, 0.0)
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)

_NUMBER = r"-?\d+(?:\.\d+)?"
_ANY_FOUR = re.compile(rf"({_NUMBER})" + rf"\s*,?\s*({_NUMBER})" * 3)
_CAREFUL_NUMBER = r"(-?(?:\d+(?:\.\d+)?|\.\d+))"
_SEPARATOR = r"(?:\s*\)?\s*[,，;；]\s*\(?\s*|\s+)"
_BETWEEN_CORNERS = rf"(?:{_SEPARATOR}|\s*[)\]]\s*(?:[,;–-]|to|and)?\s*(?:bottom[ -]?right:?\s*)?[(\[]\s*)"
_CAREFUL_FOUR = re.compile(
    rf"(?<![\d.,]){_CAREFUL_NUMBER}{_SEPARATOR}{_CAREFUL_NUMBER}{_BETWEEN_CORNERS}"
    rf"{_CAREFUL_NUMBER}{_SEPARATOR}{_CAREFUL_NUMBER}(?![\d.]*\d)",
    re.ASCII | re.IGNORECASE,
)
_SIDE_NAME = re.compile(
    r"""["']?\b(?:[xy]_?(?:[012]|min|max)?|left|top|right|bottom|w|h|width|height)["']?\s*[=:]\s*""", re.IGNORECASE
)
_MAX_DIGITS = 300
_BEYOND = 1.05


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
    boxes = parse_boxes(text)
    return boxes[-1] if boxes else NO_BOX


def parse_boxes(text: str) -> list[Box]:
    """Return all boxes that an answer names, in order, read with care; a box may be two corners, or have named sides.

    >>> parse_boxes("(10,20),(110,120)"), parse_boxes("[[1, 2, 3, 4], [5, 6, 7, 8]]")
    ([(10.0, 20.0, 110.0, 120.0)], [(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)])
    """
    answer = split_thinking(text).answer
    if ":" in answer or "=" in answer:
        answer = _SIDE_NAME.sub("", answer)
    return [_box(found) for found in _CAREFUL_FOUR.finditer(answer)]


def to_corners(box: Sequence[float], form: Form) -> Box:
    """Return the box as left, top, right, bottom."""
    left, top, third, fourth = box
    return (left, top, left + third, top + fourth) if form == "xywh" else (left, top, third, fourth)


def from_corners(box: Sequence[float], form: Form) -> Box:
    """Return left, top, right, bottom in that form."""
    left, top, right, bottom = box
    return (left, top, right - left, bottom - top) if form == "xywh" else (left, top, right, bottom)


def convert_unit(box: Sequence[float], given: Unit, wanted: Unit, size: tuple[float, float] | None) -> Box:
    """Return the corners in another unit.

    Args:
        size: width and height of the picture in pixels; needed only where one of the units is pixels.

    Raises:
        ValueError: it is needed and missing.
    """
    if given != wanted and size is None and "pixels" in (given, wanted):
        raise ValueError("the picture's size is needed to convert pixels")
    whole = {"fractions": (1.0, 1.0), "thousandths": (1000.0, 1000.0), "pixels": size or (1.0, 1.0)}
    scales = [wanted_side / given_side for wanted_side, given_side in zip(whole[wanted], whole[given], strict=True)]
    left, top, right, bottom = box if given == wanted else [side * scales[axis % 2] for axis, side in enumerate(box)]
    return left, top, right, bottom


def looks_like_other_unit(box: Sequence[float], unit: Unit, size: tuple[float, float] | None = None) -> Unit | None:
    """Return the unit that the coordinates look like where they can hardly be of `unit`; None where they can.

    A twentieth beyond the picture's border is allowed. Without a size, pixels may be any numbers above 1.
    """
    largest = max(map(abs, box), default=0.0)
    beyond: Unit = "thousandths" if largest <= 1000 * _BEYOND else "pixels"
    if unit == "fractions":
        return beyond if largest > _BEYOND else None
    if 0 < largest <= 1:
        return "fractions"
    if unit == "thousandths":
        return "pixels" if beyond == "pixels" else None
    if size is not None and beyond == "thousandths":
        outside = max(abs(side) / size[axis % 2] for axis, side in enumerate(box))
        return "thousandths" if outside > _BEYOND else None
    return None


def match_boxes(gold: Sequence[Sequence[float]], predicted: Sequence[Sequence[float]]) -> list[float]:
    """Return the overlaps of the pairs that boxes make, each box in one pair at most, best overlaps first.

    Greedy, as COCO's evaluation pairs detections with objects; boxes that meet none are in no pair.
    """
    overlaps = sorted(
        ((box_iou(one, other), i, j) for i, one in enumerate(gold) for j, other in enumerate(predicted)), reverse=True
    )
    used_gold: set[int] = set()
    used_predicted: set[int] = set()
    pairs = []
    for overlap, i, j in overlaps:
        if overlap > 0 and i not in used_gold and j not in used_predicted:
            used_gold.add(i)
            used_predicted.add(j)
            pairs.append(overlap)
    return pairs


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
