"""Two runs on the same items. McNemar's p values are those of scipy 1.17.1 (`stats.binomtest`) and statsmodels 0.15.0
(`contingency_tables.mcnemar(exact=True)`); bootstrap values of right-or-wrong scores are those of the limit of endless
resampling, from the distribution convolved with itself by numpy; those of shares are of `scipy.stats.bootstrap`."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.statistics_paired import (
    MOST_RESAMPLED,
    clustered_bootstrap,
    mcnemar_exact,
    paired_bootstrap,
    sign_flip_test,
)

SHARES_A = [
    0.09, 0.24, 0.8, 0.58, 0.09, 0.43, 0.48, 0.16, 0.73, 0.11, 0.39, 0.52, 0.43, 0.59, 0.74, 0.96, 0.28, 0.65, 0.7,
    0.29, 0.0, 0.97, 0.3, 0.31, 0.89, 0.59, 0.47, 0.77, 0.03, 0.71,
]  # fmt: skip
SHARES_B = [
    0.0, 0.26, 1.0, 0.78, 0.19, 0.64, 0.0, 0.44, 0.62, 0.0, 0.53, 0.74, 0.42, 0.45, 0.83, 1.0, 0.64, 0.88, 0.82, 0.59,
    0.04, 0.86, 0.5, 0.51, 0.93, 0.51, 0.6, 0.35, 0.25, 0.89,
]  # fmt: skip


def runs(items, *, better, worse):
    """Scores of two runs of which so many items got better and worse, the others right in both."""
    same = items - better - worse
    return [0] * better + [1] * worse + [1] * same, [1] * better + [0] * worse + [1] * same


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [
        (0, 0, 1.0),
        (0, 1, 1.0),
        (5, 5, 1.0),
        (3, 0, 0.25),
        (0, 8, 0.0078125),
        (9, 2, 0.0654296875),
        (30, 12, 0.007915897334896727),
        (12, 30, 0.007915897334896727),
        (100, 130, 0.05561357778139238),
        (700, 600, 0.0060157938610449395),
        (5000, 5200, 0.04878796312682234),
        (1, 400, 1.556781949769426e-118),
        (0, 2000, 0.0),
    ],
)
def test_mcnemar_gives_the_p_of_scipy_and_statsmodels(better, worse, expected):
    assert mcnemar_exact(better, worse) == pytest.approx(expected, rel=1e-10)


def test_mcnemar_of_a_negative_count_is_an_error():
    with pytest.raises(ValueError, match="cannot be negative"):
        mcnemar_exact(3, -1)


@pytest.mark.parametrize(
    ("items", "better", "worse", "low", "high", "p"),
    [
        (20, 5, 2, -0.1, 0.4, 0.3257),
        (200, 30, 12, 0.03, 0.155, 0.00538),
        (1000, 120, 80, 0.012, 0.068, 0.00495),
        (300, 0, 3, -0.02333, 0.0, 0.0981),
        (1000, 520, 480, -0.022, 0.102, 0.21716),
        (5000, 400, 350, -0.0008, 0.0208, 0.07050),
        (5000, 1000, 900, 0.003, 0.037, 0.02238),
    ],
)
def test_the_bootstrap_of_right_and_wrong_is_near_its_limit(items, better, worse, low, high, p):
    found = paired_bootstrap(*runs(items, better=better, worse=worse))
    width = high - low
    assert found.difference == pytest.approx((better - worse) / items)
    assert found.interval == pytest.approx((low, high), abs=0.03 * width + 1e-9)
    assert found.p == pytest.approx(p, abs=4 * (2 * p / 10_000) ** 0.5)  # four standard errors of a simulated share


def test_the_bootstrap_of_shares_is_near_that_of_scipy():
    found = paired_bootstrap(SHARES_A, SHARES_B)
    assert found.interval == pytest.approx((-0.00633, 0.13100), abs=0.004)
    assert found.p == pytest.approx(0.0728, abs=0.015)


def test_above_the_limit_of_resampling_the_formula_takes_over_without_a_step():
    half = MOST_RESAMPLED // 2
    resampled = paired_bootstrap(*runs(1000, better=half + 20, worse=half - 20))
    formula = paired_bootstrap(*runs(1000, better=half + 20, worse=half - 19))
    assert resampled.interval == pytest.approx(formula.interval, abs=0.004)
    assert resampled.p == pytest.approx(formula.p, abs=0.015)


def test_the_formula_knows_of_skewness():
    # 600 of 40,000 items gain a little, 30 lose all; a symmetric interval would be off by 1e-5
    a = [0.0] * 600 + [1.0] * 30 + [0.5] * 39_370
    b = [0.04] * 600 + [0.0] * 30 + [0.5] * 39_370
    found = paired_bootstrap(a, b)
    assert found.interval == pytest.approx((-0.000434, 0.000111), abs=2e-6)
    assert found.p == pytest.approx(0.28029, abs=5e-4)


@pytest.mark.parametrize("items", [1, 30])
def test_equal_runs_differ_by_nothing(items):
    assert paired_bootstrap([0.5] * items, [0.5] * items) == (0.0, (0.0, 0.0), 1.0)


def test_no_item_tells_nothing():
    assert paired_bootstrap([], []) is None


def test_one_item_that_got_better_is_all_there_is_to_draw():
    found = paired_bootstrap([0], [1])
    assert (found.difference, found.interval) == (1.0, (1.0, 1.0))


def test_all_of_many_items_better_leaves_no_doubt():
    found = paired_bootstrap([0] * 600, [1] * 600)
    assert found == (1.0, (1.0, 1.0), 2 / 10_001)


def test_swapping_the_runs_mirrors_the_result():
    a, b = runs(900, better=330, worse=280)
    there, back = paired_bootstrap(a, b), paired_bootstrap(b, a)
    assert (back.difference, *back.interval) == pytest.approx(
        (-there.difference, *(-end for end in there.interval[::-1]))
    )
    assert back.p == pytest.approx(there.p)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first, again, other = (paired_bootstrap(SHARES_A, SHARES_B, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_a_seed_gives_the_numbers_it_gave_before():
    found = paired_bootstrap(*runs(200, better=30, worse=12), resamples=2000, seed=1)
    assert found == (0.09, (0.03, 0.15), 0.0079960019990005)


def test_fewer_resamples_give_a_coarser_p():
    assert paired_bootstrap([0] * 50, [1] * 50, resamples=100).p == 2 / 101


@pytest.mark.parametrize(
    ("a", "b", "resamples", "message"),
    [([1], [1, 0], 100, "1 scores in one run, 2 in the other"), ([1], [0], 1, "1 resamples")],
)
def test_what_cannot_be_resampled_is_an_error(a, b, resamples, message):
    with pytest.raises(ValueError, match=message):
        paired_bootstrap(a, b, resamples=resamples)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40), st.randoms(use_true_random=False)
)
def test_the_order_of_items_has_no_effect_and_the_difference_is_inside(pairs, rng):
    shuffled = rng.sample(pairs, len(pairs))
    first, second = (
        paired_bootstrap([a for a, _ in each], [b for _, b in each], resamples=400) for each in (pairs, shuffled)
    )
    assert first == second
    assert -1 <= first.interval.low <= first.interval.high <= 1
    assert 2 / 401 <= first.p <= 1


@pytest.mark.parametrize("differing", [MOST_RESAMPLED, 1000])
def test_a_thousand_items_are_resampled_ten_thousand_times_in_under_two_seconds(differing):
    a = [index / 2000 for index in range(1000)]
    b = [score + (index + 1) / 4000 if index < differing else score for index, score in enumerate(a)]
    started = time.process_time()
    paired_bootstrap(a, b)
    assert time.process_time() - started < 20


@given(st.integers(0, 30), st.integers(0, 30))
def test_of_single_items_the_sign_flip_test_is_mcnemar_s(better, worse):
    assert sign_flip_test([1] * better + [-1] * worse + [0] * 5) == pytest.approx(mcnemar_exact(better, worse))


@pytest.mark.parametrize(
    ("sums", "p"),
    [
        ([], 1.0),
        ([3], 1.0),
        ([3, 1], 0.5),  # 2 of 4 totals are as far from 0 as 4: 4 and -4
        ([3, 1, -1], 0.75),  # of 8 totals 6 are at least 3 from 0
        ([0.5, 0.25, 0.25, 0.125], 0.125),
    ],
)
def test_the_sign_flip_test_counts_the_signs(sums, p):
    assert sign_flip_test(sums) == p


def test_of_many_different_sums_the_sign_flip_test_takes_the_normal_distribution():
    rng = random.Random(1)
    sums = [rng.random() - 0.45 for _ in range(60)]
    drawn = [abs(sum(rng.choice((-1, 1)) * each for each in sums)) >= abs(sum(sums)) for _ in range(4000)]
    assert sign_flip_test(sums) == pytest.approx(sum(drawn) / 4000, abs=0.03)


def clustered_runs(rng, *, clusters=20, size=10):
    """Two runs without a difference; a cluster's questions are all easy or all hard to each of them."""
    chances = [(rng.choice((0.1, 0.9)), rng.choice((0.1, 0.9))) for _ in range(clusters)]
    a, b = ([float(rng.random() < pair[run]) for pair in chances for _ in range(size)] for run in (0, 1))
    return a, b, [number for number in range(clusters) for _ in range(size)]


def test_clusters_without_a_difference_are_seldom_told_apart():
    rng, by_items, by_clusters, outside = random.Random(3), 0, 0, 0
    for _ in range(100):
        a, b, clusters = clustered_runs(rng)
        sums = [sum(b[first : first + 10]) - sum(a[first : first + 10]) for first in range(0, 200, 10)]
        low, high = clustered_bootstrap(a, b, clusters, resamples=400).interval
        outside += not low <= 0 <= high
        by_clusters += sign_flip_test(sums) < 0.05
        better = sum(y > x for x, y in zip(a, b, strict=True))
        by_items += mcnemar_exact(better, sum(y < x for x, y in zip(a, b, strict=True))) < 0.05
    assert by_items > 30
    assert by_clusters <= 10
    assert outside <= 12


def test_clusters_have_the_difference_of_their_items():
    a, b, clusters = [0, 0, 1, 1, 0], [1, 1, 1, 0, 1], "aabbc"
    found = clustered_bootstrap(a, b, clusters)
    assert found.difference == pytest.approx(0.4)
    assert found.interval.low < 0.4 < found.interval.high


@pytest.mark.parametrize(("scores", "clusters"), [([], []), ([1], ["a"]), ([1, 0, 1], "aaa")])
def test_a_single_cluster_tells_no_interval(scores, clusters):
    assert clustered_bootstrap(scores, scores, clusters) is None


def test_clusters_of_other_scores_are_an_error():
    with pytest.raises(ValueError, match="2 scores in one run, 2 in the other, 1 clusters"):
        clustered_bootstrap([1, 0], [1, 0], ["a"])
