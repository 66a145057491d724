"""How sure a score is, and the numbers that repeated or grouped items give."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple, TypeVar

_Z95 = 1.959963984540054  # the 97.5 % point of the standard normal distribution
_Answer = TypeVar("_Answer")


class Interval(NamedTuple):
    low: float
    high: float


def wilson_interval(successes: float, count: float) -> Interval | None:
    """The 95 % interval of a share, as fractions; None for no observation.

    Wilson (1927), without continuity correction. `successes` need not be whole: means of repeats may come in. Neither
    need `count`, which may be an effective sample size.

    >>> wilson_interval(8, 10)
    Interval(low=0.4901..., high=0.9433...)
    """
    if count == 0:
        return None
    share, squared = successes / count, _Z95**2
    middle = share + squared / (2 * count)
    spread = _Z95 * math.sqrt(share * (1 - share) / count + squared / (4 * count**2))
    scale = 1 + squared / count
    return Interval(max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))


def standard_error(scores: Sequence[float]) -> float | None:
    """The standard error of the mean of independent scores: sample standard deviation (n - 1) over the root of n.

    None for fewer than two scores, which tell nothing of their spread.
    """
    if len(scores) < 2:
        return None
    return _deviation(scores) / math.sqrt(len(scores))


def standard_deviation(scores: Sequence[float]) -> float | None:
    """The sample standard deviation (n - 1); None for fewer than two scores."""
    return _deviation(scores) if len(scores) > 1 else None


def _deviation(scores: Sequence[float]) -> float:
    mean = fmean(scores)  # `statistics.stdev` is exact by fractions and slow
    return math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1))


def clustered_standard_error(scores: Sequence[float], clusters: Sequence[Hashable]) -> float | None:
    """The standard error of the mean when scores of one cluster (questions on one picture, say) depend on each other.

    CR1: the sandwich estimate from sums of residuals within clusters (Liang and Zeger 1986), times G / (G - 1) for G
    clusters; what statsmodels gives for a regression on a constant with `cov_type="cluster"`. With one score in each
    cluster it is `standard_error`. None for fewer than two clusters.

    Args:
        scores: values from 0 to 1, in any order.
        clusters: for each score, what it shares with the others of its cluster.
    """
    if len(scores) != len(clusters):
        raise ValueError(f"{len(scores)} scores, but {len(clusters)} clusters named")
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for score, cluster in zip(scores, clusters, strict=True):
        groups[cluster].append(score)
    if len(groups) < 2:
        return None
    mean = fmean(scores)
    squares = math.fsum(math.fsum(score - mean for score in group) ** 2 for group in groups.values())
    return math.sqrt(squares * len(groups) / (len(groups) - 1)) / len(scores)


def clustered_interval(scores: Sequence[float], clusters: Sequence[Hashable]) -> Interval | None:
    """The 95 % interval of the mean of clustered scores, as fractions; None for fewer than two clusters.

    Wilson's interval with the effective sample size in place of the number of scores: that number over the design
    effect, which is the square of `clustered_standard_error` over that of `standard_error` (Kish 1965; Korn and
    Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts estimated from
    survey data"; Dean and Pagano 2015 compare it with others). As there, it is never more than the number of scores.
    With one score in each cluster it is `wilson_interval`. Somewhat too narrow for fewer than about 30 clusters.

    The design effect is an estimate that hardly any wrong, or right, score can tell: where all scores are the same,
    each cluster counts once, and no other interval begins above the one of scores that are all 1, or ends below the
    one of scores that are all 0: a last score that turns right never makes an interval wider downwards.
    """
    error = clustered_standard_error(scores, clusters)
    if error is None:
        return None
    mean, groups = fmean(scores), len(set(clusters))
    alone = standard_error(scores) or 0.0
    effect = max(1.0, (error / alone) ** 2) if alone else len(scores) / groups
    size = len(scores) / effect
    found = wilson_interval(mean * size, size)
    # What so many clusters can say at most: all of them right, or all wrong.
    all_wrong, all_right = wilson_interval(0, groups), wilson_interval(groups, groups)
    if found is None or all_wrong is None or all_right is None:
        return None
    return Interval(min(found.low, all_right.low), max(found.high, all_wrong.high))


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """The chance that at least one of k answers is right, estimated without bias from c right ones among n.

    Chen et al. (2021), "Evaluating Large Language Models Trained on Code": 1 - C(n - c, k) / C(n, k). None where k is
    more than n, for then n answers cannot tell.

    >>> pass_at_k(5, 2, 1), pass_at_k(5, 2, 4), pass_at_k(5, 2, 6)
    (0.4, 1.0, None)

    Raises:
        ValueError: k is less than 1, or c is not from 0 to n.
    """
    if k < 1 or not 0 <= c <= n:
        raise ValueError(f"pass@k of n={n}, c={c}, k={k}: k must be 1 or more, and c from 0 to n")
    if k > n:
        return None
    return (math.comb(n, k) - math.comb(n - c, k)) / math.comb(n, k)


def majority_vote(answers: Iterable[_Answer | None]) -> _Answer | None:
    """The answer given more often than any other; None (no answer) has no vote.

    None where two answers are given most often, so that the order of the answers decides nothing, and where none is
    given.

    >>> majority_vote(["B", None, "A", "A", None, None]), majority_vote(["B", "A", "A", "B"])
    ('A', None)
    """
    given = [answer for answer in answers if answer is not None]
    if not given:
        return None
    votes = [given.count(answer) for answer in given]  # counts by equality: answers may be lists
    most = max(votes)
    return given[votes.index(most)] if votes.count(most) == most else None
