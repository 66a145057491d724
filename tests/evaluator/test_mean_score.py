"""The mean of the questions' scores with its error and interval.

Expected values are those of scipy 1.17.1 (`stats.sem`) and statsmodels 0.15.0 (`proportion_confint(method="wilson")`,
and for clusters `OLS(scores, ones).fit(cov_type="cluster")`: `bse`), in percent.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.evaluator.mean_score import MeanScore, about_interval, mean_of, mean_score
from flagmm.types import STATUSES
from tests.evaluator.judged_items import JUDGE_FAILED, NOT_SCORED, RIGHT, UNREAD, WRONG, judged

OFTEN = settings(max_examples=40, deadline=None)
UNSCORED = judged(NOT_SCORED, scorable=False)
OUTCOMES = st.sampled_from([RIGHT, WRONG, UNREAD, JUDGE_FAILED, *STATUSES[1:]])
ITEMS = st.lists(
    st.builds(
        lambda each, ok, picture: judged(*each, scorable=ok, picture=picture),
        st.lists(OUTCOMES, min_size=1, max_size=3),
        st.booleans(),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=8,
)


def photos(marks, pictures):
    outcomes = [RIGHT if mark else WRONG for mark in marks]
    return [judged(each, picture=picture) for each, picture in zip(outcomes, pictures, strict=True)]


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param([], (0, None, None, None), id="nothing"),
        pytest.param([UNSCORED], (0, None, None, None), id="nothing to score"),
        pytest.param([judged(JUDGE_FAILED)], (0, None, None, None), id="the judge failed on all"),
        pytest.param([judged(RIGHT)], (1, 100.0, None, [20.65, 100.0]), id="one right"),
        pytest.param([judged("failed")], (1, 0.0, None, [0.0, 79.35]), id="one failed"),
        pytest.param([judged("failed")] * 3, (3, 0.0, 0.0, [0.0, 56.15]), id="all failed"),
        pytest.param([judged(RIGHT), judged("empty")], (2, 50.0, 50.0, [9.45, 90.55]), id="two"),
        pytest.param(photos([1, 1, 1, 0], "abcd"), (4, 75.0, 25.0, [30.06, 95.44]), id="three of four"),
        pytest.param(photos([1, 1, 1, 0], "abcd") + [UNSCORED] * 9, (4, 75.0, 25.0, [30.06, 95.44]), id="unscored"),
        pytest.param(
            [judged((mark, "x")) for mark in (0.3, 1.0, 0.0, 0.9, 0.6)], (5, 56.0, 18.6, [20.57, 86.22]), id="shares"
        ),
        pytest.param(
            [judged(RIGHT, WRONG), judged(RIGHT, RIGHT)], (2, 75.0, 25.0, [19.79, 97.33]), id="repeats: n is questions"
        ),
    ],
)
def test_every_question_asked_is_in_the_mean_its_error_and_its_interval(items, expected):
    found = mean_score(items)
    assert (found.n, found.mean, found.stderr, found.interval) == expected


def test_questions_on_one_picture_are_no_independent_ones():
    items = photos([1, 0, 1, 1, 0, 1, 0, 0, 1, 1], "aaabbcdddd")
    assert mean_score(items) == MeanScore(n=10, mean=60.0, stderr=16.33, interval=[31.27, 83.18])
    # One cluster is right, one half right, and so on: no sign that they differ, and no larger sample for that.
    assert mean_score(items, cluster_by="picture") == MeanScore(n=10, mean=60.0, stderr=7.3, interval=[31.27, 83.18])


def test_a_question_without_a_picture_shares_it_with_no_other():
    items = [*photos([1, 0], "aa"), judged(RIGHT, picture=None), judged("failed")]
    for number, item in enumerate(items):
        object.__setattr__(item.answer, "question_id", str(number))
    assert mean_score(items, cluster_by="picture") == MeanScore(n=4, mean=50.0, stderr=21.65, interval=[15.0, 85.0])
    assert about_interval(items, "picture") == {"level": 95, "method": "clustered", "by": "picture", "clusters": 3}


def test_several_pictures_of_a_question_are_one_cluster():
    items = photos([1, 0, 1, 1], [["a", "b"], ["a", "b"], ["a"], ["c"]])
    assert about_interval(items, "picture")["clusters"] == 3


@pytest.mark.parametrize("items", [[], photos([1], "a"), photos([1, 0, 1], "aaa")])
def test_fewer_than_two_clusters_tell_nothing(items):
    found = mean_score(items, cluster_by="picture")
    assert (found.stderr, found.interval) == (None, None)
    assert found.mean == mean_score(items).mean


def test_a_field_that_no_question_has_is_told_with_the_nearest():
    with pytest.raises(DataError, match=r"^cluster_by: no question has a field 'pictures'\. Did you mean 'picture'\?$"):
        about_interval(photos([1], "a"), "pictures")


def test_without_a_field_the_interval_is_wilson_s():
    assert about_interval(photos([1], "a"), None) == {"level": 95, "method": "wilson"}


def test_bare_scores_have_the_same_numbers():
    assert mean_of([1, 1, 1, 0]) == mean_score(photos([1, 1, 1, 0], "abcd"))


@OFTEN
@given(ITEMS, st.sampled_from([None, "picture"]))
def test_the_mean_lies_in_its_interval(items, key):
    found = mean_score(items, cluster_by=key)
    assert (found.mean is None) == (found.n == 0)
    if found.interval is not None:
        assert 0 <= found.interval[0] <= found.mean + 0.01
        assert found.mean - 0.01 <= found.interval[1] <= 100


@OFTEN
@given(ITEMS, st.sampled_from([None, "picture"]), st.randoms(use_true_random=False))
def test_the_order_of_questions_has_no_effect(items, key, rng):
    assert mean_score(rng.sample(items, len(items)), cluster_by=key) == mean_score(items, cluster_by=key)
