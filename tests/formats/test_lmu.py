"""Cells of VLMEvalKit's tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.formats.lmu import SharedImage, find_image, parse_list_cell

PICTURE = "iVBORw0KGgo" * 6  # 66 characters


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("one.png", ["one.png"]),
        ("", [""]),
        ("[]", []),
        ("['one.png', 'two.png']", ["one.png", "two.png"]),
        ('["it\'s", \'say "hi"\']', ["it's", 'say "hi"']),
        ('["a",\n "b"]', ["a", "b"]),
        ("[1, 2.5, None, True]", ["1", "2.5", "None", "True"]),
        ("[[1, 2], ['a']]", ["[1, 2]", "['a']"]),
        (r"['a\\b', 'c\n', 'é\u56fe', '\x41', '\101\0']", ["a\\b", "c\n", "é图", "A", "A\0"]),
        (r"['C:\data\pic.png', '\\d', '\777']", ["C:\\data\\pic.png", "\\d", "\\777"]),
        ("[unclear]", ["[unclear]"]),
        ("[0, 1)", ["[0, 1)"]),
        ("['a'", ["['a'"]),
        ("['a', 'b]", ["['a', 'b]"]),
        ("[1] and [2]", ["[1] and [2]"]),
        ("('a', 'b')", ["('a', 'b')"]),
        ("[__import__('os').getcwd()]", ["[__import__('os').getcwd()]"]),
        ("['a'][0]]", ["['a'][0]]"]),
        ("[{[]}]", ["[{[]}]"]),
        ("[true, null]", ["[true, null]"]),
    ],
)
def test_a_list_in_a_cell_is_read_and_text_stays_text(cell, texts):
    assert parse_list_cell(cell) == texts


@given(st.lists(st.text()))
def test_what_python_writes_is_read_back(texts):
    assert parse_list_cell(str(texts)) == texts


@given(st.text(st.sampled_from("[]()'\"\\,x1u{}-#\n nrN0"), max_size=30))
def test_no_cell_is_beyond_reading(inner):
    assert all(isinstance(text, str) for text in parse_list_cell(f"[{inner}]"))


@pytest.mark.parametrize("cell", ["[" * 50_000 + "]" * 50_000, "[" + "-" * 50_000 + "1]", "[" + "9" * 5000 + "]"])
def test_a_monstrous_cell_is_text(cell):
    assert parse_list_cell(cell) == [cell]


def test_a_list_without_end_is_refused():
    with pytest.raises(DataError, match="more than 100,000 elements"):
        parse_list_cell("[" + "1," * 100_001 + "]")


def test_long_pictures_in_a_list_are_read():
    pictures = ["a/+=" * 1_000_000, "b" * 10]
    assert parse_list_cell(str(pictures)) == pictures


ROWS = {
    "own": PICTURE,
    "1": "own",
    "2": "1",
    "3": "2",
    "list": f"['{PICTURE}', '{PICTURE}']",
    "empty": "",
    "none": None,
    "to empty": "empty",
    "to none": "none",
    "lost": "nowhere",
    "self": "self",
    "a": "b",
    "b": "c",
    "c": "b",
    "sixty-four": "x" * 64,
    "sixty-five": "x" * 65,
}


@pytest.mark.parametrize(
    ("index", "owner"),
    [("own", "own"), ("1", "own"), ("2", "own"), ("3", "own"), ("list", "list"), ("sixty-five", "sixty-five")],
)
def test_a_picture_is_found_through_the_rows_that_name_it(index, owner):
    assert find_image(index, ROWS.__getitem__) == SharedImage(owner, ROWS[owner])


@pytest.mark.parametrize("index", ["empty", "none"])
def test_an_empty_cell_is_no_picture(index):
    assert find_image(index, ROWS.__getitem__) is None


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("to empty", "column 'image': row 'to empty' names row 'empty', which has no picture"),
        ("to none", "column 'image': row 'to none' names row 'none', which has no picture"),
        ("lost", "column 'image': 'nowhere' of row 'lost' is too short for a picture, and no row has that index"),
        ("self", "column 'image': rows name each other's picture in a circle: self → self"),
        ("a", "column 'image': rows name each other's picture in a circle: a → b → c → b"),
    ],
)
def test_a_picture_that_is_nowhere_is_told(index, message):
    with pytest.raises(DataError) as caught:
        find_image(index, ROWS.__getitem__)
    assert str(caught.value) == message


def test_a_cell_of_sixty_four_characters_names_a_row():
    with pytest.raises(DataError, match="no row has that index"):
        find_image("sixty-four", ROWS.__getitem__)


def test_a_chain_without_end_is_told_as_a_circle():
    with pytest.raises(DataError, match=r"0 → 1 → 2 → … → 1001$"):
        find_image("0", lambda index: str(int(index) + 1))


def test_a_row_that_does_not_exist_is_the_callers_fault():
    with pytest.raises(KeyError):
        find_image("nowhere", ROWS.__getitem__)
