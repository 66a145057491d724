"""Filled blanks, by FlagEvalMM's rule and by the careful one."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.fill_blank import fill_blank_correct
from flagmm.metrics.flagevalmm_text import fill_blank_match


@pytest.mark.parametrize("vector", vectors("flagevalmm_fill_blank"))
def test_blanks_are_right_where_flagevalmm_says_so_its_faults_included(vector):
    line, expected = vector["input"], vector["expected"]
    match = fill_blank_match(line["prediction"], line["answer"], threshold=line["threshold"])
    assert (match.matched, match.reference) == (expected["matched_or_cleaned"], expected["normalised_answer"])
    right = fill_blank_correct(line["prediction"], line["answer"], rule="reference", threshold=line["threshold"])
    assert right == expected["correct"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_fill_blank"))
def test_the_careful_rule_mends_the_plain_faults_and_keeps_the_rest(vector):
    line = vector["input"]
    wanted = vector.get("sensible", vector["expected"])["correct"]
    assert fill_blank_correct(line["prediction"], line["answer"]) == wanted


@pytest.mark.parametrize(
    ("prediction", "answer", "right"),
    [
        ("The result is 42.", "42", True), ("41", "42", False), ("42.0", "42", True), ("42 km", "42", True),
        ("42%", "42", False), ("1/2", "0.5", True), ("forty-two", "42", True), ("\\boxed{42}", "42", True),
        ("-5", "5", False),
        ("3", "x=3", True), ("x = 3", "3", True), ("10km/h", "10 km/h", True), ("CO_2", "CO2", True),
        ("CO2", "CO3", False),
        ("buses", "bus", True), ("bus", "buses", True), ("cat", "category", False), ("methane", "methanol", False),
        ("北京市", "北京", True), ("非金属", "金属", False), ("变大", "增大", True), ("√", "正确", True),
        ("a; b", "a;b", True),
        ("not Paris", "Paris", False), ("<think>Paris</think>Rome", "Paris", False), ("Rome\nParis", "Paris", True),
        ("", "42", False), ("", "", False),
    ],
)  # fmt: skip
def test_the_careful_rule_by_rule(prediction, answer, right):
    assert fill_blank_correct(prediction, answer) == right


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_blank_can_be_compared(prediction, answer):
    for rule in ("reference", "careful"):
        assert fill_blank_correct(prediction, answer, rule=rule) in (True, False)


@pytest.mark.parametrize(
    ("prediction", "answer", "careful", "reference"),
    [
        ("photosynthesis", "photosynthesys", True, True), ("photosynthesys", "photosynthesis", True, True),
        ("The answer is photosynthesys.", "photosynthesis", True, True), ("recieve", "receive", True, True),
        ("occured", "occurred", True, True), ("sulphur", "sulfur", True, True),
        ("increase", "decrease", False, True), ("nitrite", "nitrate", False, True),
        ("methanol", "methane", False, True), ("production", "reduction", False, True),
        ("公元1995年", "1995", True, True), ("1995年", "1995", True, True), ("答案：公元1995年。", "1995", True, True),
        ("公元前1995年", "1995", False, False), ("公元前221年", "公元221年", False, True),
        ("AD 1995", "1995", True, True), ("1995 BC", "1995", False, True), ("公元1996年", "1995", False, False),
        ("大于", "＞", True, False), ("＞", "大于", True, False), ("greater than", ">", True, False),
        (">", "＞", True, True), ("小于", "＞", False, False), ("不大于", "＞", False, False),
        ("≥", "＞", False, False),
        ("大于等于", "≥", True, False), ("等于", "＝", True, False),
    ],
)  # fmt: skip
def test_what_is_like_the_answer_is_right_with_care_where_nothing_contradicts(prediction, answer, careful, reference):
    assert fill_blank_correct(prediction, answer) == careful
    assert fill_blank_correct(prediction, answer, rule="reference") == reference
