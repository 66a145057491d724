import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.mme import COGNITION, PERCEPTION, MmeRow, mme_label, mme_scores, mme_shares


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes", "yes"),
        (" no.\n", "no"),
        ("Y", "yes"),
        ("n.", "no"),
        ("x", "other"),
        ("a yes", "other"),  # "a ye" are the first four characters
        ("a no", "no"),
        ("Not sure", "no"),
        ("I know", "other"),
        ("**Yes**", "other"),
        ("*yes*", "yes"),
        ("maybe", "other"),
        ("", "other"),
        ("...yes", "yes"),
    ],
)
def test_a_label_is_read_from_the_first_four_characters(text, label):
    assert mme_label(text) == label


def test_a_category_scores_its_questions_and_its_pictures():
    rows = [
        MmeRow("color", "a", True),
        MmeRow("color", "a", True),
        MmeRow("color", "b", True),
        MmeRow("color", "b", False),
    ]

    assert mme_scores(rows) == {"perception": 125.0, "cognition": 0, "color": 125.0}


def test_the_same_picture_in_two_categories_is_two_pictures():
    rows = [MmeRow(category, "a", correct) for category in ("color", "count") for correct in (True, True)]

    assert mme_scores([*rows[:3], MmeRow("count", "a", False)]) == {
        "perception": 250.0,
        "cognition": 0,
        "color": 200.0,
        "count": 50.0,
    }


def test_a_perfect_run_has_2000_and_800_points():
    rows = [MmeRow(category, "a", True) for category in PERCEPTION + COGNITION for _ in range(2)]

    scores = mme_scores(rows)

    assert (scores["perception"], scores["cognition"]) == (2000, 800)


def test_a_picture_with_one_question_earns_no_point_as_a_picture():
    assert mme_scores([MmeRow("OCR", "a", True)])["OCR"] == 100


def test_an_unknown_category_stands_for_itself():
    assert mme_scores([MmeRow("new", "a", True)]) == {"perception": 0, "cognition": 0, "new": 100}


def test_acc_and_acc_plus_are_over_the_questions_and_pictures_of_all_categories():
    rows = [MmeRow("color", "a", True)] * 2 + [MmeRow("count", "a", True), MmeRow("count", "a", False)]
    shares = mme_shares([*rows, MmeRow("OCR", "b", True)])  # the last has one question only
    assert shares == (80.0, pytest.approx(100 / 3))
    assert mme_shares([]) is None


def test_no_rows_score_nothing():
    assert mme_scores([]) == {"perception": 0, "cognition": 0}


@given(st.text())
def test_any_text_has_a_label(text):
    assert mme_label(text) in ("yes", "no", "other")


@given(st.lists(st.tuples(st.sampled_from(PERCEPTION[:3] + COGNITION[:1]), st.sampled_from("ab"), st.booleans())))
def test_scores_stay_within_their_bounds_and_do_not_depend_on_order(rows):
    scores = mme_scores(MmeRow(*row) for row in rows)

    assert scores == pytest.approx(mme_scores(MmeRow(*row) for row in reversed(rows)))
    assert all(0 <= score <= 200 for name, score in scores.items() if name not in ("perception", "cognition"))
