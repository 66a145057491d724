import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.prompt.general_vmcq import (
    TEMPLATES,
    Piece,
    build_prompt,
    collect_media,
    fill_template,
    read_options,
    split_at_media,
)


@pytest.mark.parametrize("vector", vectors("general_vmcq_prompt"))
def test_prompts_are_evalscopes(vector):
    record, name = vector["input"]["record"], vector["input"]["template"].removesuffix("(default)")
    prompt = build_prompt(record, template=TEMPLATES[name])
    content = [{"type": piece.type, piece.type: piece.value} for piece in prompt.pieces]
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


def test_indexed_columns_come_before_the_list_column():
    record = {"image_1": None, "image_3": "c.png", "images": ["x.png", "y.png"], "image_3_format": "png"}
    assert collect_media(record, "image") == {3: "c.png"}


def test_the_list_column_counts_from_one_and_leaves_out_empty_cells():
    assert collect_media({"image_1": "", "images": ["x.png", "", None, {"path": "z"}]}, "image") == {
        1: "x.png",
        4: {"path": "z"},
    }


def test_a_record_without_media_has_none():
    assert collect_media({"question": "?"}, "video") == {}


def test_a_list_column_that_is_no_list_is_an_error():
    with pytest.raises(DataError, match="images: expected a list, found 'x"):
        collect_media({"images": "x.png"}, "image")


def test_media_of_all_kinds_go_where_their_placeholders_stand():
    media = {"image": {1: "i"}, "video": {2: "v"}, "audio": {1: "a"}}
    pieces, missing = split_at_media("See <image 1>\n<video_2> and <audio 1>, <image 1>", media)
    assert pieces == [
        Piece("text", "See "),
        Piece("image", "i"),
        Piece("video", "v"),
        Piece("text", " and "),
        Piece("audio", "a"),
        Piece("text", ", "),
        Piece("image", "i"),
    ]
    assert missing == []


@pytest.mark.parametrize("placeholder", ["<image 2>", "<video 1>", "<image 0>", f"<image {'9' * 5000}>"])
def test_a_placeholder_without_a_medium_is_left_out_and_named(placeholder):
    pieces, missing = split_at_media(f"a {placeholder} b", {"image": {1: "i"}})
    assert pieces == [Piece("text", "a "), Piece("text", " b")]
    assert missing == [placeholder]


@pytest.mark.parametrize("text", ["<image1>", "<Image 1>", "<image  1>", "<image-1>", "image 1"])
def test_what_only_looks_like_a_placeholder_is_text(text):
    assert split_at_media(text, {"image": {1: "i"}}) == ([Piece("text", text)], [])


@given(st.lists(st.sampled_from(["<image 1>", "a", " ", "\n", "<", "image 1>"]), max_size=9).map("".join))
def test_cutting_loses_nothing_but_white_space(text):
    pieces, missing = split_at_media(text, {"image": {1: "<image 1>"}})
    assert "".join("".join(piece.value for piece in pieces).split()) == "".join(text.split())
    assert missing == []


@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=30))
def test_question_and_options_stand_in_the_prompt_to_the_letter(question, options):
    filled = fill_template(TEMPLATES["CHINESE_SINGLE_ANSWER"], question=question, options=options)
    assert f"问题：{question}\n选项：\n" in filled
    assert all(f") {option}\n" in filled for option in options)
