"""What VLMEvalKit's scripts import: tables to and from files."""

from __future__ import annotations

import pandas
import pytest
from PIL import Image

from flagmm.errors import DataError
from flagmm.vlmeval.smp import (
    LMUDataRoot,
    d2df,
    decode_base64_to_image,
    decode_base64_to_image_file,
    dump,
    encode_image_file_to_base64,
    encode_image_to_base64,
    load,
)

FRAME = pandas.DataFrame(
    {"index": [1, 2], "answer": ["007", "1e5"], "score": [0.5, 2.0], "prediction": ["=cmd()", 'a\n"b"']}
)


@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "csv"])
def test_a_table_is_loaded_as_it_was_dumped(tmp_path, suffix):
    path = str(tmp_path / f"a.{suffix}")
    dump(FRAME, path)
    pandas.testing.assert_frame_equal(load(path), FRAME)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_values_are_loaded_as_they_were_dumped(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    dump(FRAME, path)
    assert load(path) == FRAME.to_dict("records")


@pytest.mark.parametrize("text", ["None", "NA", "007", "1e5", "nan", "1.50", "1.", "", "12345678901234567890"])
def test_a_text_that_only_looks_like_a_number_stays_text(tmp_path, text):
    (tmp_path / "a.tsv").write_text(f"a\tb\n{text}\tx\n", encoding="utf-8")
    assert load(tmp_path / "a.tsv")["a"].tolist() == [text or None]


@pytest.mark.parametrize(
    ("texts", "values"), [(["1", "-2"], [1, -2]), (["1", "2.5"], [1.0, 2.5]), (["1", ""], ["1", None])]
)
def test_a_column_is_numbers_only_if_all_its_cells_are(tmp_path, texts, values):
    (tmp_path / "a.tsv").write_text("a\tb\n" + "".join(f"{text}\tx\n" for text in texts), encoding="utf-8")
    assert load(tmp_path / "a.tsv")["a"].tolist() == values


def test_a_dict_becomes_one_row():
    assert d2df({"a": 1, "b": "x"}).to_dict("records") == [{"a": 1, "b": "x"}]


@pytest.mark.parametrize("work", [lambda path: load(path), lambda path: dump(FRAME, path)], ids=["load", "dump"])
def test_another_ending_is_told(tmp_path, work):
    with pytest.raises(DataError, match=r"a\.pkl: expected"):
        work(tmp_path / "a.pkl")


def test_the_data_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "new"))
    assert LMUDataRoot() == str(tmp_path / "new")
    assert (tmp_path / "new").is_dir()


def test_a_picture_is_text_and_a_picture_again(tmp_path):
    Image.new("RGBA", (40, 20), "red").save(tmp_path / "a.png")
    text = encode_image_file_to_base64(tmp_path / "a.png", target_size=20)
    assert decode_base64_to_image(text).size == (20, 10)
    decode_base64_to_image_file(encode_image_to_base64(Image.new("L", (4, 4)), fmt="PNG"), tmp_path / "b" / "c.png")
    with Image.open(tmp_path / "b" / "c.png") as picture:
        assert picture.size == (4, 4)
