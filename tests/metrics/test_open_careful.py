"""What careful readers take from replies to typed open questions."""

from __future__ import annotations

import pytest

from flagmm.metrics.open_careful import (
    number_sequences,
    open_statement,
    states_number,
    states_text,
    truth_values,
    whole_number_value,
)


@pytest.mark.parametrize(
    ("reply", "statement"),
    [
        ("<think>4</think>5", "5"), ("-\\boxed{5} m", "-5"), ("\\boxed{}, answer: 3", "3"), ("Answer: 5\nas 2+3", "5"),
        ("The answer is 4. Answer: 5", "5"), ("答案是甲", "甲"), ("I have no answer", "I have no answer"), ("", ""),
    ],
)  # fmt: skip
def test_the_part_that_answers(reply, statement):
    assert open_statement(reply).strip() == statement


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("five", 5), ("twenty-one cats", 21), ("五", 5), ("5 of the 8 people", 5), ("5 out of 8", 5), ("5, not 6", 5),
        ("3.2 m (10.5 ft)", 3.2), ("(3.2)", 3.2), ("16/5", 3.2), ("1 1/2", 1.5), ("1\\frac{1}{2}", 1.5), (".5", 0.5),
        ("10^5", 1e5), ("3.2 \\times 10^{-4}", 3.2e-4), ("5e3", 5000), ("5 000", 5000), ("5,000.5", 5000.5),
        ("3,2", 3.2),
        ("50%", 0.5), ("50%", 50), ("minus 5", -5), ("4+1 = 5", 5), ("5 because 2+9", 5), ("3.2 ± 0.1", 3.2),
        ("3.2m/s^2", 3.2), ("2024年5月", 5), ("3.2 of H2", 3.2), ("**5**", 5), ("$5$", 5),
    ],
)  # fmt: skip
def test_numbers_as_they_are_stated(statement, value):
    assert states_number(statement, value, tolerance=1e-9)
    assert not states_number(statement, value + 1, tolerance=1e-9)


@pytest.mark.parametrize("statement", ["", "no idea", "1/0", "\\frac{1}{0}", "9^999", "none of them"])
def test_no_number_is_stated(statement):
    assert not states_number(statement, 0, tolerance=0.5)


def test_the_answer_itself_is_near_enough_and_the_tolerance_too_far():
    assert states_number("0", 0, tolerance=0)
    assert not states_number("6", 5, tolerance=1)


@pytest.mark.parametrize(
    ("statement", "numbers"),
    [
        ("x1=1, x2=2", [1, 2]), ("100,200", [100, 200]), ("100,200", [100200]), ("1. 5\n2. 6", [5, 6]),
        ("(1) 5 (2) 6", [5, 6]), ("1.5 m (4.9 ft), 2 m (6 ft)", [1.5, 2]), ("one, two and three", [1, 2, 3]), ("", []),
    ],
)  # fmt: skip
def test_lists_of_numbers_can_be_read(statement, numbers):
    assert numbers in number_sequences(statement)


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("True, FALSE", [True, False]), ("not true", [False]), ("It isn't false", [True]), ("untrue", [False]),
        ("Yes, that is true", [True]), ("correct, incorrect", [True, False]), ("对，错", [True, False]),
        ("不对", [False]), ("T F", [True, False]), ("Yes, No", [True, False]), ("是，否", [True, False]), ("maybe", []),
    ],
)  # fmt: skip
def test_truth_values_in_the_first_kind_of_words_found(statement, values):
    assert truth_values(statement) == values


@pytest.mark.parametrize(
    ("statement", "answer", "stated"),
    [
        ("It is PARIS.", "Paris", True), ("not Paris", "Paris", False), ("isn't in Paris", "Paris", False),
        ("Paris, not London", "Paris", True), ("not Paris? Yes, Paris", "Paris", True), ("banana", "A", False),
        ("infrared", "red", False), ("cats", "cat", True), ("catsup", "cat", False), ("北京市", "北京", True),
        ("不是北京", "北京", False), ("anything", "", True), ("", "x", False), ("30°C", "30°", True),
        ("a+b", "+", True),
    ],
)  # fmt: skip
def test_texts_are_whole_words_and_not_negated(statement, answer, stated):
    assert states_text(statement, answer) == stated


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/2", 0.5), ("forty-two", 42), ("九", 9), ("42 cm", None), ("50%", None), ("", None), ("-", None)],
)
def test_a_text_that_is_one_number(text, value):
    assert whole_number_value(text) == value
