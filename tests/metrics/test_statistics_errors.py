"""Standard errors. Expected values are those of scipy 1.17.1 (`stats.sem`, `stats.tstd`) and statsmodels 0.15.0
(`OLS(scores, ones).fit(cov_type="cluster", cov_kwds={"groups": clusters})`: `bse`, `conf_int()`)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.statistics import (
    clustered_interval,
    clustered_standard_error,
    standard_deviation,
    standard_error,
    wilson_interval,
)

CLUSTERED = [
    pytest.param([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], "aaabbcdddd", 0.07302967433402212, id="uneven clusters"),
    pytest.param([0.2, 0.9, 0.4, 0.75, 1.0, 0.0, 0.35], "1213321", 0.16491829032068892, id="shares"),
    pytest.param([1, 0, 0, 1, 1, 1], "123456", 0.2108185106778921, id="one score a cluster"),
    pytest.param([1] * 11 + [0], "aaabbbcccddd", 0.08333333333333337, id="near the top"),
    pytest.param([1, 0] * 4, "11223344", 0.0, id="clusters that are alike"),
]
SHARES = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1, 0], 0.5),
        ([1] * 7 + [0] * 3, 0.15275252316519466),
        ([0.2, 0.9, 0.4, 0.75, 1.0, 0.0, 0.35], 0.14172167799460125),
        ([0.5, 0.5, 0.5], 0.0),
    ],
)
def test_the_standard_error_is_that_of_scipy(scores, expected):
    assert standard_error(scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scores", [[], [1.0]])
def test_fewer_than_two_scores_have_no_standard_error(scores):
    assert standard_error(scores) is None


@pytest.mark.parametrize(("scores", "clusters", "expected"), CLUSTERED)
def test_the_clustered_standard_error_is_that_of_statsmodels(scores, clusters, expected):
    assert clustered_standard_error(scores, clusters) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "clusters", "expected"),
    [
        ([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], "aaabbcdddd", (0.45686446850262746, 0.7431355314973724)),
        ([0.2, 0.9, 0.4, 0.75, 1.0, 0.0, 0.35], "1213321", (0.19105180486524337, 0.837519623706185)),
        ([1] * 11 + [0], "aaabbbcccddd", (0.7533363346216624, 1.0)),
        ([0] * 11 + [1], "aaabbbcccddd", (0.0, 1 - 0.7533363346216624)),
    ],
    ids=["uneven", "shares", "cut at 1", "cut at 0"],
)
def test_the_clustered_interval_is_that_of_statsmodels_within_0_and_1(scores, clusters, expected):
    assert clustered_interval(scores, clusters) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("score", "successes"), [(1, 3), (0, 0)])
def test_where_all_scores_are_at_one_end_each_cluster_counts_once(score, successes):
    assert clustered_interval([score] * 7, "aaabbcc") == wilson_interval(successes, 3)


@pytest.mark.parametrize(("scores", "clusters"), [([], []), ([1], ["a"]), ([1, 0, 1], ["a", "a", "a"])])
def test_fewer_than_two_clusters_tell_nothing(scores, clusters):
    assert clustered_standard_error(scores, clusters) is None
    assert clustered_interval(scores, clusters) is None


def test_a_score_without_a_cluster_is_an_error():
    with pytest.raises(ValueError, match="2 scores, but 1 clusters"):
        clustered_standard_error([1, 0], ["a"])


@given(st.lists(SHARES, min_size=2, max_size=20))
def test_one_score_a_cluster_gives_the_plain_standard_error(scores):
    assert clustered_standard_error(scores, range(len(scores))) == pytest.approx(standard_error(scores), abs=1e-12)


@given(st.lists(st.tuples(SHARES, st.integers(0, 4)), min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_scores_has_no_effect(pairs, rng):
    shuffled = rng.sample(pairs, len(pairs))
    first, second = (clustered_interval([s for s, _ in each], [c for _, c in each]) for each in (pairs, shuffled))
    assert first == second if first is None else first == pytest.approx(second, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([50.0, 75.0, 62.5, 62.5], 10.206207261596575), ([0.2, 0.9, 0.4], 0.36055512754639896), ([3, 3], 0.0)],
)
def test_the_standard_deviation_is_that_of_scipy(scores, expected):
    assert standard_deviation(scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scores", [[], [1.0]])
def test_fewer_than_two_scores_have_no_deviation(scores):
    assert standard_deviation(scores) is None


def test_the_clustered_interval_covers_the_truth_about_as_often_as_it_says():
    rng = random.Random(5)
    covered = 0
    for _ in range(400):
        chances = [rng.random() for _ in range(60)]  # a picture's questions are all easy or all hard
        scores = [float(rng.random() < chance) for chance in chances for _ in range(4)]
        low, high = clustered_interval(scores, [picture for picture in range(60) for _ in range(4)])
        covered += low <= 0.5 <= high
    assert 0.91 < covered / 400 < 0.98
