import re

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import ConfigError, DataError
from flagmm.prompt.general_vmcq import TEMPLATES, build_prompt, fill_template, find_template, read_options


@pytest.mark.parametrize("vector", vectors("general_vmcq_prompt"))
def test_prompts_are_evalscopes(vector):
    record, name = vector["input"]["record"], vector["input"]["template"].removesuffix("(default)")
    prompt = build_prompt(record, template=TEMPLATES[name])
    values = [piece.value if piece.type == "text" else piece.value.value for piece in prompt.pieces]
    content = [{"type": piece.type, piece.type: value} for piece, value in zip(prompt.pieces, values, strict=True)]
    assert content == vector["expected"]["content"]
    assert list(prompt.options) == vector["expected"]["choices"]


def test_without_a_template_the_model_is_asked_to_think_first():
    record = {"question": "Which?", "options": ["x"]}
    assert build_prompt(record) == build_prompt(record, template=TEMPLATES["SINGLE_ANSWER_COT"])


def test_a_placeholder_in_the_data_is_not_filled():
    filled = fill_template("{question}|{choices}|{letters}", question="{choices} {letters}", options=["{question}"])
    assert filled == "{choices} {letters}|A) {question}|A"


def test_doubled_braces_of_a_template_stand_for_one_and_unknown_fields_stay():
    assert fill_template("\\boxed{{{letters}}} {other}", question="", options=["x", "y"]) == "\\boxed{A,B} {other}"


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        (["a", 1, None], ["a", "1", "None"]),
        (("a", "b"), ["a", "b"]),
        ('["a", 2.5, true]', ["a", "2.5", "True"]),
        ("['it\\'s', \"b\"]", ["it's", "b"]),
        ("('a', 'b')", ["a", "b"]),
        ("['\\d', 'b']", ["\\d", "b"]),
        ([], []),
    ],
)
def test_options_are_a_list_or_one_written_as_text(cell, options):
    assert read_options(cell) == options


@pytest.mark.parametrize("cell", [None, 3, "", "a, b", '{"a": 1}', "'abc'", "[1, 2", "[" * 5000, "__import__('os')"])
def test_options_that_are_no_list_are_an_error(cell):
    with pytest.raises(DataError, match="options: expected a list"):
        read_options(cell)


@pytest.mark.parametrize("name", [name for name in TEMPLATES if "MULTIPLE" in name])
def test_templates_for_several_answers_ask_for_what_is_read(name):
    template = find_template(name)
    assert template.multiple
    marker = "答案：" if template.language == "chinese" else "ANSWER: "
    assert f"{marker}[LETTERS]" in template.text
    filled = fill_template(template.text, question="Which?", options=["x", "y"])
    assert all(text in filled for text in ("A,B", "Which?", "A) x\nB) y"))
    assert ("Think step by step" in filled or "逐步思考" in filled) == name.endswith("_COT")


@pytest.mark.parametrize(
    ("given_template", "language", "multiple"),
    [
        ("SINGLE_ANSWER", "english", False),
        ("CHINESE_SINGLE_ANSWER_COT", "chinese", False),
        ("{question}\n{choices}", "english", False),
        ("选 {question} {choices} 答案：[LETTERS]", "chinese", True),
    ],
)
def test_a_template_is_a_name_or_a_text(given_template, language, multiple):
    template = find_template(given_template)
    assert (template.language, template.multiple) == (language, multiple)
    assert template.text == TEMPLATES.get(given_template, given_template)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("SINGLE_ANSWR", "no known name and has no {question}. Did you mean 'SINGLE_ANSWER'?"),
        ("{question} only", "has no {choices}"),
    ],
)
def test_a_template_that_lacks_a_field_is_an_error(wrong, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        find_template(wrong)


@pytest.mark.parametrize("record", [{"options": ["x"]}, {"question": None, "options": ["x"]}])
def test_a_record_without_a_question_is_an_error(record):
    with pytest.raises(DataError, match="question: missing"):
        build_prompt(record)


@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=30))
def test_question_and_options_stand_in_the_prompt_to_the_letter(question, options):
    filled = fill_template(TEMPLATES["CHINESE_SINGLE_ANSWER"], question=question, options=options)
    assert f"问题：{question}\n选项：\n" in filled
    assert all(f") {option}\n" in filled for option in options)
