"""MMMU's rules, held to what the official scorer and FlagEvalMM themselves answered, their faults included."""

import math

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.mmmu import (
    DOMAINS,
    flagevalmm_mmmu,
    is_choice_correct,
    is_open_correct,
    mmmu_aggregate,
    open_correct,
    parse_choice,
    parse_open,
)

OPTIONS = {"A": "a red dog", "B": "a cat", "C": "cats"}
RESPONSES = st.lists(
    st.sampled_from(
        ["is ", "so ", "answer ", "=", "\n", ".", ",", "12", "1,234", "-.5", "e3", "nan", "A", "(B)", " a "]
    ),
    max_size=9,
).map("".join) | st.text(max_size=30)


@pytest.mark.parametrize("vector", vectors("mmmu_parse_multi_choice"))
def test_choices_are_parsed_as_mmmu_does_and_none_is_drawn(vector):
    line = vector["input"]
    parsed = parse_choice(line["response"], line["index2ans"], line["all_choices"])
    assert {"parsed": parsed, "random_fallback": parsed is None} == vector["expected"]


@pytest.mark.parametrize("vector", vectors("mmmu_open"))
def test_open_responses_are_parsed_and_compared_as_mmmu_does(vector):
    parsed = parse_open(vector["input"]["response"])
    assert {"parsed": parsed, "correct": is_open_correct(vector["input"]["gold"], parsed)} == vector["expected"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_mmmu"))
def test_flagevalmm_scores_mmmu_so(vector):
    assert flagevalmm_mmmu(**vector["input"]) == vector["expected"]


@pytest.mark.parametrize(
    ("response", "label"),
    [
        pytest.param("A B (C)", "C", id="brackets before spaces"),
        pytest.param("(C) or (A)", "A", id="the last of several"),
        pytest.param("(A) is not (C), it is (A)", "A", id="by the last place of each"),
        pytest.param("B;.", "B", id="marks stripped in their order"),
        pytest.param("B.;", None, id="a mark bared too late"),
        pytest.param("one two three four a CAT", "B", id="text of six words"),
        pytest.param("one two three a cat", None, id="text of five words"),
        pytest.param("first a cat and then a red dog", "A", id="the last text"),
        pytest.param("there were so very many cats", "C", id="a text in a longer one counts for both"),
        pytest.param("b", None, id="lower case"),
        pytest.param("", None, id="empty"),
    ],
)
def test_choices_rule_by_rule(response, label):
    assert parse_choice(response, OPTIONS) == label


def test_of_equal_places_the_first_label_wins():
    assert parse_choice("one two three four five same", {"A": "same", "B": "Same"}) == "A"


def test_a_choice_is_right_if_it_is_one_of_the_right_ones():
    assert is_choice_correct("A", "A")
    assert is_choice_correct(["A", "B"], "B")
    assert not is_choice_correct("AB", "A")
    assert not is_choice_correct("A", None)


@pytest.mark.parametrize(
    ("response", "answers"),
    [
        pytest.param("x is 5\ny is 6", [5.0, 6.0], id="the key part of every line"),
        pytest.param("y = 6\nx = 5", [5.0], id="the sign of equality counts in the last line"),
        pytest.param("x =", ["x ="], id="no part is left"),
        pytest.param("the answer is :", ["the answer is :"], id="a mark is no part"),
        pytest.param("1,234", [234.0, 1234.0], id="grouped, and its end"),
        pytest.param("1,234.5", [234.5, 1234.0, 1234.5], id="grouped with decimals, read thrice"),
        pytest.param("1.50e2 m", [1.0, 2.0, 150.0, "1.50e2 m"], id="parts of a power count"),
        pytest.param("12.55, m", [12.0, "12.55, m"], id="a decimal before a comma"),
        pytest.param("a5 5b", [5.0, "a5 5b"], id="digits need an end, no start"),
        pytest.param(".5.", [5.0], id="a leading point is lost"),
        pytest.param("B", [" b", "b "], id="one letter"),
        pytest.param("", [""], id="empty"),
    ],
)
def test_open_responses_rule_by_rule(response, answers):
    assert parse_open(response) == answers


def test_not_a_number_comes_last_among_numbers():
    answers = parse_open("it is nan\nit is 5 m")
    assert answers[0] == 5.0
    assert math.isnan(answers[1])
    assert answers[2] == "5 m"


@pytest.mark.parametrize(
    ("gold", "parsed", "right"),
    [
        ("cat", ["a cat"], True),
        ("a cat", ["cat"], False),
        ("5", ["15"], False),
        ("5.004", [5.0], True),
        (["x", "5"], [5.0], True),
        (5, [5.0], True),
        ("cat", [], False),
        ([], ["cat"], False),
        ("", [""], True),
        ("", [5.0], False),
    ],
)
def test_a_right_answer_is_contained_as_text_or_equal_as_number(gold, parsed, right):
    assert is_open_correct(gold, parsed) is right


@given(RESPONSES)
def test_parsing_never_raises_and_numbers_come_first(response):
    kinds = [isinstance(answer, str) for answer in parse_open(response)]
    assert kinds == sorted(kinds)
    assert parse_choice(response, OPTIONS) in (*OPTIONS, None)
    assert open_correct(response, response, rule="reference") in (True, False)


def test_the_thirty_subjects_belong_to_six_domains():
    assert len(DOMAINS) == 6
    assert len({subject for subjects in DOMAINS.values() for subject in subjects}) == 30


def test_shares_are_pooled_over_items_and_rounded():
    answers = {
        f"validation_Art_{number}": {"question_type": "multiple-choice", "ground_truth": "A"} for number in range(3)
    } | {"validation_Art_Theory_1": {"question_type": "open", "ground_truth": "5"}}
    outputs = {"validation_Art_Theory_1": "it is 5"} | {
        f"validation_Art_{number}": label for number, label in enumerate("ABC")
    }

    report = mmmu_aggregate(answers, outputs)

    assert report["Art"] == {"num": 3, "acc": 0.333}
    assert report["Art_Theory"] == {"num": 1, "acc": 1.0}
    assert report["Overall-Art and Design"] == report["Overall"] == {"num": 4, "acc": 0.5}
    assert report["Overall-Science"] == {"num": 0, "acc": 0.0}
    assert "Music" not in report


def test_items_without_a_subject_or_an_answer_are_left_out():
    answers = {"validation_Cooking_1": {"question_type": "open", "ground_truth": "5"}}
    report = mmmu_aggregate(answers, {"validation_Cooking_1": "5", "validation_Art_1": "A"})
    assert report["Overall"] == {"num": 0, "acc": 0.0}


def test_an_aggregate_of_nothing_has_all_domains_with_nothing():
    assert set(mmmu_aggregate({}, {})) == {"Overall", *(f"Overall-{domain}" for domain in DOMAINS)}


def test_the_careful_rule_can_be_asked_for_an_aggregate():
    answers = {"validation_Art_1": {"question_type": "open", "ground_truth": "no"}}
    outputs = {"validation_Art_1": "unknown"}
    assert mmmu_aggregate(answers, outputs)["Art"]["acc"] == 1.0
    assert mmmu_aggregate(answers, outputs, rule="careful")["Art"]["acc"] == 0.0


def test_flagevalmm_of_no_predictions_is_zero():
    assert flagevalmm_mmmu({}, []) == {"accuracy": 0.0, "subject_score": {}}


def test_flagevalmm_takes_the_first_letter_and_reports_difficulty_where_there_is_one():
    annotations = {
        "1": {"answer": "b", "question_type": "multiple-choice", "subject": "Art", "topic_difficulty": "Easy"},
        "2": {"answer": "5", "question_type": "open", "subject": "Art"},
    }
    predictions = [{"question_id": 1, "answer": "B: A cat"}, {"question_id": "2", "answer": "6"}]
    assert flagevalmm_mmmu(annotations, predictions) == {
        "accuracy": 50.0,
        "subject_score": {"Art": 50.0},
        "difficulty_score": {"Easy": 100.0},
    }
