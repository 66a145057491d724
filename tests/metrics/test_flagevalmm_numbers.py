"""FlagEvalMM's rules for numbers, held to what FlagEvalMM itself answered."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.flagevalmm_numbers import (
    extract_numbers,
    first_number_or_word,
    mean_relative_accuracy,
    number_word_value,
    read_quantity,
    relative_error,
    to_float,
)


@pytest.mark.parametrize("vector", vectors("flagevalmm_extract_numbers"))
def test_numbers_are_found_as_flagevalmm_finds_them(vector):
    assert extract_numbers(vector["input"]["text"]) == pytest.approx(vector["expected"]["numbers"])


@pytest.mark.parametrize("vector", vectors("vsi_response"))
def test_quantities_are_read_and_scored_as_flagevalmm_does_its_faults_included(vector):
    found = read_quantity(vector["input"]["response"])
    score = mean_relative_accuracy(to_float(found), to_float(vector["input"]["target"]), 0.5, 0.95, 0.05)
    assert {"extracted": found, "mra": pytest.approx(score)} == vector["expected"]


@pytest.mark.parametrize("vector", vectors("vsi_mra"))
def test_mean_relative_accuracy_is_that_of_flagevalmm(vector):
    given = vector["input"]
    score = mean_relative_accuracy(
        given["prediction"], given["target"], given["start"], given["end"], given["interval"]
    )
    expected = vector["sensible"] if "error" in vector["expected"] else vector["expected"]  # it divided by zero
    assert score == pytest.approx(expected["mra"])


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param("100 200", [100200], id="groups joined by a blank"),
        pytest.param("100, 200", [100, 200], id="comma and blank"),
        pytest.param("1,234,5678", [1234, 5678], id="last group too long"),
        pytest.param("1.234 567", [1.234567], id="a group behind the point, too"),
        pytest.param("1,234.5,678", [1234.5, 678], id="no group behind a group's decimals"),
        pytest.param("1\n234\u00a0567", [1234567], id="any blank"),
        pytest.param("3.2 \\times 10^{-4}", [0.00032], id="LaTeX power"),
        pytest.param("3e5 and 2×10^2", [300000, 200], id="exponents"),
        pytest.param("none", [], id="nothing"),
        pytest.param("1e999", [math.inf], id="too large"),
    ],
)
def test_number_forms(text, numbers):
    assert extract_numbers(text) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("text", "found"), [("-3.25 or 4", "3.25"), ("a 5.", "5"), ("Two. Three", "Two"), ("", ""), (" x", "")]
)
def test_first_number_else_first_word(text, found):
    assert first_number_or_word(text) == found


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("zero", 0),
        ("Nineteen", 19),
        ("forty-two", 42),
        ("hundred", 100),
        ("three-hundred-and-five", 305),
        ("twelve thousand three hundred forty", 12340),
        ("two-million", 2_000_000),
        ("There", None),
        ("", None),
        ("tend", None),
    ],
)
def test_number_words_have_values(words, value):
    assert number_word_value(words) == value


def test_an_endless_row_of_digits_is_a_quantity_too():
    assert to_float(read_quantity("9" * 5000)) == math.inf


@pytest.mark.parametrize(
    ("value", "number"),
    [("2.5", 2.5), (3, 3.0), (Decimal("1.5"), 1.5), (None, None), ("x", None), ([1], None), (10**400, None)],
)
def test_to_float_gives_none_for_what_is_no_number(value, number):
    assert to_float(value) == number


@pytest.mark.parametrize(
    ("prediction", "target", "error"), [(1, 0, 1), (0, 0, 0), (-6, -5, 0.2), (4, 5, 0.2), (6, 5, 0.2)]
)
def test_relative_error_is_a_share_of_the_size_of_the_target(prediction, target, error):
    assert relative_error(prediction, target) == pytest.approx(error)


@pytest.mark.parametrize(("prediction", "target"), [(None, 5), (5, None), (math.nan, 5), (math.inf, 5)])
def test_a_missing_number_passes_no_level(prediction, target):
    assert mean_relative_accuracy(prediction, target) == 0


def test_a_single_level_is_the_start():
    assert mean_relative_accuracy(4, 5, 0.7, 0.6, 0.2) == 1
    assert mean_relative_accuracy(4, 5, 0.9, 0.8, 0.2) == 0


@given(st.floats(0.01, 1e6), st.floats(0, 2))
def test_accuracy_never_rises_with_the_error(target, error):
    nearer, farther = (mean_relative_accuracy(target * (1 + share), target) for share in (error / 2, error))
    assert 0 <= farther <= nearer <= 1
