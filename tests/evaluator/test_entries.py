"""The entries of `_evaluated.json`, which comparisons of runs read."""

from __future__ import annotations

import pytest

from flagmm.evaluator.entries import evaluated_entry
from tests.evaluator.judged_items import JUDGE_FAILED, NOT_SCORED, RIGHT, WRONG, judged


@pytest.mark.parametrize(
    ("item", "correct"),
    [
        pytest.param(judged(RIGHT), 1.0, id="right"),
        pytest.param(judged("failed"), 0.0, id="no answer"),
        pytest.param(judged(JUDGE_FAILED), None, id="the judge failed"),
        pytest.param(judged(NOT_SCORED, scorable=False), None, id="no reference"),
        pytest.param(judged(RIGHT, WRONG), 0.5, id="repeats"),
        pytest.param(judged(JUDGE_FAILED, RIGHT), 1.0, id="the judge failed on one reply"),
        pytest.param(judged(JUDGE_FAILED, JUDGE_FAILED), None, id="the judge failed on all replies"),
        pytest.param(judged(JUDGE_FAILED, "failed"), 0.0, id="the judge failed on the only answer"),
    ],
)
def test_a_question_that_is_in_no_denominator_has_no_score(item, correct):
    assert evaluated_entry(item)["correct"] == correct
    assert item.counts is (correct is not None)
