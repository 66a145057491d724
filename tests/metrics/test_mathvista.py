"""MathVista's extraction, normal forms and table."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.mathvista import (
    MathVistaQuestion,
    mathvista_correct,
    mathvista_extract,
    mathvista_hit,
    mathvista_normalize,
    mathvista_report,
)

CHOICE = MathVistaQuestion(question_type="multi_choice", answer_type="text", choices=["Yes", "No"])
INTEGER = MathVistaQuestion(question_type="free_form", answer_type="integer")
FLOAT = MathVistaQuestion(question_type="free_form", answer_type="float", precision=1.0)
LIST = MathVistaQuestion(question_type="free_form", answer_type="list")
TEXT = MathVistaQuestion(question_type="free_form", answer_type="text")
FAULTS = [vector for vector in vectors("mathvista") if "sensible" in vector.values[0]]


def question_of(line):
    return MathVistaQuestion(
        question_type=line["question_type"],
        answer_type=line["answer_type"],
        choices=line["choices"] or (),
        precision=line["precision"],
    )


@pytest.mark.parametrize("vector", vectors("mathvista"))
def test_replies_are_read_and_scored_as_mathvista_does_its_faults_included(vector):
    line, expected = vector["input"], vector["expected"]
    question = question_of(line)
    extraction = line.get("extraction")
    for name, read in expected.get("extract", {}).items():
        extraction = mathvista_extract(line["response"], question, quick=name == "quick")
        assert extraction == read["extraction"]
    if "correct" in expected:
        assert mathvista_normalize(extraction, question) == expected["normalised"]
        assert mathvista_correct(extraction, line["answer"], question) == expected["correct"]


@pytest.mark.parametrize("vector", FAULTS)
def test_the_careful_rule_mends_the_plain_faults(vector):
    line = vector["input"]
    extraction = line.get("extraction", line.get("response"))
    right = mathvista_correct(extraction, line["answer"], question_of(line), rule="careful")
    assert right == vector["sensible"]["correct"]


@pytest.mark.parametrize(
    ("extraction", "question", "normal"),
    [
        ("(b)", CHOICE, "No"), ("B", CHOICE, "No"), ("Nope", CHOICE, "No"), (None, CHOICE, "No"),
        ("-2.9", INTEGER, "-2"), ("inf", INTEGER, None), ("x", INTEGER, None), ([1], INTEGER, None),
        ("0.25", FLOAT, "0.2"), ("nan", FLOAT, "nan"), ([1, 2], LIST, "[1, 2]"), ("red", TEXT, "red"),
    ],
)  # fmt: skip
def test_normal_forms(extraction, question, normal):
    assert mathvista_normalize(extraction, question) == normal


def test_a_choice_among_none_and_a_float_without_precision():
    assert mathvista_normalize("A", MathVistaQuestion(question_type="multi_choice", answer_type="text")) is None
    assert mathvista_normalize("2.6", MathVistaQuestion(question_type="free_form", answer_type="float")) == "3"


@pytest.mark.parametrize(
    ("extraction", "answer", "question", "right"),
    [
        ("b.", "No", CHOICE, True), ("no", "No", CHOICE, True), ("C", "No", CHOICE, False), ("", "No", CHOICE, False),
        ("1,400 cm", "1400", INTEGER, True), ("0.64", "0.6", FLOAT, True), ("0.66", "0.6", FLOAT, False),
        ("1; 2", "[1, 2]", LIST, True), ("2, 1", "[1, 2]", LIST, False), ("", "[]", LIST, False),
    ],
)  # fmt: skip
def test_the_careful_rule_by_rule(extraction, answer, question, right):
    assert mathvista_correct(extraction, answer, question, rule="careful") == right


def row(result, **fields):
    defaults = {
        "question_type": "free_form",
        "answer_type": "integer",
        "choices": "[]",
        "answer": "3",
        "skills": "['a']",
    }
    return defaults | {"res": result, "task": "t", "log": "Succeed", "answer_option": ""} | fields


@pytest.mark.parametrize(
    ("record", "hit"),
    [
        (row(" 3 "), True), (row("3.0"), False), (row("3.0", answer_type="float"), True), (row(None), False),
        (row("[1]", answer_type="list", answer="[1]"), False),
        (row("B", question_type="multi_choice", choices="['x', 'y']", answer_option="B"), True),
        (row("neither", question_type="multi_choice", choices=["x", "y"], answer_option="B"), False),
    ],
)  # fmt: skip
def test_hits_of_vlmevalkit(record, hit):
    assert mathvista_hit(record) == hit


def test_the_table_counts_each_row_once_per_skill_and_task():
    table = mathvista_report([row("3", log="Prefetch succeed", skills="['a', 'b']"), row("4", skills="c")])
    shares = {line["Task&Skill"]: (line["tot"], line["prefetch_rate"], line["acc"]) for line in table}
    assert shares == {"Overall": (2, 50, 50), "a": (1, 100, 100), "b": (1, 100, 100), "t": (2, 50, 50), "c": (1, 0, 0)}
    assert mathvista_report([]) == []


@given(st.text(max_size=30), st.sampled_from([CHOICE, INTEGER, FLOAT, LIST, TEXT]))
def test_any_reply_can_be_scored(text, question):
    for rule in ("reference", "careful"):
        assert mathvista_correct(text, "3", question, rule=rule) in (True, False)
    assert mathvista_extract(text, question, quick=True) is None or text is not None
