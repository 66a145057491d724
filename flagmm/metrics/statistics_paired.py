"""Whether two runs on the same items differ by more than chance."""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, islice
from random import Random
from statistics import NormalDist, quantiles
from typing import NamedTuple

from flagmm.metrics.statistics import Interval

MOST_RESAMPLED = 300
"""How many items may differ for `paired_bootstrap` to resample; above, it takes the limit of resampling."""
_GRAINS = 10**9  # in 1; differences are counted in whole grains, so that sums are exact in any order
_WORDS = 65536  # values of the 16-bit words that items are drawn by
_CHUNK_BYTES = 1 << 14
_NORMAL = NormalDist()
_Z95 = _NORMAL.inv_cdf(0.975)
_MOST_TOTALS = 4096
"""Totals of signed steps that are kept apart by `sign_flip_test`."""


class PairedBootstrap(NamedTuple):
    """What `paired_bootstrap` finds."""

    difference: float
    """Mean of the second run's scores minus mean of the first's."""
    interval: Interval
    """The 95 % percentile interval of the difference."""
    p: float
    """Two-sided; never below 2 / (resamples + 1)."""


def mcnemar_exact(better: int, worse: int) -> float:
    """The two-sided p value of McNemar's exact test, from the numbers of items that changed in either direction.

    McNemar (1947), in its exact binomial form: twice the chance of at most min(better, worse) heads in better + worse
    throws, at most 1. Where nothing changed it is 1. For scores that are not just 0 and 1 this is the sign test.

    >>> mcnemar_exact(9, 2)
    0.0654296875
    """
    fewer, changed = min(better, worse), better + worse
    if fewer < 0:
        raise ValueError(f"McNemar's test of {better} better, {worse} worse: counts cannot be negative")
    term = math.comb(changed, fewer) / (1 << changed)
    total = 0.0
    for heads in range(fewer, -1, -1):  # downwards, so that the terms only shrink
        total += term
        if term < total * sys.float_info.epsilon / 4:
            break
        term *= heads / (changed - heads + 1)
    return min(1.0, 2 * total)


def sign_flip_test(differences: Sequence[float]) -> float:
    """The two-sided p value of the differences of independent clusters, were either run as likely to be the better one.

    The randomisation test of Fisher (1935) with clusters for units, as for clustered pairs (Durkalski et al. 2003): of
    all ways to give each sum of differences a sign, the share whose total is at least as far from 0. For single items
    that are 1 better or worse it is `mcnemar_exact`. It is exact while totals are few, as for scores of 0 and 1 in up
    to `MOST_RESAMPLED` clusters; else the normal distribution of the same variance stands in.

    >>> sign_flip_test([1] * 9 + [-1] * 2)
    0.0654296875

    Args:
        differences: the sum within each cluster.
    """
    steps = [step for difference in differences if (step := round(difference * _GRAINS))]
    if not steps:
        return 1.0
    reached = abs(sum(steps))
    shares = _totals_of_signs(steps) if len(steps) <= MOST_RESAMPLED else None
    if shares is not None:
        return min(1.0, math.fsum(share for total, share in shares.items() if abs(total) >= reached))
    return min(1.0, 2 * _NORMAL.cdf(-reached / math.sqrt(math.fsum(step**2 for step in steps))))


def _totals_of_signs(steps: Sequence[int]) -> dict[int, float] | None:
    """How likely each total is when every step has either sign by chance; None where there are too many totals."""
    shares = {0: 1.0}
    for step in steps:
        following: dict[int, float] = {}
        for total, share in shares.items():
            for next_total in (total + step, total - step):
                following[next_total] = following.get(next_total, 0.0) + share / 2
        shares = following
        if len(shares) > _MOST_TOTALS:
            return None
    return shares


def clustered_bootstrap(
    scores_a: Sequence[float],
    scores_b: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> PairedBootstrap | None:
    """As `paired_bootstrap`, where differences within a cluster (questions on one picture, say) depend on each other.

    Whole clusters are drawn (Davison and Hinkley 1997, section 3.8). The mean is one over items, so that a cluster
    counts with how far its differences are from the mean one; this is widened for the number of clusters G as a t
    interval with G - 1 degrees of freedom and the CR1 error is (Cameron and Miller 2015, section VI), without which
    the intervals of few clusters are too narrow. None for fewer than two clusters.

    Raises:
        ValueError: as `paired_bootstrap`, or there are not as many clusters as scores.
    """
    if not len(scores_a) == len(scores_b) == len(clusters):
        raise ValueError(f"{len(scores_a)} scores in one run, {len(scores_b)} in the other, {len(clusters)} clusters")
    sums: dict[Hashable, float] = defaultdict(float)
    for a, b, cluster in zip(scores_a, scores_b, clusters, strict=True):
        sums[cluster] += b - a
    if len(sums) < 2:
        return None
    items, sizes, groups = len(scores_a), Counter(clusters), len(sums)
    mean = math.fsum(sums.values()) / items
    widening = math.sqrt(groups / (groups - 1)) * _t_quantile(groups - 1) / _Z95
    centred = [mean + (total - sizes[cluster] * mean) * widening * groups / items for cluster, total in sums.items()]
    return paired_bootstrap([0.0] * groups, centred, resamples=resamples, seed=seed)


def _t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t: exact for 1 and 2, else by Hill's expansion (Abramowitz and Stegun 26.7.5)."""
    if freedom == 1:
        return math.tan(math.pi * 0.475)
    if freedom == 2:
        return 0.95 / math.sqrt(2 * 0.975 * 0.025)
    z = _Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / float(freedom) ** power for power, term in enumerate(terms, start=1))


def paired_bootstrap(
    scores_a: Sequence[float], scores_b: Sequence[float], *, resamples: int = 10_000, seed: int = 0
) -> PairedBootstrap | None:
    """How sure the difference between two runs is, B minus A, from resampled items; None for no item.

    Items are drawn with replacement, as many as there are, and the difference of their scores is averaged; that
    `resamples` times (Efron 1979). The interval holds the middle 95 % of these averages; p is twice the share of them
    on the other side of 0 (0 itself included, and one counted on top), so that the two agree.

    Items without a difference add 0 to a sum. So a resample first draws how many of its items differ (binomial), then
    that many of the differing ones: cost follows their number, not that of all items. With more than `MOST_RESAMPLED`
    of them interval and p come from the Edgeworth expansion of the same distribution, up to its skewness, whose error
    is then well below the noise of 10,000 resamples; the seed has no effect there.

    The result depends neither on the order of items nor on the version of Python. For a handful of items it is too
    sure of itself: trust `mcnemar_exact` there.

    Raises:
        ValueError: the runs have different numbers of scores, or there are fewer than two resamples.
    """
    if len(scores_a) != len(scores_b):
        raise ValueError(f"{len(scores_a)} scores in one run, {len(scores_b)} in the other")
    if resamples < 2:
        raise ValueError(f"{resamples} resamples: two are the least that an interval can be made of")
    if not scores_a:
        return None
    items = len(scores_a)
    steps = [round((b - a) * _GRAINS) for a, b in zip(scores_a, scores_b, strict=True)]
    differing = sorted(step for step in steps if step)
    whole = items * _GRAINS
    difference = sum(differing) / whole
    if not differing:
        return PairedBootstrap(0.0, Interval(0.0, 0.0), 1.0)
    if len(differing) > MOST_RESAMPLED:
        low, high, p = _limit(differing, items)
        return PairedBootstrap(difference, Interval(low / whole, high / whole), max(p, 2 / (resamples + 1)))
    sums = _resampled_sums(differing, items, resamples=resamples, rng=Random(seed))
    cuts = quantiles(sums, n=40, method="inclusive")
    beyond = min(sum(value <= 0 for value in sums), sum(value >= 0 for value in sums))
    p = min(1.0, 2 * (1 + beyond) / (resamples + 1))
    return PairedBootstrap(difference, Interval(cuts[0] / whole, cuts[-1] / whole), p)


def _resampled_sums(differing: Sequence[int], items: int, *, resamples: int, rng: Random) -> list[int]:
    """The sum of differences in each resample."""
    counts = _binomial_draws(items, len(differing) / items, draws=resamples, rng=rng)
    values = _endless_draws(differing, rng)
    return [sum(islice(values, count)) for count in counts]


def _binomial_draws(throws: int, chance: float, *, draws: int, rng: Random) -> list[int]:
    """How often something of that chance happens in `throws`, drawn by its table of probabilities."""
    if chance == 1:
        return [throws] * draws
    mean, log_odds = throws * chance, math.log(chance) - math.log1p(-chance)
    reach = 12 * math.sqrt(mean * (1 - chance)) + 30  # what lies outside has a chance below 1e-20
    counts = range(max(0, math.floor(mean - reach)), min(throws, math.ceil(mean + reach)) + 1)

    def log_weight(count: float) -> float:
        return count * log_odds - math.lgamma(count + 1) - math.lgamma(throws - count + 1)

    top = log_weight(mean)
    weights = [math.exp(log_weight(count) - top) for count in counts]
    return rng.choices(counts, weights, k=draws)


def _endless_draws(values: Sequence[int], rng: Random) -> Iterator[int]:
    """One of the values after the other, drawn with replacement, faster than `rng.choices` does.

    Each value owns equally many 16-bit words; the few words left over are drawn in vain.
    """
    table = list(values) * (_WORDS // len(values))
    owned = len(table)
    return chain.from_iterable([table[word] for word in words if word < owned] for words in _endless_words(rng))


def _endless_words(rng: Random) -> Iterator[array[int]]:
    while True:
        words = array("H", rng.randbytes(_CHUNK_BYTES))
        if sys.byteorder == "big":
            words.byteswap()
        yield words


def _limit(differing: Sequence[int], items: int) -> tuple[float, float, float]:
    """Low and high end of the 95 % interval of a resample's sum, and p, by Cornish-Fisher and Edgeworth."""
    mean, unchanged = sum(differing) / items, items - len(differing)
    variance = (math.fsum((step - mean) ** 2 for step in differing) + unchanged * mean**2) / items
    if variance == 0:
        return mean * items, mean * items, 0.0
    third = (math.fsum((step - mean) ** 3 for step in differing) - unchanged * mean**3) / items
    spread = math.sqrt(variance * items)
    skewness = third / (variance * spread)

    def share_up_to(total: float) -> float:
        z = (total - mean * items) / spread
        return _NORMAL.cdf(z) - _NORMAL.pdf(z) * skewness * (z**2 - 1) / 6

    low, high = (mean * items + spread * (z + skewness * (z**2 - 1) / 6) for z in map(_NORMAL.inv_cdf, (0.025, 0.975)))
    half = _room_of_zero(differing, items) / 2
    return low, high, min(1.0, 2 * min(share_up_to(half), 1 - share_up_to(-half)))


def _room_of_zero(differing: Sequence[int], items: int) -> int:
    """The distance between the sums that resamples can have, if 0 is one of them: the continuity correction."""
    values = set(differing) | ({0} if len(differing) < items else set())
    least = min(values)
    step = math.gcd(*(value - least for value in values))
    return step if step and (items * least) % step == 0 else 0
