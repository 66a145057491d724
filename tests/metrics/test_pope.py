import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.pope import exact_label, pope_by_category, pope_label, pope_scores, yes_ratio


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("No, there is none.", "no"),
        ("There is no dog", "no"),
        ("I do not see it.", "no"),
        ("no,yes", "yes"),  # the comma goes, and "noyes" is no word of denial
        ("Yes. No dog is there.", "yes"),
        (". no", "yes"),
        ("NO", "yes"),
        ("**No**", "yes"),
        ("Not really", "yes"),
        ("Yes\nno", "yes"),
        ("", "yes"),
    ],
)
def test_the_official_label_is_no_for_three_words_of_the_first_sentence_only(text, label):
    assert pope_label(text) == label


@pytest.mark.parametrize(("text", "label"), [(" YES\n", "yes"), ("no", "no"), ("no.", None), ("", None)])
def test_the_exact_label_is_a_reply_of_one_word(text, label):
    assert exact_label(text) == label


def test_scores_are_those_of_a_search_for_yes():
    golds = ["yes", "yes", "yes", "no", "no"]
    labels = ["yes", "yes", "no", "yes", "no"]

    scores = pope_scores(golds, labels)

    assert scores.accuracy == 0.6
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx(2 / 3)
    assert scores.yes_ratio == 0.6


def test_an_unread_reply_is_wrong_and_a_miss_unless_told_otherwise():
    golds, labels = ["yes", "yes", "no"], ["yes", None, None]

    assert pope_scores(golds, labels).accuracy == pytest.approx(1 / 3)
    assert pope_scores(golds, labels).recall == 0.5
    assert pope_scores(golds, labels, unread_is_miss=False).recall == 1.0
    assert pope_scores(golds, labels).precision == 1.0


@pytest.mark.parametrize(
    ("golds", "labels"),
    [(["yes", "no"], ["no", "no"]), (["no", "no"], ["yes", "yes"]), (["no"], ["no"]), (["yes"], [None])],
)
def test_nothing_divides_by_zero(golds, labels):
    scores = pope_scores(golds, labels)

    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)


def test_no_questions_have_no_accuracy_and_no_ratio():
    scores = pope_scores([], [])

    assert scores.accuracy is scores.yes_ratio is yes_ratio([]) is None
    assert scores.f1 == 0
    assert pope_by_category([], [], []) == [
        {"split": "Overall", "Overall": 0, "acc": None, "precision": 0, "recall": 0}
    ]


def test_golds_and_labels_must_be_as_many():
    with pytest.raises(ValueError, match="zip"):
        pope_scores(["yes"], [])


def test_a_question_of_two_categories_counts_once_in_each_and_twice_overall():
    table = pope_by_category(["yes", "no"], ["yes", "yes"], ["random,popular", "popular"])

    assert [line["split"] for line in table] == ["Overall", "popular", "random"]
    assert [line["acc"] for line in table] == [pytest.approx(200 / 3), 50, 100]
    assert [line["precision"] for line in table] == [pytest.approx(200 / 3), 50, 100]
    assert [line["Overall"] for line in table] == [pytest.approx(80), pytest.approx(200 / 3), 100]


@given(st.text())
def test_any_text_has_an_official_label(text):
    assert pope_label(text) in ("yes", "no")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["yes", "no"]),
            st.sampled_from(["yes", "no", None]),
            st.sampled_from(["random", "popular,random", "adversarial", ""]),
        ),
        min_size=1,
    )
)
def test_scores_are_fractions_and_do_not_depend_on_order(rows):
    golds, labels, categories = (list(column) for column in zip(*rows, strict=True))
    scores = pope_scores(golds, labels)

    assert all(0 <= value <= 1 for value in (scores.accuracy, scores.precision, scores.recall, scores.f1))
    assert pope_scores(golds[::-1], labels[::-1]) == scores
    assert pope_by_category(golds[::-1], labels[::-1], categories[::-1]) == pope_by_category(golds, labels, categories)
