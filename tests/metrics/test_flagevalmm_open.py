"""FlagEvalMM's typed open answers, by its own rule and by the careful one."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.flagevalmm_open import (
    OpenRow,
    extract_open_answer,
    normalize_open_answer,
    open_report,
    open_score,
)

TYPES = [("integer", 5), ("float", 0.0), ("integer", [1, 2]), ("true_false", [True]), ("text match", ["a", "b"])]
REPLIES = st.text(st.sampled_from("0123459.,-/^%x=() \nABTFaeé是对错五") | st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize("vector", vectors("flagevalmm_open"))
def test_replies_are_scored_as_flagevalmm_does_its_faults_included(vector):
    line, expected = vector["input"], vector["expected"]
    assert open_score(line["prediction"], line["answer"], line["answer_type"]) == expected["score"]
    assert normalize_open_answer(extract_open_answer(line["prediction"])) == expected["extracted"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_open"))
def test_the_careful_rule_mends_the_plain_faults_and_keeps_the_rest(vector):
    line = vector["input"]
    wanted = vector.get("sensible", vector["expected"])["score"]
    assert open_score(line["prediction"], line["answer"], line["answer_type"], rule="careful") == wanted


@pytest.mark.parametrize("vector", vectors("flagevalmm_extract_answer"))
def test_answers_are_extracted_as_flagevalmm_does(vector):
    assert extract_open_answer(vector["input"]["prediction"]) == vector["expected"]["extracted"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("\\boxed{5}\nand {x}", "5", id="a brace that closes a line ends the box"),
        pytest.param("\\boxed{5} and {x}", "5", id="a simple box ends at its first brace"),
        pytest.param("\\boxed{2e5} {x}", "2e5} {x", id="a power of ten makes a long box"),
        pytest.param("\\boxed{ }", "", id="blank box"),
        pytest.param("\\boxed{} Answer: 3", "3", id="empty box"),
        pytest.param("\\boxed{\\frac{1}{0}}", "\\frac{1}{0}", id="no division by zero"),
        pytest.param("\\boxed{-\\frac{1}{4}}", "-0.25", id="negative fraction"),
        pytest.param("Answer A Answer: B Answer C", "B Answer C", id="first cue of the list"),
        pytest.param("答案：甲 答案:乙", "甲 答案:乙", id="Chinese cues in order"),
    ],
)
def test_extraction_rule_by_rule(text, answer):
    assert extract_open_answer(text) == answer


@pytest.mark.parametrize(
    ("answer_type", "reply", "answer", "score"),
    [
        ("integer", "4.9991", "5", 1), ("integer", "4.999", "5", 0), ("float", "0.0", 0, 0), ("float", "1.1", 1, 0),
        ("integer", "", [], 0), ("true_false", "true", "True", 1), ("true_false", "true", ["maybe"], 0),
        ("text match", "abc", ["x", "B"], 1), ("text match", "3", 3, 1), ("float", "1.07", [1.5], 0),
    ],
)  # fmt: skip
def test_the_reference_rule_by_rule(answer_type, reply, answer, score):
    assert open_score(reply, answer, answer_type) == score


def test_a_right_answer_that_does_not_fit_its_type_is_an_error():
    with pytest.raises(ValueError, match="five"):
        open_score("5", "five", "integer")


@pytest.mark.parametrize("vector", vectors("flagevalmm_open_aggregate"))
def test_the_report_is_that_of_flagevalmm(vector):
    line, rows = vector["input"], []
    for prediction in vector["input"]["predictions"]:
        gold = line["annotations"][prediction["question_id"]]
        score = open_score(prediction["answer"], gold["answer"], gold["answer_type"])
        rows.append(OpenRow(score, gold[line["tracker_type"]], gold.get(line["tracker_subtype"])))
    assert open_report(rows) == vector["expected"]
    assert open_report(reversed(rows)) == vector["expected"]


def test_a_report_of_nothing_has_no_accuracy():
    assert open_report([]) == {"final_score": [0, 0], "accuracy": None}


@given(REPLIES, st.sampled_from(TYPES), st.sampled_from(["reference", "careful"]))
def test_any_reply_scores_0_or_1(reply, question, rule):
    answer_type, answer = question
    assert open_score(reply, answer, answer_type, rule=rule) in (0, 1)
