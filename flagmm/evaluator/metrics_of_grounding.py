"""Metrics of answers that are points or quantities."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from flagmm.errors import DataError
from flagmm.evaluator.metric import Metric, Summary, has_answer
from flagmm.evaluator.metrics_of_boxes import UnitCheck
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.extraction import extract_number, strip_thinking
from flagmm.metrics.boxes import Unit, looks_like_other_unit
from flagmm.metrics.flagevalmm_numbers import mean_relative_accuracy, read_quantity, to_float
from flagmm.metrics.points import (
    Point,
    calculate_mask_score,
    named_numbers,
    points_in_unit,
    text2pts,
    text2pts_norm1k,
    white_point,
)
from flagmm.registry import METRICS
from flagmm.types import Annotation

PointUnit = Literal["auto", "pixels", "fractions", "thousandths"]


@METRICS.register_module("point_in_mask")
class PointInMask(Metric):
    """The share of the points named in a reply's last line that lie on the right region; no points score 0.

    The annotation's `mask_path`, below the data folder, is a picture of the size of the one asked about, white where a
    point is right.

    Args:
        unit: "pixels", "fractions" (0 to 1) or "thousandths" (0 to 1000) of the sides; "auto" takes whole numbers for
            pixels and decimals for fractions.
        mask_key: the annotation's field with the path.
    """

    def __init__(self, *, unit: PointUnit = "auto", mask_key: str = "mask_path") -> None:
        self._unit: PointUnit = unit
        self._mask_key = mask_key
        self._units = UnitCheck("point_in_mask")

    def can_score(self, annotation: Annotation) -> bool:
        return bool(annotation.get(self._mask_key))

    def gold_reply(self, annotation: Annotation) -> str | None:
        mask = self._mask(annotation)
        if (point := white_point(mask)) is None:
            return None
        x, y = point
        if self._unit in ("auto", "pixels"):
            return f"({x}, {y})"
        whole = 1000 if self._unit == "thousandths" else 1
        return f"({(x + 0.5) / mask.width * whole:.6f}, {(y + 0.5) / mask.height * whole:.6f})"

    def score(self, text: str, annotation: Annotation) -> Verdict:
        """The verdict on one reply.

        Raises:
            DataError: the mask cannot be read.
        """
        mask, answer = self._mask(annotation), strip_thinking(text)
        points = self._read(answer, mask.width, mask.height)
        value = calculate_mask_score(points, mask)
        if points:
            self._check_unit(answer, (mask.width, mask.height), is_hit=value > 0)
        extracted = [list(point) for point in points[:_MOST_POINTS]]
        return Verdict(correct=value, extracted=extracted or None, rule="points" if points else "no_answer")

    def _read(self, text: str, width: int, height: int) -> list[Point]:
        if self._unit == "auto":
            return text2pts(text, width, height)
        if self._unit == "thousandths":
            return text2pts_norm1k(text, width, height)
        return points_in_unit(text, width, height, unit=self._unit)

    def _check_unit(self, text: str, size: tuple[int, int], *, is_hit: bool) -> None:
        groups = named_numbers(text)
        unit: Unit = "pixels" if self._unit == "auto" else self._unit
        if self._unit == "auto" and "." in text:
            unit = "fractions"
        others = [looks_like_other_unit(group, unit, size) for group in groups if len(group) in (2, 4)]
        self._units.add(unit, None if is_hit else next((other for other in others if other), None))

    def _mask(self, annotation: Annotation) -> Any:
        return _open_mask(Path(annotation.get("data_root") or "", os.fspath(annotation[self._mask_key])))

    def summarize(self, items: Sequence[Judged]) -> Summary:
        self._units.tell()
        return super().summarize(items)


_MOST_POINTS = 100  # a box stands for each of its pixels


def _open_mask(path: Path) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            picture.load()
            return picture.copy()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; point_in_mask needs the mask of each question") from None
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: not a readable picture: {error}") from None


@METRICS.register_module("mean_relative_accuracy")
class MeanRelativeAccuracy(Metric):
    """VSI-Bench's score of a quantity: the share of the thresholds 0.50, 0.55, … 0.95 that its relative error passes.

    Args:
        rule: "reference" takes the first unsigned number of a reply, or its first number word; "careful" the number
            that it states last.
    """

    name = "mra"

    def __init__(self, *, rule: Rule = "reference") -> None:
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        return has_answer(annotation) and to_float(annotation["answer"]) is not None

    def score(self, text: str, annotation: Annotation) -> Verdict:
        target = to_float(annotation["answer"])
        read = {"reference": to_float(read_quantity(strip_thinking(text))), "careful": to_float(_stated_number(text))}
        number = read[self._rule]
        return verdict_by(
            self._rule,
            reference=mean_relative_accuracy(read["reference"], target),
            careful=mean_relative_accuracy(read["careful"], target),
            extracted=number,
            read_by="no_answer" if number is None else f"{self._rule}_number",
        )


def _stated_number(text: str) -> Any:
    return extract_number(text).value
