"""The metric of answers that are boxes, and the check of the unit that coordinates are in."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.aggregate import accuracy, percent
from flagmm.evaluator.metric import Metric, Summary
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.media.orientation import SIDEWAYS, read_orientation
from flagmm.metrics.boxes import (
    NO_BOX,
    Box,
    Form,
    Unit,
    box_iou,
    convert_unit,
    from_corners,
    looks_like_other_unit,
    match_boxes,
    parse_box,
    parse_boxes,
    to_corners,
)
from flagmm.metrics.flagevalmm_numbers import to_float
from flagmm.registry import METRICS
from flagmm.types import Annotation

logger = logging.getLogger(__name__)

_ODD_SHARE = 0.1


class UnitCheck:
    """Counts replies whose coordinates look like another unit than they are taken for, and says so once."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._read = 0
        self._others: Counter[tuple[str, str]] = Counter()
        self._told = 0

    def add(self, unit: Unit, other: Unit | None) -> None:
        """Take note of one reply that names coordinates."""
        self._read += 1
        if other is not None:
            self._others[unit, other] += 1

    def tell(self) -> None:
        """Warn of all that were added, where they are more than a tenth; of the same only once."""
        others = sum(self._others.values())
        if others == self._told or others < _ODD_SHARE * self._read:
            return
        self._told = others
        (unit, other), _ = self._others.most_common(1)[0]
        logger.warning(
            "metric %s: %d of %d replies have coordinates that look like %s, and are taken for %s; see its unit",
            self._metric,
            others,
            self._read,
            other,
            unit,
        )


@METRICS.register_module("iou")
class BoxOverlap(Metric):
    """Whether the box that a reply names overlaps the right one, as a share of both, by at least `threshold`.

    `answer` is [left, top, right, bottom], or a list of such boxes; `mean_iou` is the mean overlap. Both in percent.
    With several boxes a question's score is the F1 of the boxes: each right one is paired with at most one of the
    reply's, best overlaps first, and pairs that overlap enough are hits (He et al. 2023, "GREC", for the F1 of a
    sample). `mean_iou` then is over the pairs, boxes in none counting 0.

    Args:
        threshold: from 0 to 1; an overlap of just as much is a hit.
        rule: "careful" takes the last box of a reply, "reference" its first four numbers, even the digits of one.
        unit: what the numbers of replies count: "pixels", "fractions" (0 to 1) or "thousandths" (0 to 1000) of the
            picture's sides; "same" as those of `answer`.
        answer_unit: the same of `answer`. Where pixels are converted, the picture's size is that of the annotation's
            `width` and `height`, else of its picture.
        form: of the boxes in replies: "xyxy" or "xywh" (left, top, width, height).
        answer_form: the same of `answer`.
        boxes: "one", or "several" in `answer` and in a reply.
    """

    version = 2

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        rule: Rule = "careful",
        unit: Literal["same", "pixels", "fractions", "thousandths"] = "same",
        answer_unit: Unit = "pixels",
        form: Form = "xyxy",
        answer_form: Form = "xyxy",
        boxes: Literal["one", "several"] = "one",
    ) -> None:
        if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise ConfigError(f"metric iou: threshold: expected more than 0 and at most 1, found {threshold!r}")
        if boxes == "several" and rule == "reference":
            raise ConfigError('metric iou: rule: "reference" reads one box only; leave it out, or boxes="several"')
        self._threshold = threshold
        self._rule: Rule = rule
        self._answer_unit, self._answer_form = answer_unit, answer_form
        self._unit: Unit = answer_unit if unit == "same" else unit
        self._form = form
        self._several = boxes == "several"
        self._units = UnitCheck("iou")
        self.name = f"box_f1@{threshold:g}" if self._several else f"iou@{threshold:g}"

    @property
    def mean_name(self) -> str:
        return self.name

    def can_score(self, annotation: Annotation) -> bool:
        gold = _gold_boxes(annotation)
        return bool(gold) if self._several else len(gold) == 1

    def gold_reply(self, annotation: Annotation) -> str | None:
        boxes = [
            from_corners(convert_unit(box, self._answer_unit, self._unit, self._size(annotation)), self._form)
            for box in self._gold(annotation)
        ]
        return ", ".join(str([round(side, 6) for side in box]) for box in boxes) or None

    def score(self, text: str, annotation: Annotation) -> Verdict:
        """The verdict on one reply.

        Raises:
            DataError: units are to be converted, and the picture's size is not known.
        """
        if self._several:
            return self._score_several(text, annotation)
        reference, careful = parse_box(text), parse_box(text, rule="careful")
        read = careful if self._rule == "careful" else reference
        gold = (self._gold(annotation) or [NO_BOX])[0]
        overlaps = {box: box_iou(gold, self._placed(box, annotation)) for box in (reference, careful)}
        self._check_unit([] if read == NO_BOX else [read], annotation, is_hit=overlaps[read] >= self._threshold)
        return verdict_by(
            self._rule,
            reference=float(overlaps[reference] >= self._threshold),
            careful=float(overlaps[careful] >= self._threshold),
            extracted=None if read == NO_BOX else list(read),
            read_by="no_answer" if read == NO_BOX else "box",
            scores={"iou": overlaps[read]},
        )

    def _score_several(self, text: str, annotation: Annotation) -> Verdict:
        gold, read = self._gold(annotation), parse_boxes(text)
        pairs = match_boxes(gold, [self._placed(box, annotation) for box in read])
        hits = sum(overlap >= self._threshold for overlap in pairs)
        self._check_unit(read, annotation, is_hit=hits > 0)
        return Verdict(
            correct=2 * hits / ((len(gold) + len(read)) or 1),
            extracted=[list(box) for box in read] or None,
            rule="boxes" if read else "no_answer",
            scores={"iou": fsum(pairs) / (max(len(gold), len(read)) or 1)},
        )

    def _gold(self, annotation: Annotation) -> list[Box]:
        return [to_corners(box, self._answer_form) for box in _gold_boxes(annotation)]

    def _placed(self, box: Box, annotation: Annotation) -> Box:
        """A box of a reply as corners in the answer's unit."""
        if box == NO_BOX:
            return box
        return convert_unit(to_corners(box, self._form), self._unit, self._answer_unit, self._size(annotation))

    def _size(self, annotation: Annotation) -> tuple[float, float] | None:
        is_needed = self._unit != self._answer_unit and "pixels" in (self._unit, self._answer_unit)
        return _picture_size(annotation) if is_needed else None

    def _check_unit(self, boxes: Sequence[Box], annotation: Annotation, *, is_hit: bool) -> None:
        if not boxes:
            return
        unit, size = self._unit, None
        if unit == self._answer_unit and looks_like_other_unit(self._gold(annotation)[0], unit) == "fractions":
            unit = "fractions"  # the answers are, and replies need only be of the same unit
        if unit == "pixels" and not is_hit:
            with suppress(DataError):  # without a size less can be told
                size = _picture_size(annotation)
        corners = [side for box in boxes for side in to_corners(box, self._form)]
        self._units.add(unit, None if is_hit else looks_like_other_unit(corners, unit, size))

    def summarize(self, items: Sequence[Judged]) -> Summary:
        self._units.tell()
        overlaps = [_mean_overlap(item) for item in items if item.counts]
        return {self.name: accuracy(items), "mean_iou": percent(fmean(overlaps)) if overlaps else None}


def _mean_overlap(item: Judged) -> float:
    return fmean([(verdict.scores or {}).get("iou", 0.0) if verdict else 0.0 for verdict in item.verdicts])


def _gold_boxes(annotation: Annotation) -> list[Box]:
    """The right boxes; a text may hold them."""
    answer: Any = annotation.get("answer")
    if isinstance(answer, str):
        return parse_boxes(answer)
    if not isinstance(answer, list | tuple):
        return []
    if any(isinstance(part, list | tuple) for part in answer):
        boxes = [_box_of_numbers(part) for part in answer]
    else:
        boxes = [_box_of_numbers(answer)]
    return [] if None in boxes else [box for box in boxes if box is not None]


def _box_of_numbers(answer: Any) -> Box | None:
    numbers = [to_float(side) for side in answer] if isinstance(answer, list | tuple) else []
    if len(numbers) != 4 or None in numbers:
        return None
    left, top, right, bottom = (number or 0.0 for number in numbers)
    return left, top, right, bottom


def _picture_size(annotation: Annotation) -> tuple[float, float]:
    """Width and height in pixels, from the annotation's fields of these names, else from its first picture.

    Raises:
        DataError: neither tells.
    """
    sides = [to_float(annotation.get(key)) for key in ("width", "height")]
    if sides[0] and sides[1] and min(sides[0], sides[1]) > 0:
        return sides[0], sides[1]
    listed = annotation.get("img_path")
    path = listed[0] if isinstance(listed, list | tuple) and listed else listed
    if not isinstance(path, str | os.PathLike) or not path:
        name = annotation.get("question_id")
        raise DataError(f"question_id {name!r}: no width and height, and no img_path, to convert pixels by")
    return _upright_size(Path(annotation.get("data_root") or "", os.fspath(path)))


def _upright_size(path: Path) -> tuple[float, float]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:  # the header alone is read
            width, height = picture.size
            is_turned = read_orientation(picture.info) in SIDEWAYS
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: its size cannot be read, to convert pixels by: {error}") from None
    return (height, width) if is_turned else (width, height)
