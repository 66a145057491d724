"""The scoring functions that task folders import under FlagEvalMM's names."""

from __future__ import annotations

import numpy as np
import pytest

import flagmm.evaluator.common_types as common_types
from flagmm.evaluator import point_utils, pre_process


@pytest.mark.parametrize(
    ("reply", "right", "letter", "correct"),
    [
        pytest.param("The answer is (B).", "b", "B", True, id="label in lower case"),
        pytest.param("B: Cat", "B", "B", True, id="first letter of several"),
        pytest.param("A cat.", "B", "A", False, id="article, as the reference has it"),
        pytest.param("cat", "A", "", False, id="no letter"),
        pytest.param("cat", "", "", False, id="no letter is wrong even where nothing is right"),
        pytest.param(None, "A", "", False, id="no reply"),
        pytest.param("B", ["A", "b"], "B", True, id="several right answers"),
        pytest.param("3", 3, "3", True, id="number as label"),
    ],
)
def test_a_choice_is_compared_by_its_first_letter_and_written_into_the_prediction(reply, right, letter, correct):
    prediction = {"question_id": "1", "answer": reply}
    assert common_types.evaluate_multiple_choice({"answer": right}, prediction) is correct
    assert prediction == {"question_id": "1", "answer": letter, "raw_answer": reply}


@pytest.mark.parametrize(
    ("reply", "right", "letters", "correct"),
    [
        pytest.param("C and A", "ac", "AC", True, id="sorted"),
        pytest.param("A", "AC", "A", False, id="one missing"),
        pytest.param("A, A, C", ["C", "A"], "AC", True, id="list"),
        pytest.param("A, Z", "A", "A", True, id="letters after I are no options"),
        pytest.param(None, "A", "", False, id="no reply"),
    ],
)
def test_responses_are_compared_as_sets_of_letters(reply, right, letters, correct):
    prediction = {"answer": reply}
    assert common_types.evaluate_multiple_response({"answer": right}, prediction) == (correct, letters)
    assert prediction["answer"] == letters


@pytest.mark.parametrize(
    ("answer", "label", "correct"),
    [
        pytest.param("5", 5, True, id="equal"),
        pytest.param("3.7", 5, True, id="accuracy of 0.5"),
        pytest.param("3.4", 5, False, id="accuracy of 0.4"),
        pytest.param("many", 5, False, id="no number"),
        pytest.param(5, None, False, id="no label"),
    ],
)
def test_numbers_are_right_from_a_mean_relative_accuracy_of_one_half(answer, label, correct):
    assert common_types.is_numerical_answer_correct(answer, label) is correct


def test_the_threshold_for_numbers_can_be_moved():
    assert not common_types.is_numerical_answer_correct("3.7", 5, acceptance_threshold=0.6)


@pytest.mark.parametrize(
    ("answer", "label", "correct"),
    [
        ("Yes, it is", " YES ", True),
        ("No", "yes", False),
        ("no", "No", True),
        ("maybe", "maybe", False),
        ("", "no", False),
    ],
)
def test_yes_and_no_are_read_at_the_start(answer, label, correct):
    assert common_types.is_yes_no_answer_correct(answer, label) is correct


@pytest.mark.parametrize(
    ("points", "correct"), [([(0, 0), (1, 0)], True), ([(0, 0), (1, 0), (1, 1)], False), ([], False)]
)
def test_points_are_right_when_half_of_them_are_on_the_mask(points, correct):
    mask = np.array([[255, 0], [0, 0]], dtype=np.uint8)
    assert common_types.is_point_answer_correct(points, mask) is correct


@pytest.mark.parametrize("module", [common_types, pre_process, point_utils])
def test_every_promised_name_is_there(module):
    assert all(callable(getattr(module, name)) for name in module.__all__)


def test_quantities_go_through_the_old_names():
    assert common_types.normalize_answer("There are 5 chairs.") == 5
    assert common_types.fuzzy_matching("3.2 m") == "3.2"
    assert common_types.abs_dist_norm(4, 5) == pytest.approx(0.2)
    assert common_types.maybe_clean_answer("b") == "B"
