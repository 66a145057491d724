"""Equal answers to maths questions, by MATH-V's rule and by the careful one."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.math_equality import latex_equal


@pytest.mark.parametrize("vector", vectors("math_equal"))
def test_answers_are_equal_where_math_v_says_so_its_faults_included(vector):
    line = vector["input"]
    assert latex_equal(line["prediction"], line["answer"]) == vector["expected"]["equal"]


@pytest.mark.parametrize("vector", [vector for vector in vectors("math_equal") if "sensible" in vector.values[0]])
def test_the_careful_rule_mends_the_plain_faults(vector):
    line = vector["input"]
    assert latex_equal(line["prediction"], line["answer"], rule="careful") == vector["sensible"]["equal"]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        pytest.param("x=3", "3", True, id="assignment"),
        pytest.param("(1.0,2)", "(1,2)", True, id="tuple by values"),
        pytest.param("(a,\\infty)", "(a, \\infty)", False, id="kept elements are texts"),
        pytest.param("2.004", "2", True, id="two decimals"),
        pytest.param("[1,2]", "(1,2)", False, id="brackets differ"),
        pytest.param(" ", " ", False, id="blank"),
    ],
)
def test_the_reference_rule_by_rule(one, other, equal):
    assert latex_equal(one, other) == latex_equal(other, one) == equal


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("x^2-1", "(x-1)(x+1)", True), ("x+y", "x-y", False), ("x", "y", False), ("2x", "x", False),
        ("\\{1,2\\}", "{2, 1}", True), ("{1,1}", "{1,2}", False), ("(1,2)", "(2,1)", False), ("(1,2)", "[1,2]", False),
        ("1, 2 and 3", "3, 2, 1", True), ("((1,2),3)", "((1,2),3.0)", True), ("10000", "10001", False),
        ("\\pi", "3.1416", True), ("\\pi", "22/7", False), ("90°", "90", True), ("twenty-four", "24", True),
        ("$\\text{Yes}$.", "yes", True), ("5!", "120", True), ("5!", "5", False), ("", "", False),
        ("cat", "dog", False),
    ],
)  # fmt: skip
def test_the_careful_rule_by_rule(one, other, equal):
    assert latex_equal(one, other, rule="careful") == latex_equal(other, one, rule="careful") == equal


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_two_texts_can_be_compared_in_either_order(one, other):
    for rule in ("reference", "careful"):
        assert latex_equal(one, other, rule=rule) == latex_equal(other, one, rule=rule)
