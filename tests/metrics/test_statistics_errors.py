"""Standard errors. Expected values are those of scipy 1.17.1 (`stats.sem`, `stats.tstd`) and statsmodels 0.15.0
(`OLS(scores, ones).fit(cov_type="cluster", cov_kwds={"groups": clusters})`: `bse`)."""

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
    ("scores", "clusters", "clustered", "alone"),  # errors: of statsmodels and of scipy
    [
        ([0.2, 0.9, 0.4, 0.75, 1.0, 0.0, 0.35], "1213321", 0.16491829032068892, 0.14172167799460125),
        ([1] * 5 + [0] * 5, "aaabbbccdd", 6**0.5 / 10, 1 / 6),  # residuals 3/2, 1/2, -1, -1
    ],
    ids=["shares", "halves"],
)
def test_the_clustered_interval_is_wilson_s_of_the_effective_size(scores, clusters, clustered, alone):
    size = len(scores) * (alone / clustered) ** 2
    assert size < len(scores)
    expected = wilson_interval(sum(scores) / len(scores) * size, size)
    assert clustered_interval(scores, clusters) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=80))
def test_one_score_a_cluster_gives_wilson_s_interval(scores):
    mean = sum(scores) / len(scores)
    found = clustered_interval(scores, range(len(scores)))
    assert found == pytest.approx(wilson_interval(mean * len(scores), len(scores)), abs=1e-9)


def test_clusters_that_are_more_alike_than_chance_are_no_larger_sample():
    assert clustered_interval([1, 0] * 10, [number // 2 for number in range(20)]) == wilson_interval(10, 20)


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("score", [0, 1])
def test_towards_either_end_the_interval_does_not_turn_back(score, size):
    clusters = [place // size for place in range(60)]
    scores = [1 - score] * 3 + [score] * 57
    found = [clustered_interval([score] * (3 - count) + scores[3 - count :], clusters) for count in (3, 2, 1, 0)]
    edges = [each.low for each in found] if score else [-each.high for each in found]
    assert edges == sorted(edges)
    if size == 1:
        plain = [wilson_interval(60 * score + (1 - 2 * score) * others, 60) for others in (3, 2, 1, 0)]
        assert [each.low for each in found] == pytest.approx([each.low for each in plain])
        assert [each.high for each in found] == pytest.approx([each.high for each in plain])


SCORES = st.lists(st.tuples(st.sampled_from([0, 1]), st.integers(0, 9)), min_size=2, max_size=40)


@given(SCORES)
def test_no_interval_begins_above_that_of_only_right_scores(pairs):
    clusters = [cluster for _, cluster in pairs]
    found = clustered_interval([score for score, _ in pairs], clusters)
    if found is not None:
        assert found.low <= clustered_interval([1] * len(pairs), clusters).low
        assert found.high >= clustered_interval([0] * len(pairs), clusters).high


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
