"""Several answers to one question: pass@k and the majority's answer."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.statistics import majority_vote, pass_at_k


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_pass_at_k_is_the_share_of_all_choices_of_k_answers_that_hold_a_right_one(n):
    for right in range(n + 1):
        answers = [True] * right + [False] * (n - right)
        for k in range(1, n + 1):
            choices = list(combinations(answers, k))
            assert pass_at_k(n, right, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_at_1_is_the_mean():
    assert pass_at_k(200, 37, 1) == pytest.approx(37 / 200)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 5, 6), (5, 0, 6), (0, 0, 1)])
def test_too_few_answers_tell_nothing_of_k(n, c, k):
    assert pass_at_k(n, c, k) is None


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 0), (-1, 0, 1)])
def test_impossible_counts_are_errors(n, c, k):
    with pytest.raises(ValueError, match="k must be 1 or more"):
        pass_at_k(n, c, k)


@given(st.integers(1, 300), st.data())
def test_pass_at_k_is_a_share_and_grows_with_k(n, data):
    c = data.draw(st.integers(0, n))
    shares = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    assert shares[0] >= 0
    assert shares == sorted(shares)
    assert shares[-1] == (1.0 if c else 0.0)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["A", "B", "B"], "B"),
        (["B", "A", "A", "B"], None),
        (["C", "A", "A", "B", "B"], None),
        (["C", "A", "A", "B", "A", "B"], "A"),
        ([None, None, None, "D"], "D"),
        ([["A", "C"], ["A"], ["A", "C"]], ["A", "C"]),
        (["D"], "D"),
        ([None, None], None),
        ([], None),
    ],
    ids=[
        "most",
        "a tie",
        "a tie behind another",
        "one ahead",
        "no answer has no vote",
        "lists",
        "one",
        "only no answers",
        "empty",
    ],
)
def test_the_majority_is_what_most_answers_say(answers, expected):
    assert majority_vote(answers) == expected


def test_answers_may_come_from_a_generator():
    assert majority_vote(letter for letter in "ABBAB") == "B"


@given(st.lists(st.sampled_from([None, "A", "B", ["A"]])), st.randoms(use_true_random=False))
def test_the_order_of_answers_has_no_effect_on_the_majority(answers, rng):
    assert majority_vote(rng.sample(answers, len(answers))) == majority_vote(answers)
