"""MATH-Vision from reply to table."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.mathvision import MathVisionSample, mathvision_correct, mathvision_extract, mathvision_report

FAULTS = [vector for vector in vectors("mathvision_end_to_end") if "sensible" in vector.values[0]]


@pytest.mark.parametrize("vector", vectors("mathvision_end_to_end"))
def test_replies_are_read_and_scored_as_math_v_does_its_faults_included(vector):
    line, expected = vector["input"], vector["expected"]
    assert mathvision_extract(line["response"]) == expected["model_answer"]
    assert mathvision_correct(line["response"], line["answer"], line["options"]) == expected["correct"]


@pytest.mark.parametrize("vector", FAULTS)
def test_the_careful_rule_mends_the_plain_faults(vector):
    line = vector["input"]
    assert mathvision_correct(line["response"], line["answer"], line["options"], rule="careful")


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Because of that (C).", "c"), ("B\nbecause", "b"), ("(D) D\nyes", "d"), ("The sum is 12.", "12"),
        ("The answer is 7. Done", "7"), ("the final answer is: x\nmore", "x"),
        ("\\boxed{1}\\boxed{.5}", "\\frac{1}{2}"),
        ("\\boxed{\\sqrt2}", "\\sqrt{2}"), ("\\boxed{\\sqrt2+\\frac12}", "\\sqrt{2}+\\frac{1}{2}"),
        ("x = 3/4", "\\frac{3}{4}"),
        ("03/4", "03/4"), ("\\boxed{12\\,km}", "12"), ("a\\approx 3.1", "3.1"), ("5}", "5"), ("", ""),
    ],
)  # fmt: skip
def test_extraction_rule_by_rule(response, answer):
    assert mathvision_extract(response) == answer


@pytest.mark.parametrize(
    ("response", "answer", "options", "right"),
    [
        ("<think>\\boxed{3}</think>4", "3", [], False),
        ("The answer is (B) 2, since A is wrong.", "B", ["1", "2"], True),
        ("A or B", "A", ["1", "2"], False),
        ("\\boxed{x^2+1}", "1+x^2", [], True),
        ("about 17 apples", "7", [], False),
    ],
)
def test_the_careful_rule_by_rule(response, answer, options, right):
    assert mathvision_correct(response, answer, options, rule="careful") == right


def test_the_text_of_the_right_option_is_right_and_a_label_beyond_the_options_is_only_itself():
    assert mathvision_correct("2", "B", ["1", "2"])
    assert not mathvision_correct("2", "E", ["1", "2"])


@pytest.mark.parametrize("vector", [v for v in vectors("math_aggregate") if "samples" in v.values[0]["input"]])
def test_the_report_is_that_of_math_v(vector):
    samples = [MathVisionSample(s["subject"], s["level"], s["correct"]) for s in vector["input"]["samples"]]
    assert mathvision_report(samples) == mathvision_report(reversed(samples)) == vector["expected"]


def test_no_samples_give_an_empty_report():
    assert mathvision_report([]) == {}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_reply_can_be_scored(text):
    for rule in ("reference", "careful"):
        assert mathvision_correct(text, "A", ["1", "2"], rule=rule) in (True, False)
