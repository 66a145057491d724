"""One answer read and compared, by question type. What can be read out of a reply is tested with the extraction."""

from __future__ import annotations

import pytest

from flagmm.evaluator.rules import KNOWN_TYPES, TypeRules, has_reference, score_reply
from flagmm.evaluator.verdict import NO_REFERENCE, UNKNOWN_TYPE

COLOURS = ["red", "green", "blue"]


def verdict(question_type, reply, answer, **fields):
    return score_reply(reply, {"question_type": question_type, "answer": answer, **fields})


@pytest.mark.parametrize(
    ("answer", "reply", "extracted", "correct"),
    [
        pytest.param("B", "B", "B", 1.0, id="letter"),
        pytest.param("B", "The answer is (B).", "B", 1.0, id="sentence"),
        pytest.param("B", "A", "A", 0.0, id="wrong"),
        pytest.param("b", "B", "B", 1.0, id="lower case"),
        pytest.param("(B)", "B", "B", 1.0, id="brackets"),
        pytest.param(" B. ", "B", "B", 1.0, id="blanks and point"),
        pytest.param("green", "B", "B", 1.0, id="the option's text"),
        pytest.param(["A", "B"], "B", "B", 1.0, id="several accepted"),
        pytest.param({"x": "A", "y": "B"}, "B", "B", 1.0, id="several accepted, as a dict"),
        pytest.param("B", "I cannot tell.", None, 0.0, id="nothing read"),
    ],
)
def test_a_choice_is_right_when_its_label_is(answer, reply, extracted, correct):
    found = verdict("multiple-choice", reply, answer, options=COLOURS)
    assert (found.extracted, found.correct) == (extracted, correct)


def test_a_choice_without_listed_options_is_read_by_its_letter():
    assert verdict("multiple-choice", "B", "B").correct == 1.0
    assert verdict("multiple-choice", "C", "B").correct == 0.0


@pytest.mark.parametrize(
    ("answer", "reply", "extracted", "correct"),
    [
        pytest.param("AC", "AC", ["A", "C"], 1.0, id="together"),
        pytest.param("AC", "C, A", ["A", "C"], 1.0, id="any order"),
        pytest.param("A, C", "AC", ["A", "C"], 1.0, id="reference with commas"),
        pytest.param(["C", "A"], "AC", ["A", "C"], 1.0, id="reference as a list"),
        pytest.param(["red", "blue"], "AC", ["A", "C"], 1.0, id="reference by texts"),
        pytest.param("AC", "A", ["A"], 0.0, id="one missing"),
        pytest.param("AC", "ABC", ["A", "B", "C"], 0.0, id="one too many"),
        pytest.param("B", "B", ["B"], 1.0, id="one"),
        pytest.param("blue", "C", ["C"], 1.0, id="one by its text"),
        pytest.param("AC", "I cannot tell.", None, 0.0, id="nothing read"),
    ],
)
def test_several_choices_are_right_when_all_are(answer, reply, extracted, correct):
    found = verdict("multiple-response", reply, answer, options=COLOURS)
    assert (found.extracted, found.correct) == (extracted, correct)


@pytest.mark.parametrize("answer", ["yes", "Yes", "YES.", True, "true", "对", "是"])
def test_a_yes_is_known_in_all_its_spellings(answer):
    assert verdict("yes-no", "Yes, it is.", answer).correct == 1.0
    assert verdict("yes-no", "No.", answer).correct == 0.0
    assert verdict("yes-no", "Yes, it is.", answer).extracted == "yes"


@pytest.mark.parametrize("answer", ["no", "No", False, "False", "错", "否"])
def test_so_is_a_no(answer):
    assert verdict("yes-no", "no", answer).correct == 1.0
    assert verdict("yes-no", "yes", answer).correct == 0.0


def test_a_reply_that_says_neither_is_wrong_and_unread():
    found = verdict("yes-no", "The picture shows a dog.", "yes")
    assert (found.correct, found.extracted) == (0.0, None)


@pytest.mark.parametrize(
    ("answer", "reply", "correct"),
    [
        pytest.param("cat", "Cat", 1.0, id="case"),
        pytest.param("cat", "  cat. ", 1.0, id="blanks and point"),
        pytest.param("cat", "cats", 0.0, id="another word"),
        pytest.param("42", "420", 0.0, id="another number"),
        pytest.param("42", "42.0", 1.0, id="number by value"),
        pytest.param(42, "42", 1.0, id="reference as a number"),
        pytest.param(["cat", "kitten"], "kitten", 1.0, id="any of several"),
        pytest.param({"a": "cat", "b": "kitten"}, "kitten", 1.0, id="any of a dict"),
        pytest.param("猫", "猫。", 1.0, id="Chinese"),
    ],
)
def test_a_short_answer_is_right_when_it_equals_a_reference(answer, reply, correct):
    assert verdict("short-answer", reply, answer).correct == correct


@pytest.mark.parametrize("question_type", ["fill-in-the-blank", "fill-blank", "cloze"])
@pytest.mark.parametrize(
    ("answer", "reply", "correct"),
    [
        pytest.param("cat", "cat", 1.0, id="one blank"),
        pytest.param("cat; dog", "cat;dog", 1.0, id="two blanks"),
        pytest.param("cat; dog", "dog; cat", 0.0, id="in order"),
        pytest.param("cat; dog", "cat", 0.0, id="one missing"),
        pytest.param([["cat", "dog"]], "cat; dog", 1.0, id="list of blanks within the list of accepted answers"),
        pytest.param(["cat", "kitten"], "kitten", 1.0, id="any of several"),
        pytest.param(7, "7", 1.0, id="number"),
    ],
)
def test_blanks_are_right_when_each_is(question_type, answer, reply, correct):
    assert verdict(question_type, reply, answer).correct == correct


@pytest.mark.parametrize("question_type", KNOWN_TYPES)
@pytest.mark.parametrize("answer", [None, "", [], {}])
def test_a_question_without_a_reference_is_not_scored(question_type, answer):
    annotation = {"question_type": question_type, "answer": answer}
    found = score_reply("A", annotation)
    assert (found.correct, found.extracted, found.rule) == (None, None, NO_REFERENCE)
    assert not TypeRules().can_score(annotation)


@pytest.mark.parametrize("answer", ["maybe", "A", 7])
def test_a_reference_that_says_neither_yes_nor_no_is_none(answer):
    # Counting such a question as wrong would blame the model for the data.
    annotation = {"question_type": "yes-no", "answer": answer}
    assert score_reply("yes", annotation).correct is None
    assert not TypeRules().can_score(annotation)


@pytest.mark.parametrize(
    ("question_type", "answer", "options"),
    [
        pytest.param("multiple-choice", "E", COLOURS, id="label of no option"),
        pytest.param("multiple-choice", "yellow", COLOURS, id="text of no option"),
        pytest.param("multiple-choice", 1, COLOURS, id="number"),
        pytest.param("multiple-choice", ["D", "E"], COLOURS, id="several, none of them an option"),
        pytest.param("multiple-choice", "the red one", [], id="text where no options are known"),
        pytest.param("multiple-response", "AE", COLOURS, id="one of two is no option"),
        pytest.param("multiple-response", ["red", "yellow"], COLOURS, id="one of two texts is no option"),
        pytest.param("multiple-response", "?", COLOURS, id="no letter"),
        pytest.param("multiple-response", 5, COLOURS, id="several as a number"),
    ],
)
def test_a_reference_that_is_no_option_is_none(question_type, answer, options):
    # Counting such a question as wrong would blame the model for the data.
    annotation = {"question_type": question_type, "answer": answer, "options": options}
    assert score_reply("A", annotation).rule == NO_REFERENCE
    assert not TypeRules().can_score(annotation)
    assert TypeRules().is_unfit(annotation)


def test_the_labels_in_a_question_s_text_are_the_options():
    annotation = {"question_type": "multiple-choice", "question": "Which? A: red, B: blue", "answer": "B"}
    assert TypeRules().can_score(annotation)
    assert TypeRules().is_unfit({**annotation, "answer": "C"})


@pytest.mark.parametrize("annotation", [{"answer": ""}, {"answer": "x", "question_type": "bbox"}])
def test_a_reference_that_is_missing_or_of_another_type_is_no_fault_of_the_data(annotation):
    assert not TypeRules().is_unfit({"question_type": "multiple-choice", **annotation})


@pytest.mark.parametrize(("answer", "options"), [("red ", ["red ", "blue"]), ("red", [" red", "blue"])])
def test_blanks_around_an_option_do_not_matter(answer, options):
    assert verdict("multiple-choice", "A", answer, options=options).correct == 1.0


@pytest.mark.parametrize("question_type", ["bbox", "open", "llm-judge", "", None])
def test_a_type_without_a_rule_is_not_scored(question_type):
    annotation = {"question_type": question_type, "answer": "A"}
    assert score_reply("A", annotation).rule == UNKNOWN_TYPE
    assert not TypeRules().can_score(annotation)
    assert score_reply("A", {"answer": "A"}).rule == UNKNOWN_TYPE


@pytest.mark.parametrize("answer", [0, False, "0", ["A"], " "])
def test_zero_and_no_are_references(answer):
    assert has_reference({"answer": answer})


@pytest.mark.parametrize("question_type", KNOWN_TYPES)
def test_every_verdict_names_the_rule_that_made_it(question_type):
    answer = "yes" if question_type == "yes-no" else "A"
    found = verdict(question_type, answer, answer, options=COLOURS)
    assert found.correct == 1.0
    assert found.rule not in ("", NO_REFERENCE, UNKNOWN_TYPE)
