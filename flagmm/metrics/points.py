"""Points that a model writes into its answer, and how many of them lie on a mask.

Reference: FlagEvalMM fef27ec6, `evaluator/point_utils.py`. Only the last line of an answer is read; a group is numbers
in round brackets with a comma between them: (x, y) is a point, (x0, y0, x1, y1) a box that stands for all its pixels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

Point = tuple[int, int]

_NUMBER = r"[-+]?\d+(?:\.\d*)?"
_GROUP = re.compile(rf"\(({_NUMBER}(?:,\s*{_NUMBER})*)\)")
_FAR = 1e12
"""Outside of every picture, yet small enough for exact floats: what an endless row of digits is cut to."""


def text2pts(text: str, width: int = 640, height: int = 480) -> list[Point]:
    """Return the points that the last line names, in pixels; they may lie outside of the picture.

    Whole numbers are pixels; a group with a decimal point in it is in fractions of the picture's sides. Boxes are cut
    at the picture's border; one with swapped corners is empty.
    """
    points: list[Point] = []
    for group in _groups(text):
        numbers = [_number(part) for part in group]
        scale = (width, height) if any("." in part for part in group) else (1, 1)
        points += _pixels(_scaled(numbers, scale), width, height)
    return points


def text2pts_norm1k(text: str, width: int = 640, height: int = 480) -> list[Point]:
    """Return the points that the last line names in thousandths of the picture's sides, moved into the picture.

    Corners of boxes may come in any order.
    """
    points: list[Point] = []
    for group in _groups(text):
        numbers = _scaled([_number(part) / 1000 for part in group], (width, height))
        if len(numbers) == 2:
            x, y = numbers
            numbers = [max(0, min(x, width - 1)), max(0, min(y, height - 1))]
        elif len(numbers) == 4:
            x0, y0, x1, y1 = numbers
            numbers = [min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)]
        points += _pixels(numbers, width, height)
    return points


def points_in_unit(text: str, width: int, height: int, *, unit: Literal["pixels", "fractions"]) -> list[Point]:
    """Return the points that the last line names, in pixels, where all numbers are of one unit.

    >>> points_in_unit("(0.5, 1)", 20, 10, unit="fractions"), points_in_unit("(3.0, 5)", 20, 10, unit="pixels")
    ([(10, 10)], [(3, 5)])
    """
    scale = (width, height) if unit == "fractions" else (1, 1)
    points: list[Point] = []
    for group in _groups(text):
        points += _pixels(_scaled([_number(part) for part in group], scale), width, height)
    return points


def named_numbers(text: str) -> list[list[float]]:
    """Return the numbers of each group in the last line, as they stand."""
    return [[_number(part) for part in group] for group in _groups(text)]


def calculate_mask_score(points: Sequence[Sequence[int]], mask_img: Image.Image | NDArray[Any]) -> float:
    """Return the mean value of the mask, 0 to 1, over the points.

    A point outside counts 0; no points score 0. The first channel of a coloured mask counts, 255 being full; a mask
    of truth values is taken as it is.
    """
    import numpy as np

    if len(points) == 0:
        return 0.0
    mask = _mask_values(mask_img)
    places = np.asarray(points)
    x, y = places[:, 0], places[:, 1]
    inside = (x >= 0) & (x < mask.shape[1]) & (y >= 0) & (y < mask.shape[0])
    hits = mask[y[inside].astype(np.int64), x[inside].astype(np.int64)]
    return float(hits.sum() / len(places))


def white_point(mask_img: Image.Image) -> Point | None:
    """Return the first of the brightest places of a mask; None where all of it is black."""
    import numpy as np

    mask = _mask_values(mask_img)
    y, x = np.unravel_index(int(np.argmax(mask)), mask.shape)
    return (int(x), int(y)) if mask[y, x] else None


def _groups(text: str) -> list[list[str]]:
    line = text.strip().split("\n")[-1] if text else ""
    return [group.split(",") for group in _GROUP.findall(line)]


def _number(text: str) -> float:
    return max(-_FAR, min(float(text), _FAR))


def _scaled(numbers: Sequence[float], scale: tuple[int, int]) -> list[int]:
    return [int(number * scale[order % 2]) for order, number in enumerate(numbers)]


def _pixels(numbers: Sequence[int], width: int, height: int) -> list[Point]:
    """The points of one group; none where it is neither a point nor a box."""
    if len(numbers) == 2:
        return [(numbers[0], numbers[1])]
    if len(numbers) != 4:
        return []
    x0, y0, x1, y1 = numbers
    columns = range(max(0, x0), min(width, x1))
    return [(x, y) for y in range(max(0, y0), min(height, y1)) for x in columns]


def _mask_values(mask_img: Image.Image | NDArray[Any]) -> NDArray[Any]:
    import numpy as np
    from PIL import Image

    if isinstance(mask_img, Image.Image) and mask_img.mode == "P":
        mask_img = mask_img.convert("RGB")  # the numbers of a palette's colours are no brightness
    mask = np.asarray(mask_img)
    if mask.ndim == 3:
        mask = mask[:, :, 0]
    return mask if mask.dtype == np.bool_ else mask / 255
