"""VSI-Bench, summed up as FlagEvalMM and as lmms-eval do."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.vsi import (
    VsiRow,
    first_quantity,
    vsi_report,
    vsi_report_lmms_eval,
    vsi_score,
    vsi_score_lmms_eval,
)


def approximately(report):
    return {key: pytest.approx(value) for key, value in report.items()}


@pytest.mark.parametrize("vector", vectors("vsi_aggregate"))
def test_the_reports_are_those_of_both_references_in_any_order(vector):
    rows = [VsiRow(row["question_type"], row["answer"], row["prediction"]) for row in vector["input"]["rows"]]
    expected = vector["expected"]
    for ordered in (rows, rows[::-1]):
        assert vsi_report(ordered) == approximately(expected["flagevalmm"])
        assert vsi_report_lmms_eval(ordered) == approximately(expected["lmms_eval"])


@pytest.mark.parametrize(
    ("question_type", "prediction", "flagevalmm", "lmms_eval"),
    [
        ("route_planning", "(A)", 1, 0), ("route_planning", "a.", 0, 1), ("route_planning", "A", 1, 1),
        ("object_counting", "about ten", 0, 1), ("object_counting", "10 of 12", 1, 1), ("object_counting", "", 0, 0),
    ],
)  # fmt: skip
def test_a_reply_by_either_rule(question_type, prediction, flagevalmm, lmms_eval):
    row = VsiRow(question_type, "A" if question_type == "route_planning" else "10", prediction)
    assert (vsi_score(row), vsi_score_lmms_eval(row)) == (flagevalmm, lmms_eval)


@pytest.mark.parametrize(
    ("text", "value"),
    [("-3.5 or 4", -3.5), ("one hundred and twenty chairs", 120), ("two, three", 2), ("none", None), ("", None)],
)
def test_the_first_quantity_of_a_text(text, value):
    assert first_quantity(text) == value


def test_levels_of_direction_that_occur_are_one_task():
    rows = [
        VsiRow("object_rel_direction_easy", "A", "A"),
        VsiRow("object_rel_direction_hard", "A", "B"),
        VsiRow("route_planning", "A", "A"),
    ]
    assert vsi_report_lmms_eval(rows) == {
        "route_planning_accuracy": 1,
        "object_rel_direction_accuracy": 0.5,
        "overall": 0.75,
    }


def test_nothing_has_no_accuracy_and_another_type_is_an_error():
    assert vsi_report([]) == {"avg": {"num": 0, "correct": 0, "accuracy": None}, "accuracy": None}
    assert vsi_report_lmms_eval([]) == {"overall": None}
    for score in (vsi_score, vsi_score_lmms_eval):
        with pytest.raises(ValueError, match="essay"):
            score(VsiRow("essay", "A", "A"))


@given(st.text(max_size=30), st.sampled_from(["object_counting", "route_planning"]))
def test_any_reply_scores_from_0_to_1(prediction, question_type):
    row = VsiRow(question_type, "4", prediction)
    assert 0 <= vsi_score(row) <= 1
    assert 0 <= vsi_score_lmms_eval(row) <= 1
