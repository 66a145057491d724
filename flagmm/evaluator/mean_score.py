"""The mean of the questions' scores, with what tells how sure it is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from flagmm.errors import DataError
from flagmm.evaluator.aggregate import counted_scores, field_values, percent
from flagmm.evaluator.verdict import Judged
from flagmm.metrics.statistics import (
    Interval,
    clustered_interval,
    clustered_standard_error,
    standard_error,
    wilson_interval,
)
from flagmm.registry import did_you_mean


@dataclass(frozen=True, kw_only=True)
class MeanScore:
    """All but `n` in percent, and None where the questions are too few to tell."""

    n: int
    """Questions in the denominator."""
    mean: float | None
    stderr: float | None
    interval: list[float] | None
    """Of 95 %."""


def mean_score(items: Sequence[Judged], *, cluster_by: str | None = None) -> MeanScore:
    """The mean over all questions asked that can be scored.

    Args:
        cluster_by: the annotation's field whose value questions share that depend on each other; one without a value
            shares it with no other. Without a field Wilson's interval is taken, and all questions for independent.
    """
    return _mean_of(counted_scores(items), None if cluster_by is None else _clusters(items, cluster_by))


def mean_of(scores: Sequence[float]) -> MeanScore:
    """The same of bare scores, from 0 to 1."""
    return _mean_of(scores, None)


def _mean_of(scores: Sequence[float], clusters: Sequence[Hashable] | None) -> MeanScore:
    if not scores:
        return MeanScore(n=0, mean=None, stderr=None, interval=None)
    mean = fmean(scores)
    if clusters is None:
        error, interval = standard_error(scores), wilson_interval(mean * len(scores), len(scores))
    else:
        error, interval = clustered_standard_error(scores, clusters), clustered_interval(scores, clusters)
    return MeanScore(
        n=len(scores),
        mean=percent(mean),
        stderr=None if error is None else percent(error),
        interval=_in_percent(interval),
    )


def _in_percent(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [percent(interval.low), percent(interval.high)]


def _clusters(items: Sequence[Judged], key: str) -> list[Hashable]:
    """What each question that counts shares with others; where nothing, a number, which no field's text equals."""
    values = zip(items, field_values(items, key), strict=True)
    return [place if value is None else str(value) for place, (item, value) in enumerate(values) if item.counts]


def about_interval(items: Sequence[Judged], cluster_by: str | None) -> dict[str, Any]:
    """How the intervals were made, as `_result.json` tells it.

    Raises:
        DataError: no question has the field to cluster by.
    """
    if cluster_by is None:
        return {"level": 95, "method": "wilson"}
    if items and all(value is None for value in field_values(items, cluster_by)):
        fields = {name for item in items for name in item.answer.annotation}
        raise DataError(f"cluster_by: no question has a field {cluster_by!r}.{did_you_mean(cluster_by, fields)}")
    clusters = len(set(_clusters(items, cluster_by)))
    return {"level": 95, "method": "clustered", "by": cluster_by, "clusters": clusters}
