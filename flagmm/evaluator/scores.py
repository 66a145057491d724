"""The numbers of metrics on a run and on its groups, with n, standard errors and intervals."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flagmm.evaluator import aggregate
from flagmm.evaluator.mean_score import MeanScore, about_interval, mean_of, mean_score
from flagmm.evaluator.metric import Metric, Summary, headline_of
from flagmm.evaluator.repeats import repeats
from flagmm.evaluator.result_keys import COUNTS, INTERVAL, RESERVED, STDERR, flat_names
from flagmm.evaluator.tallies import GroupTallies
from flagmm.evaluator.verdict import Judged

logger = logging.getLogger(__name__)

_ROUNDING = 0.011


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What one metric says of some questions."""

    numbers: Summary
    """The metric's own, then `n`, and the standard error and interval of the number that is a mean."""
    headline: str | None
    mean: MeanScore
    headline_is_mean: bool


def score_metric(metric: Metric, items: Sequence[Judged], *, cluster_by: str | None = None) -> Scores:
    """The numbers of a metric on some questions."""
    summary = metric.summarize(items)
    mean, name, headline = mean_score(items, cluster_by=cluster_by), metric.mean_name, headline_of(metric, summary)
    added: Summary = {"n": mean.n}
    is_mean = metric.in_percent and name in summary and _agree(summary[name], mean.mean)
    if is_mean:
        added |= {f"{name}{STDERR}": mean.stderr, f"{name}{INTERVAL}": mean.interval}
    numbers = summary | {key: value for key, value in added.items() if key not in summary}
    return Scores(numbers=numbers, headline=headline, mean=mean, headline_is_mean=is_mean and name == headline)


def _agree(value: Any, mean: float | None) -> bool:
    """Whether a number is the mean that its name promises; a task's own metric may mean something else by it."""
    if value is None or mean is None:
        return value is mean
    return isinstance(value, int | float) and abs(aggregate.exact(value) - mean) < _ROUNDING


def score_run(
    metrics: Sequence[Metric],
    judged: Sequence[Sequence[Judged]],
    *,
    keys: Sequence[str],
    cluster_by: str | None,
    replies: GroupTallies | None = None,
) -> dict[str, Any]:
    """The scores of a run: every metric's, then the first one's by group and over repeats.

    Args:
        judged: for each metric, the questions with its verdicts.
        keys: annotation fields to group by.
        replies: the replies to each group, where they were counted before.

    Raises:
        DataError: no question has the field to cluster by.
    """
    metric, items = metrics[0], judged[0]
    interval = about_interval(items, cluster_by)
    first = score_metric(metric, items, cluster_by=cluster_by)
    result: dict[str, Any] = {**first.numbers, "headline": first.headline}
    if metric.mean_name is not None and metric.in_percent:
        result["accuracy_answered"] = aggregate.accuracy_answered(items)
        result.setdefault(f"accuracy{INTERVAL}", first.mean.interval)
        result["interval"] = interval
    for key, value in _further_numbers(metrics, judged, cluster_by, taken=result):
        result[key] = value
    if keys and first.headline is not None:
        replies = replies or GroupTallies(keys, (item.answer for item in items))
        groups = {key: _groups(metric, items, key, cluster_by, replies) for key in keys}
        missing = aggregate.without(items, keys)
        result |= flat_scores(groups, first.headline, taken=RESERVED | set(result))
        result |= {"groups": groups, "macro": aggregate.macro(groups, first.headline)}
        result |= {"n_without": missing} if missing else {}
        result["micro"] = result[first.headline]
    return result | repeats(metric, items, is_mean=first.headline_is_mean)


@dataclass(frozen=True, kw_only=True)
class Marks:
    """The questions' scores, from 0 to 1, behind an accuracy that a task's own code returned."""

    scores: Sequence[float]
    is_share: bool
    """Whether the accuracy is their mean itself, where it should be in percent."""


def compare_accuracy(accuracy: Any, scores: Sequence[float]) -> Marks | None:
    """The scores, if the accuracy is their mean, be it in percent or a share of 1; None where it is another number.

    >>> compare_accuracy(50.0, [1, 0]), compare_accuracy(1.0, [1, 1]).is_share, compare_accuracy(70, [1, 0])
    (Marks(scores=[1, 0], is_share=False), True, None)
    """
    mean = mean_of(scores).mean
    if _agree(accuracy, mean):
        return Marks(scores=scores, is_share=False)
    if mean is not None and abs(accuracy - mean / 100) < _ROUNDING / 100:
        return Marks(scores=scores, is_share=True)
    return None


def errors_of_own_scores(metrics: Summary, marks: Marks | None) -> Summary:
    """What tells how sure the accuracy of a task's own code is, where that is the mean of the marks that it gave.

    What the code says of it itself is left out.
    """
    if marks is None or marks.is_share:
        return {}
    mean = mean_of(marks.scores)
    errors = {"headline": "accuracy", "n": mean.n, "interval": about_interval([], None)}
    errors |= {f"accuracy{STDERR}": mean.stderr, f"accuracy{INTERVAL}": mean.interval}
    return {key: value for key, value in errors.items() if key not in metrics}


def warn_of_share(metrics: Summary, marks: Marks | None, *, items: int, name: str) -> None:
    """Tell where the accuracy of a task's own code looks like a share of 1, as results are read as percent.

    Without marks it does where, as a percentage of the items, it would not be one of them.
    """
    accuracy = metrics.get("accuracy")
    is_likely = marks.is_share if marks is not None else _is_less_than_one_item(accuracy, items)
    if is_likely:
        logger.warning(
            "%s: accuracy: %g is likely a share of 1, and is read as %g %%; return it in percent, from 0 to 100",
            name,
            accuracy,
            accuracy,
        )


def _is_less_than_one_item(accuracy: Any, items: int) -> bool:
    return isinstance(accuracy, int | float) and 0 < accuracy <= 1 and accuracy * items < 100


def _further_numbers(
    metrics: Sequence[Metric],
    judged: Sequence[Sequence[Judged]],
    cluster_by: str | None,
    *,
    taken: Collection[str],
) -> Iterator[tuple[str, Any]]:
    """The numbers of all metrics but the first; what has the name of an earlier one bears its metric's, too."""
    names = [metric.built_as.name for metric in metrics]
    for number, (metric, items) in enumerate(zip(metrics, judged, strict=True)):
        if number == 0:
            continue
        owner = names[number] if names[number] not in names[:number] else f"{names[number]}_{number + 1}"
        numbers = score_metric(metric, items, cluster_by=cluster_by).numbers
        yield from [(f"{owner}.{key}" if key in taken else key, value) for key, value in numbers.items()]


def _groups(
    metric: Metric, items: Sequence[Judged], key: str, cluster_by: str | None, replies: GroupTallies
) -> dict[str, Summary]:
    """All numbers of each group of a field, with counts of its own."""
    groups: dict[str, Summary] = {}
    for value, members in aggregate.groups(items, key).items():
        tally = replies.of(key, value)
        counts = aggregate.counts_of(tally, members, tally.questions)
        numbers = score_metric(metric, members, cluster_by=cluster_by).numbers
        groups[value] = {**numbers, COUNTS: aggregate.as_dict(counts)}
    return groups


def flat_scores(
    groups: Mapping[str, Mapping[str, Summary]], headline: str, *, taken: Collection[str]
) -> dict[str, Any]:
    """The groups' headlines under their own names, or with their field's where that name is not theirs alone."""
    names = flat_names(groups, taken=taken)
    return {names[key, value]: groups[key][value].get(headline) for key, value in names}
