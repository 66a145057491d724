import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.anls import anls
from flagmm.metrics.edit_distance import edit_distance


def plain_edit_distance(first, second):
    """The table of the textbook, row by row."""
    row = list(range(len(second) + 1))
    for count, letter in enumerate(first, start=1):
        above, row = row, [count]
        for place, other in enumerate(second):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (letter != other)))
    return row[-1]


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("kitten", "sitting", 3), ("北京市", "北京", 1)],
)
def test_the_edit_distance_counts_single_changes(first, second, distance):
    assert edit_distance(first, second) == distance


@given(st.text(alphabet="abc", max_size=12), st.text(alphabet="abc", max_size=12))
def test_the_edit_distance_is_that_of_the_textbook(first, second):
    assert edit_distance(first, second) == plain_edit_distance(first, second) == edit_distance(second, first)


def test_the_edit_distance_of_long_texts_is_that_of_the_textbook():
    first, second = "ab" * 60 + "c" * 30, "ba" * 50 + "c" * 40

    assert edit_distance(first, second) == plain_edit_distance(first, second)


@pytest.mark.parametrize(
    ("prediction", "answers", "score"),
    [
        ("Paris", ["paris"], 1.0),
        ("  new \n  york ", ["New York"], 1.0),
        ("Pariss", ["Paris"], 5 / 6),
        ("10", ["1"], 0.5),  # exactly at the threshold
        ("abc", ["a"], 0.0),
        ("ITC", ["itc limited", "ITC"], 1.0),
        ("itc", "itc limited", 0.0),
        ("", ["x"], 0.0),
        ("", ["  "], 1.0),
        ("anything", [], 0.0),
        ("", [], 0.0),
    ],
)
def test_the_nearest_answer_decides_and_far_ones_score_nothing(prediction, answers, score):
    assert anls(prediction, answers) == pytest.approx(score)


def test_the_threshold_can_be_chosen():
    assert anls("Pariss", ["Paris"], threshold=0.9) == 0.0
    assert anls("Pariss", ["London", "P"], threshold=0.1) == pytest.approx(1 / 6)
    assert anls("xyz", ["abc"], threshold=0) == 0.0


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_texts_score_0_or_from_one_half_to_1_in_any_order(prediction, answers):
    score = anls(prediction, answers)

    assert score == 0 or 0.5 <= score <= 1
    assert anls(prediction, answers[::-1]) == score


@given(st.text(max_size=20), st.lists(st.text(max_size=20), min_size=1, max_size=3))
def test_an_accepted_answer_scores_1(prediction, answers):
    assert anls(prediction, [*answers, prediction]) == 1.0
