"""Questions that were asked several times: spread of the runs, pass@k, majority vote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.evaluator.aggregate import accuracy
from flagmm.evaluator.metric import Metric
from flagmm.evaluator.repeats import repeats
from tests.evaluator.judged_items import JUDGE_FAILED, NOT_SCORED, RIGHT, UNREAD, WRONG, judged

OFTEN = settings(max_examples=60, deadline=None)
UNSCORED = judged(NOT_SCORED, NOT_SCORED, scorable=False)
OUTCOMES = st.sampled_from([RIGHT, WRONG, UNREAD, "failed", "empty"])


def block(*items, metric=None, is_mean=True):
    return repeats(metric or Metric(), items, is_mean=is_mean).get("repeats")


class Worst(Metric):
    """A score that is no mean: the lowest of all questions, in points."""

    name = "worst"

    def summarize(self, items):
        return {"accuracy": accuracy(items), "worst": min((2 * item.score for item in items), default=None)}


class WholeTexts(Worst):
    mean_name = None


def test_hand_counted():
    found = block(
        judged(RIGHT, RIGHT, RIGHT, WRONG),
        judged(WRONG, WRONG, RIGHT, "failed"),
        judged("failed", "empty", "refused", "failed"),
    )
    # Runs: 1/3, 1/3, 2/3, 0; their deviation is the root of (0 + 0 + 1/9 + 1/9) / 3.
    # pass@2: 1 - C(1,2)/C(4,2) = 1; 1 - C(3,2)/C(4,2) = 1/2; 0. pass@4: 1, 1, 0. Majorities: A (right), B, none.
    assert found == {
        "n": 4,
        "scores": [33.33, 33.33, 66.67, 0.0],
        "mean": 33.33,
        "std": 27.22,
        "pass_at_k": {"1": 33.33, "2": 50.0, "4": 66.67},
        "majority_vote": 33.33,
        "majority_ties": 0,
    }


@pytest.mark.parametrize("items", [[], [judged(RIGHT)], [judged()], [judged("failed"), judged(WRONG)]])
def test_what_was_asked_once_has_no_block(items):
    assert block(*items) is None


@pytest.mark.parametrize(
    ("items", "scores", "std", "passed", "voted"),
    [
        pytest.param([judged("failed", "failed")], [0.0, 0.0], 0.0, {"1": 0.0, "2": 0.0}, 0.0, id="all failed"),
        pytest.param([judged(RIGHT, "failed")], [100.0, 0.0], 70.71, {"1": 50.0, "2": 100.0}, 100.0, id="one question"),
        pytest.param([judged(RIGHT, RIGHT)], [100.0, 100.0], 0.0, {"1": 100.0, "2": 100.0}, 100.0, id="all right"),
        pytest.param([judged(UNREAD, UNREAD)], [0.0, 0.0], 0.0, {"1": 0.0, "2": 0.0}, 0.0, id="unread"),
        pytest.param([UNSCORED], [], None, {"1": None, "2": None}, None, id="no reference"),
        pytest.param([judged(JUDGE_FAILED, JUDGE_FAILED)], [], None, {"1": None, "2": None}, None, id="no verdict"),
        pytest.param(
            [judged(JUDGE_FAILED, RIGHT), judged(WRONG, WRONG)],
            [0.0, 50.0], 35.36, {"1": 50.0, "2": 0.0}, 50.0, id="the judge failed on one reply",
        ),
    ],
)  # fmt: skip
def test_the_few_and_the_missing(items, scores, std, passed, voted):
    found = block(*items)
    assert (found["scores"], found["std"], found["pass_at_k"], found["majority_vote"]) == (scores, std, passed, voted)


def test_a_tie_of_the_majority_is_no_answer():
    found = block(judged(RIGHT, WRONG), judged(RIGHT, "failed"), judged(UNREAD, "failed"))
    assert (found["majority_vote"], found["majority_ties"]) == (33.33, 1)


def test_only_a_full_mark_passes():
    found = block(judged((0.9, "x"), (0.6, "y")), judged((1.0, "z"), (0.9, "x")))
    assert found["pass_at_k"] == {"1": 25.0, "2": 50.0}
    assert (found["scores"], found["mean"]) == ([95.0, 75.0], 85.0)


def test_the_majority_s_answer_scores_the_mean_of_its_marks():
    assert block(judged((0.6, "x"), (1.0, "x"), (1.0, "y")))["majority_vote"] == 80.0


@pytest.mark.parametrize(("n", "steps"), [(2, "12"), (3, "123"), (4, "124"), (5, "1245"), (8, "1248"), (9, "12489")])
def test_k_doubles_up_to_the_number_of_repeats(n, steps):
    assert list(block(judged(*[RIGHT] * n))["pass_at_k"]) == list(steps)


def test_a_score_that_is_no_mean_is_taken_of_each_run_as_the_metric_gives_it():
    found = block(judged(RIGHT, RIGHT), judged(RIGHT, WRONG), metric=Worst(), is_mean=False)
    assert found == {
        "n": 2, "scores": [2.0, 0.0], "mean": 1.0, "std": 1.414214, "pass_at_k": {"1": 75.0, "2": 100.0},
        "majority_vote": 0.0, "majority_ties": 1,
    }  # fmt: skip


def test_answers_without_marks_have_no_majority_and_nothing_that_passes():
    found = block(judged(RIGHT, WRONG), metric=WholeTexts(), is_mean=False)
    assert found == {"n": 2, "scores": [2.0, 0.0], "mean": 1.0, "std": 1.414214}


@OFTEN
@given(st.lists(st.lists(OUTCOMES, min_size=3, max_size=3), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_questions_has_no_effect_and_that_of_repeats_none_on_what_is_no_run(questions, rng):
    found = block(*[judged(*each) for each in questions])
    assert block(*[judged(*each) for each in rng.sample(questions, len(questions))]) == found
    other = block(*[judged(*rng.sample(each, 3)) for each in questions])
    for key in ("mean", "pass_at_k", "majority_vote", "majority_ties"):
        assert other[key] == pytest.approx(found[key], abs=0.011)


@OFTEN
@given(st.lists(st.lists(OUTCOMES, min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_first_chance_is_the_mean_and_more_chances_are_no_worse(questions):
    items = [judged(*each) for each in questions]
    found = block(*items)
    passed = list(found["pass_at_k"].values())
    assert passed[0] == pytest.approx(found["mean"], abs=0.011)
    assert found["mean"] == pytest.approx(accuracy(items), abs=0.011)
    assert passed == sorted(passed)
