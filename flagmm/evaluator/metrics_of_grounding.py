"""Metrics of answers that are boxes, points or quantities."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.aggregate import accuracy, percent
from flagmm.evaluator.metric import Metric, Summary, has_answer
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.extraction import extract_number, strip_thinking
from flagmm.metrics.boxes import NO_BOX, box_iou, is_box_hit, parse_box
from flagmm.metrics.flagevalmm_numbers import mean_relative_accuracy, read_quantity, to_float
from flagmm.metrics.points import calculate_mask_score, text2pts, text2pts_norm1k
from flagmm.registry import METRICS
from flagmm.types import Annotation


@METRICS.register_module("iou")
class BoxOverlap(Metric):
    """Whether the box that a reply names overlaps the right one, as a share of both, by at least `threshold`.

    `answer` is [left, top, right, bottom], in the unit that replies use; `mean_iou` is the mean overlap. Both in
    percent.

    Args:
        threshold: from 0 to 1; an overlap of just as much is a hit.
        rule: "reference" takes the first four numbers of a reply for its box, "careful" the last four that are apart.
    """

    def __init__(self, *, threshold: float = 0.5, rule: Rule = "reference") -> None:
        if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise ConfigError(f"metric iou: threshold: expected more than 0 and at most 1, found {threshold!r}")
        self._threshold = threshold
        self._rule: Rule = rule
        self.name = f"iou@{threshold:g}"

    @property
    def mean_name(self) -> str:
        return self.name

    def can_score(self, annotation: Annotation) -> bool:
        return _box(annotation) is not None

    def score(self, text: str, annotation: Annotation) -> Verdict:
        gold = _box(annotation) or NO_BOX
        reference, careful = parse_box(text), parse_box(text, rule="careful")
        read = careful if self._rule == "careful" else reference
        return verdict_by(
            self._rule,
            reference=float(is_box_hit(gold, reference, threshold=self._threshold)),
            careful=float(is_box_hit(gold, careful, threshold=self._threshold)),
            extracted=None if read == NO_BOX else list(read),
            read_by="no_answer" if read == NO_BOX else "box",
            scores={"iou": box_iou(gold, read)},
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        overlaps = [_mean_overlap(item) for item in items if item.counts]
        return {self.name: accuracy(items), "mean_iou": percent(fmean(overlaps)) if overlaps else None}


def _mean_overlap(item: Judged) -> float:
    return fmean([(verdict.scores or {}).get("iou", 0.0) if verdict else 0.0 for verdict in item.verdicts])


def _box(annotation: Annotation) -> tuple[float, float, float, float] | None:
    """The right box; a text may hold it."""
    answer: Any = annotation.get("answer")
    if isinstance(answer, str):
        box = parse_box(answer, rule="careful")
        return None if box == NO_BOX else box
    numbers = [to_float(side) for side in answer] if isinstance(answer, list | tuple) else []
    if len(numbers) != 4 or None in numbers:
        return None
    left, top, right, bottom = (number or 0.0 for number in numbers)
    return left, top, right, bottom


@METRICS.register_module("point_in_mask")
class PointInMask(Metric):
    """The share of the points named in a reply's last line that lie on the right region; no points score 0.

    The annotation's `mask_path`, below the data folder, is a picture of the size of the one asked about, white where a
    point is right.

    Args:
        unit: "auto" takes whole numbers for pixels and decimals for fractions of the sides; "thousandths" takes all
            numbers for thousandths of the sides.
        mask_key: the annotation's field with the path.
    """

    def __init__(self, *, unit: Literal["auto", "thousandths"] = "auto", mask_key: str = "mask_path") -> None:
        self._read = text2pts if unit == "auto" else text2pts_norm1k
        self._mask_key = mask_key

    def can_score(self, annotation: Annotation) -> bool:
        return bool(annotation.get(self._mask_key))

    def score(self, text: str, annotation: Annotation) -> Verdict:
        """The verdict on one reply.

        Raises:
            DataError: the mask cannot be read.
        """
        mask = _open_mask(Path(annotation.get("data_root") or "", os.fspath(annotation[self._mask_key])))
        points = self._read(strip_thinking(text), mask.width, mask.height)
        value = calculate_mask_score(points, mask)
        extracted = [list(point) for point in points[:_MOST_POINTS]]
        return Verdict(correct=value, extracted=extracted or None, rule="points" if points else "no_answer")


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
