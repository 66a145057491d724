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
        pytest.param({"answer": "J", "question_type": "vision"}, True, id="the tenth option in the picture"),
        pytest.param({"answer": "Z", "options": []}, True, id="any letter without options"),
        pytest.param({"answer": "AB", "question_type": "vision"}, False, id="no letter"),
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


VISION = {"question_type": "vision"}


@pytest.mark.parametrize("reply", ["E", "`E`", "**E**", "E)", "E. teapot", "e", "(E)", "The answer is E."])
def test_a_letter_after_d_is_read_where_the_options_are_in_the_picture(reply):
    verdict = build_metric("mmmu", where="test").score(reply, {**VISION, "answer": "E"})
    assert (verdict.correct, verdict.extracted) == (1.0, "E")


def test_ten_options_in_the_picture_all_count():
    letters = "ABCDEFGHIJ"
    annotations = {letter: {**VISION, "answer": letter, "subject": "Art"} for letter in letters}
    metric = build_metric("mmmu_subjects", where="test")
    assert [metric.score("C", annotation).correct for annotation in annotations.values()].count(1.0) == 1
    assert not any(metric.is_unfit(annotation) for annotation in annotations.values())


@pytest.mark.parametrize(
    ("rule", "choice", "official", "opened"),
    [
        pytest.param(None, 1.0, 0.0, 1.0, id="usual"),
        pytest.param("reference", 0.0, None, 1.0, id="official"),
        pytest.param("careful", 1.0, 0.0, 0.0, id="careful"),
    ],
)
def test_mmmu_reads_choices_with_care_and_open_answers_officially_unless_told(rule, choice, official, opened):
    metric = build_metric({"type": "mmmu", "rule": rule}, where="test")
    verdict = metric.score("**B**", {"question_type": "multiple-choice", "options": FOUR, "answer": "B"})
    assert (verdict.correct, verdict.reference) == (choice, official)
    assert metric.score("unknown", {"question_type": "short-answer", "answer": "no"}).correct == opened


def test_the_official_reading_of_mmmu_pro_is_as_it_was():
    verdict = build_metric("mmmu_pro", where="test").score("**B**", {**VISION, "answer": "B"})
    assert (verdict.correct, verdict.careful) == (0.0, 1.0)
