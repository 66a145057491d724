"""Metrics of choices: which questions they can score."""

from __future__ import annotations

import pytest

from flagmm.evaluator.metric import build_metric

FOUR = ["red", "green", "blue", "white"]


@pytest.mark.parametrize("metric", ["mmmu", "mmmu_pro", "mmmu_subjects"])
@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        pytest.param({"answer": "D", "options": FOUR}, True, id="label"),
        pytest.param({"answer": "d", "options": FOUR}, True, id="small letter"),
        pytest.param({"answer": ["E", "A"], "options": FOUR}, True, id="one of several"),
        pytest.param({"answer": "E", "options": FOUR}, False, id="label of no option"),
        pytest.param({"answer": "red", "options": FOUR}, False, id="text, which the official script does not know"),
        pytest.param({"answer": "D"}, True, id="options in the picture"),
        pytest.param({"answer": "E", "question_type": "vision"}, False, id="beyond the four in the picture"),
        pytest.param({"answer": "E", "question_type": "short-answer"}, True, id="open question"),
    ],
)
def test_a_choice_whose_answer_is_no_option_is_not_scored(metric, fields, fits):
    annotation = {"question_type": "multiple-choice", **fields}
    assert build_metric(metric, where="test").can_score(annotation) is fits
    assert build_metric(metric, where="test").is_unfit(annotation) is not fits


def test_a_question_without_an_answer_is_neither_scored_nor_unfit():
    metric = build_metric("mmmu", where="test")
    assert not metric.can_score({"question_type": "multiple-choice", "answer": None})
    assert not metric.is_unfit({"question_type": "multiple-choice", "answer": None})
