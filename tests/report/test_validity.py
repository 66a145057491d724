"""What a score is worth."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.report.validity import assess, has_losses
from flagmm.types import Counts, TaskResult

OFTEN = settings(max_examples=60, deadline=None)


def result(accuracy=50.0, *, over="asked", metrics=None, **counts):
    values = {"accuracy": accuracy} if metrics is None else metrics
    return TaskResult(task="t", metrics=values, counts=Counts(**counts), over=over)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param(result(asked=4, answered=4), "all 4 answered", id="all"),
        pytest.param(result(), "nothing was asked", id="nothing"),
        pytest.param(
            result(50.0, asked=4, answered=2, failed=1, empty=1),
            "1 failed (25.0%); 1 empty (25.0%); "
            "score between 50.00 and 100.00 if the missing were all wrong or all right",
            id="missing",
        ),
        pytest.param(
            result(33.33, over="answered", asked=4, answered=3, refused=1),
            "1 refused (25.0%); score between 25.00 and 50.00 if the missing were all wrong or all right",
            id="over the answered",
        ),
        pytest.param(
            result(asked=1000, answered=1000, truncated=2, unparsed=3, judge_failed=1),
            "2 truncated (0.2%); 3 unparsed (0.3%); 1 judge-failed (0.1%); "
            "score between 49.95 and 50.05 if the missing were all wrong or all right",
            id="answered, but",
        ),
        pytest.param(result(asked=4, answered=4, unscored=2), "2 not scored", id="not scored"),
        pytest.param(result(None, asked=4, answered=3, failed=1), "1 failed (25.0%)", id="no score, no range"),
        pytest.param(
            result(metrics={"bleu": 3.0}, asked=4, answered=3, failed=1), "1 failed (25.0%)", id="another score"
        ),
        pytest.param(result(1234.0, asked=4, answered=3, failed=1), "1 failed (25.0%)", id="no percentage"),
        pytest.param(
            result(0.0, asked=2, answered=0, failed=2, unscored=2),
            "2 failed (100.0%); 2 not scored",
            id="nothing to score",
        ),
    ],
)
def test_the_line_says_what_is_missing(given, text):
    assert assess(given).text == text


def named(details, *, metrics, **counts):
    counts = Counts(**{"asked": 4, "answered": 3, "failed": 1, **counts})
    return assess(TaskResult(task="t", metrics=metrics, counts=counts, details=details)).text


def test_the_range_is_that_of_a_headline_with_an_interval():
    details = {"headline": "anls", "anls_interval": [10.0, 90.0]}
    assert "; score between 60.00 and 85.00 if" in named(details, metrics={"anls": 60.0})


def test_the_range_names_the_accuracy_where_the_headline_is_no_mean():
    details = {"headline": "f1", "accuracy_interval": [10.0, 90.0]}
    assert "; accuracy between 50.00 and 75.00 if" in named(details, metrics={"f1": 60.0, "accuracy": 50.0})
    assert "between" not in named(details, metrics={"f1": 60.0})


def test_what_the_judge_failed_on_could_be_right_or_wrong():
    # Of four, one failed and one has no verdict, which the score is not over: one of four is right, up to three.
    text = named({}, metrics={"accuracy": 100 / 3}, judge_failed=1)
    assert "; score between 25.00 and 75.00 if" in text


@pytest.mark.parametrize("kind", ["failed", "empty", "refused", "truncated", "unparsed", "judge_failed"])
@pytest.mark.parametrize(("number", "is_doubtful"), [(0, False), (1, False), (2, True)])
def test_a_loss_of_more_than_1_percent_casts_doubt(kind, number, is_doubtful):
    assert assess(result(asked=100, answered=100, **{kind: number})).is_doubtful is is_doubtful


def test_nothing_asked_casts_doubt():
    assert assess(result()).is_doubtful


@OFTEN
@given(st.integers(1, 500), st.data())
def test_the_range_is_where_the_score_would_be_however_it_is_counted(asked, data):
    answered = data.draw(st.integers(1, asked))
    right = data.draw(st.integers(0, answered))
    losses = {"asked": asked, "answered": answered, "failed": asked - answered}
    for over, accuracy in (("asked", 100 * right / asked), ("answered", 100 * right / answered)):
        found = re.search(r"score between (\S+) and (\S+) if", assess(result(accuracy, over=over, **losses)).text)
        assert (found is None) == (answered == asked)
        if found:
            low, high = 100 * right / asked, 100 * (right + asked - answered) / asked
            assert (float(found[1]), float(found[2])) == pytest.approx((low, high), abs=0.0051)


@pytest.mark.parametrize(
    ("counts", "lost"),
    [
        ({"asked": 3, "answered": 3}, False),
        ({}, False),
        ({"asked": 3, "answered": 3, "truncated": 1, "unparsed": 1}, False),
        ({"asked": 3, "answered": 2, "failed": 1}, True),
        ({"asked": 3, "answered": 2, "empty": 1}, True),
        ({"asked": 3, "answered": 2, "refused": 1}, True),
        ({"asked": 3, "answered": 3, "judge_failed": 1}, True),
        ({"asked": 3, "answered": 3, "unscored": 1}, True),
    ],
)
def test_the_exit_status_tells_what_was_not_answered_or_not_scored(counts, lost):
    assert has_losses(Counts(**counts)) is lost


def test_the_line_says_what_to_do_about_replies_that_were_all_thinking():
    cut = replace(result(asked=20, answered=12, empty=8, truncated=8), details={"cut_while_thinking": 8})
    assert "8 empty (40.0%); 8 truncated (40.0%); 8 cut at the token limit while thinking: raise max_tokens" in (
        assess(cut).text
    )


def test_the_line_counts_finish_reasons_that_are_not_known():
    known = result(asked=20, answered=20)
    validity = assess(replace(known, details={"unknown_finish_reasons": {"tired": 2, "bored": 1}}))
    assert validity.text == "3 with an unknown finish_reason: 'tired' (×2), 'bored' (×1)"
    assert validity.is_doubtful
