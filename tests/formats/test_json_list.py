"""Annotations from JSON lists and JSON Lines."""

from __future__ import annotations

import pytest

from flagmm.errors import DataError
from flagmm.formats import READERS, read_json_lines, read_json_list
from flagmm.registry import FORMATS


def test_a_list_of_objects_is_read(tmp_path):
    (tmp_path / "data.json").write_text('[{"a": "图"}, {}]', encoding="utf-8")
    assert list(read_json_list(tmp_path / "data.json")) == [{"a": "图"}, {}]


def test_lines_of_objects_are_read_and_blank_ones_left_out(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"a": 1}\n\n  \n{"a": 2}', encoding="utf-8")
    assert list(read_json_lines(tmp_path / "data.jsonl")) == [{"a": 1}, {"a": 2}]


def test_an_empty_file_is_no_item_where_lines_are_read(tmp_path):
    (tmp_path / "data.jsonl").write_text("")
    assert list(read_json_lines(tmp_path / "data.jsonl")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}', "expected a list of items, found an object"),
        ('"a"', "expected a list of items, found a string"),
        ("null", "expected a list of items, found null"),
        ("true", "expected a list of items, found a boolean"),
        ("3", "expected a list of items, found a number"),
        ('[{}, ["a"]]', "item 1: expected an object, found a list"),
        ("[1.5]", "item 0: expected an object, found a number"),
    ],
)
def test_another_value_is_told_with_its_place(tmp_path, text, message):
    path = tmp_path / "data.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        list(read_json_list(path))
    assert str(caught.value) == f"{path}: {message}"


def test_a_line_that_holds_no_object_is_told_with_its_number(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": 1}\n\n[1]\n')
    with pytest.raises(DataError) as caught:
        list(read_json_lines(path))
    assert str(caught.value) == f"{path}:3: expected an object, found a list"


def test_every_reader_is_registered_by_its_suffix():
    assert {suffix: FORMATS.lookup(suffix) for suffix in FORMATS.names()} == READERS
