"""Which file is a subset's table, and what opens it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flagmm.errors import DataError
from flagmm.formats.table import find_table, list_subsets, open_table


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("make", [None, Path.mkdir, os.mkfifo], ids=["missing", "folder", "pipe"])
def test_what_is_no_file_is_an_error_of_one_line(tmp_path, suffix, make):
    path = tmp_path / f"table{suffix}"
    if make is not None:
        make(path)
    with pytest.raises(DataError) as caught:
        open_table(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_another_suffix_is_told_with_those_that_are_read(tmp_path):
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    with pytest.raises(
        DataError, match=r"unknown kind of table; expected a file named \.jsonl, \.csv, \.tsv, \.parquet"
    ):
        open_table(tmp_path / "table.xlsx")


def test_the_case_of_a_suffix_does_not_matter(tmp_path):
    (tmp_path / "TABLE.TSV").write_text("a\tb\n1\t2\n")
    assert open_table(tmp_path / "TABLE.TSV").row(0) == {"a": "1", "b": "2"}


ORDER = ["s_test.jsonl", "s.jsonl", "s_test.csv", "s.csv", "s_test.tsv", "s.tsv", "s_test.parquet", "s.parquet"]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_split_comes_first_within_a_suffix_and_suffixes_have_an_order(tmp_path, first):
    for name in ORDER[first:]:
        (tmp_path / name).touch()
    (tmp_path / "other_test.jsonl").touch()
    (tmp_path / "s.json").touch()
    assert find_table(tmp_path, "s", "test") == tmp_path / ORDER[first]


def test_a_file_is_its_own_answer(tmp_path):
    path = tmp_path / "mine.tsv"
    path.touch()
    assert find_table(path, "default", "test") == path
    assert list_subsets(path) == ["mine"]


def test_a_missing_table_is_told_with_what_was_looked_for_and_what_is_there(tmp_path):
    for name in ("b.tsv", "a.jsonl", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "s.csv").mkdir()
    with pytest.raises(DataError) as caught:
        find_table(tmp_path, "s", "val")
    assert str(caught.value) == (
        f"{tmp_path}: no file for the subset 's'; looked for s_val.jsonl, s.jsonl, s_val.csv, s.csv, s_val.tsv, s.tsv, "
        "s_val.parquet, s.parquet; found a.jsonl, b.tsv"
    )


def test_a_missing_folder_is_told(tmp_path):
    for call in (lambda folder: find_table(folder, "s", "test"), list_subsets):
        with pytest.raises(DataError) as caught:
            call(tmp_path / "nowhere")
        assert str(caught.value) == f"{tmp_path / 'nowhere'}: No such file or directory"


def test_subsets_are_the_stems_of_the_tables(tmp_path):
    for name in ("b.tsv", "a.jsonl", "a.csv", "c.parquet", "info.json", "notes.txt"):
        (tmp_path / name).touch()
    assert list_subsets(tmp_path) == ["a", "b", "c"]
