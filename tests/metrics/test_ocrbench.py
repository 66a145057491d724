import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.ocrbench import FORMULA_CATEGORY, ocrbench_hit, ocrbench_report, ocrbench_type_counts


@pytest.mark.parametrize(
    ("prediction", "answers", "hit"),
    [
        ('The word is "Centre".', ["CENTRE"], True),
        ("C E N T R E", ["CENTRE"], False),
        ("coca\ncola", ["COCA COLA"], True),
        ("coca  cola", ["coca cola"], False),
        ("nothing", ["x", "thing"], True),
        ("NOKIA", "nokia", True),
        ("10:30", ["10：30"], False),
        ("", ["x"], False),
        ("anything", [""], True),
        ("anything", [], False),
    ],
)
def test_an_answer_anywhere_in_the_reply_is_a_hit(prediction, answers, hit):
    assert ocrbench_hit(prediction, answers) is hit


@pytest.mark.parametrize(
    ("prediction", "answers", "hit"),
    [
        (r"$$\frac{1}{2}$$", [r"\frac { 1 } { 2 }"], True),
        ("AB =\nCD", ["A B = C D\n"], True),
        ("ab=cd", ["A B = C D"], False),
        ("1\t2+3", ["1 2 + 3"], False),
        ("Y=2x", "y = 2 x", False),
    ],
)
def test_in_formulas_case_counts_and_spaces_do_not(prediction, answers, hit):
    assert ocrbench_hit(prediction, answers, formula=True) is hit


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [
        ("london", "on"),
        ("coca-cola", "coca"),
        ("coca-cola", "cola"),
        ("snake_case", "snake"),
        ("unknown", "no"),
        ("15", "5"),
        ("13.5", "3.5"),
        ("3.5", "5"),
        ("1,234", "234"),
        ("10:30", "30"),
        ("It is not 5", "5"),
        ("It isn't **5**", "5"),
        ("这不是5", "5"),
        ("<think>paris?</think>london", "paris"),
        ("anything", ""),
    ],
)
def test_the_careful_rule_wants_whole_words_that_are_not_denied(prediction, answer):
    assert ocrbench_hit(prediction, [answer])
    assert not ocrbench_hit(prediction, [answer], rule="careful")


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [
        ("Yes, it is.", "yes"),
        ("The total is $1,234.00.", "$1,234.00"),
        ("about 50% of people", "50%"),
        ("Phone:555-1234", "555-1234"),
        ("北京路123号", "北京路"),
        ("北京路123号", "123"),
        ("_Paris_ and **London**", "paris"),
        ("Samsung's phone", "samsung"),
        ("It is not 5", "not 5"),
        ("15, or rather 5", "5"),
        ("not 5 but 5.", "5"),
        ("the answers are 3, 5", "3"),
    ],
)
def test_the_careful_rule_finds_what_stands_there_as_a_whole(prediction, answer):
    assert ocrbench_hit(prediction, [answer], rule="careful")


def test_the_careful_rule_for_formulas_leaves_thinking_and_empty_answers_out():
    assert ocrbench_hit("<think>x</think>x^2", ["x ^ 2"], formula=True, rule="careful")
    assert not ocrbench_hit("<think>y</think>x", ["y", ""], formula=True, rule="careful")


HITS = [
    ("Regular Text Recognition", True),
    ("Digit String Recognition", True),
    ("Digit String Recognition", False),
    ("Doc-oriented VQA", True),
    (FORMULA_CATEGORY, False),
    ("Something new", True),
]


def test_the_report_sums_the_six_kinds_of_recognition():
    assert ocrbench_report(HITS) == {
        "Text Recognition": 2,
        "Scene Text-centric VQA": 0,
        "Doc-oriented VQA": 1,
        "Key Information Extraction": 0,
        FORMULA_CATEGORY: 0,
        "Final Score": 4,
        "Final Score Norm": 0.4,
    }


def test_the_counts_by_type_hold_hits_and_questions():
    assert ocrbench_type_counts(HITS[:5]) == {
        "final_score": [3, 5],
        "accuracy": 60.0,
        "Regular Text Recognition": [1, 1],
        "Digit String Recognition": [1, 2],
        "Doc-oriented VQA": [1, 1],
        FORMULA_CATEGORY: [0, 1],
    }
    assert ocrbench_type_counts([("x", True), ("x", True), ("x", False)])["accuracy"] == 66.667


def test_no_questions_give_zeros_and_no_accuracy():
    assert set(ocrbench_report([]).values()) == {0}
    assert ocrbench_type_counts([]) == {"final_score": [0, 0], "accuracy": None}


def test_the_order_of_questions_does_not_matter():
    assert ocrbench_report(HITS) == ocrbench_report(HITS[::-1])
    assert ocrbench_type_counts(HITS) == ocrbench_type_counts(HITS[::-1])


@given(st.text(), st.lists(st.text(max_size=4), max_size=3), st.booleans())
def test_a_careful_hit_is_a_hit_for_any_texts(prediction, answers, formula):
    careful = ocrbench_hit(prediction, answers, formula=formula, rule="careful")

    if careful and "think" not in prediction:
        assert ocrbench_hit(prediction, answers, formula=formula)


@given(st.text(alphabet="ab1 .-", max_size=30), st.text(alphabet="ab1 .-", min_size=1, max_size=3))
def test_a_careful_hit_has_no_letter_or_digit_at_its_sides(prediction, answer):
    text, wanted = prediction.strip(), answer.strip()
    if wanted and not ocrbench_hit(prediction, [answer], rule="careful"):
        assert f" {wanted} " not in f" {text} "
