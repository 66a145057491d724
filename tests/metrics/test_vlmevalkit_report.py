import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.vlmevalkit_report import circular_evaluation, report_acc, yes_no_rating

CELLS = st.sampled_from(["ocr", "logic_reasoning", "custom", None, 3])
ROWS = st.lists(
    st.fixed_dictionaries(
        {"hit": st.sampled_from([0, 0.5, 1])}, optional={"split": CELLS, "category": CELLS, "l2-category": CELLS}
    ),
    max_size=6,
)


def rolled(index, answer, prediction):
    return {"index": index, "answer": answer, "prediction": prediction, "A": "Dog", "B": "Cat", "C": None}


def test_the_report_has_one_record_per_split_and_none_where_a_group_is_empty():
    rows = [
        {"hit": 1, "split": "val", "category": "logic_reasoning", "l2-category": "x"},
        {"hit": 0, "split": "val", "category": "ocr", "l2-category": "x"},
        {"hit": 1, "split": "dev", "category": "ocr", "l2-category": "y"},
    ]
    assert report_acc(rows) == [
        {"split": "dev", "Overall": 1.0, "x": None, "y": 1.0, "LR": None, "ocr": 1.0},
        {"split": "val", "Overall": 0.5, "x": 0.5, "y": None, "LR": 1.0, "ocr": 0.0},
    ]


def test_a_category_replaces_its_namesake_among_the_l2_categories():
    rows = [{"hit": 1, "category": "x", "l2-category": "z"}, {"hit": 0, "category": "z", "l2-category": "x"}]
    assert report_acc(rows) == [{"split": "none", "Overall": 0.5, "x": 1.0, "z": 0.0}]


@pytest.mark.parametrize("empty", [None, math.nan])
def test_rows_without_a_category_or_split_count_in_the_overall_share_only(empty):
    rows = [{"hit": 1, "split": empty, "category": empty}, {"hit": 0, "category": "ocr"}]
    assert report_acc(rows) == [{"split": "none", "Overall": 0.5, "ocr": 0.0}]


def test_no_rows_make_a_report_without_a_share():
    assert report_acc([]) == [{"split": "none", "Overall": None}]


@given(ROWS)
def test_the_report_does_not_depend_on_the_order_of_rows(rows):
    forwards, backwards = report_acc(rows), report_acc(rows[::-1])
    assert forwards == backwards
    shares = [value for record in forwards for name, value in record.items() if name != "split"]
    assert all(share is None or 0 <= share <= 1 for share in shares)


def test_the_yes_no_rating_is_in_percent_and_unknown_is_wrong():
    rows = [
        {"answer": "Yes", "prediction": "Yes.", "category": "a", "l2-category": "x"},
        {"answer": "No", "prediction": "perhaps", "category": "a", "l2-category": "y"},
        {"answer": "No", "prediction": "No", "category": "b", "l2-category": None},
        {"answer": "No", "prediction": "no way", "category": "b"},
    ]
    assert yes_no_rating(rows) == {"Overall": 75.0, "a": 50.0, "b": 100.0, "x": 100.0, "y": 0.0}


def test_the_yes_no_rating_of_no_rows_has_no_share():
    assert yes_no_rating([]) == {"Overall": None}


def test_a_question_is_right_only_if_every_copy_is():
    rows = [
        rolled(1_000_001, "B", "B"),
        rolled(1, "A", "dog"),
        rolled(2, "A", "A"),
        rolled(1_000_002, "B", "perhaps"),
        rolled(3, "A", "Cannot determine the answer"),
    ]

    result = circular_evaluation(rows)

    assert result.group_hits == {1: 1, 2: 0, 3: 0}
    assert result.row_hits == {1: 1, 1_000_001: 1, 2: 1, 1_000_002: 0, 3: 0}
    assert result.group_report == [{"split": "none", "Overall": 1 / 3}]
    assert result.first_report == [{"split": "none", "Overall": 2 / 3}]
    assert result.row_report == [{"split": "none", "Overall": 3 / 5}]


def test_an_empty_option_is_no_option():
    assert circular_evaluation([rolled(1, "C", "C")]).row_hits == {1: 0}


def test_a_reply_that_cannot_be_read_is_wrong_even_without_a_right_answer():
    assert circular_evaluation([rolled(1, None, "perhaps")]).group_hits == {1: 0}


def test_copies_of_a_question_that_is_not_there_make_no_group():
    result = circular_evaluation([rolled(1_000_007, "A", "A")])
    assert result.group_hits == {}
    assert result.group_report == [{"split": "none", "Overall": None}]
    assert result.row_report == [{"split": "none", "Overall": 1.0}]


def test_circular_evaluation_of_nothing():
    assert circular_evaluation([]).group_hits == {}
