"""JSON in and out: errors that name the place, files that are whole or not there."""

from __future__ import annotations

import json
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.jsonio import (
    AtomicFile,
    dump_line,
    open_to_read,
    plain,
    read_json,
    read_json_list,
    read_jsonl,
    read_text,
    write_json,
    write_records,
    writing_records,
)

OFTEN = settings(max_examples=25, deadline=None)
TEXTS = st.text(st.characters(), max_size=20)  # lone surrogates included
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("json")


@OFTEN
@given(value=JSON_VALUES)
def test_what_is_written_is_read_again(folder, value):
    write_json(folder / "value.json", value)
    assert read_json(folder / "value.json") == value


@OFTEN
@given(values=st.lists(JSON_VALUES, max_size=5))
def test_records_are_read_again_as_a_list(folder, values):
    write_records(folder / "records.json", iter(values))
    assert read_json(folder / "records.json") == values


@OFTEN
@given(values=st.lists(JSON_VALUES, max_size=5))
def test_a_line_holds_one_value_whatever_line_breaks_are_in_its_texts(folder, values):
    path = folder / "lines.jsonl"
    path.write_text("".join(dump_line(value) + "\n" for value in values), encoding="utf-8")
    assert [value for _, value in read_jsonl(path)] == values


def test_a_lone_surrogate_which_no_file_can_hold_is_written_as_an_escape(tmp_path):
    write_json(tmp_path / "x.json", {"a": "图\ud800"})
    write_records(tmp_path / "y.json", ["图\ud800"])
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == '{\n  "a": "图\\ud800"\n}\n'
    assert (read_json(tmp_path / "x.json"), read_json(tmp_path / "y.json")) == ({"a": "图\ud800"}, ["图\ud800"])


def test_records_stand_one_a_line_and_text_stays_readable(tmp_path):
    write_records(tmp_path / "x.json", [{"a": "图"}, {"a": 2}])
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == '[\n{"a": "图"},\n{"a": 2}\n]\n'


def test_no_records_are_an_empty_list(tmp_path):
    write_records(tmp_path / "x.json", [])
    assert read_json(tmp_path / "x.json") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'{"a": 1,\n "b" 2}', r":2:6: not valid JSON", id="line and column"),
        pytest.param(b"", r":1:1: not valid JSON", id="empty file"),
        pytest.param(b"\xff\xfe", r"not UTF-8 text: .* at byte 0", id="other encoding"),
        pytest.param(b"[" * 100_000, r"nested too deeply", id="too deep"),
        pytest.param(b"1" * 5000, r"a number of thousands of digits", id="too long a number"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, content, message):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_json(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b'{"a": 1,,', r":3:9: not valid JSON", id="torn"),
        pytest.param(b"[" * 100_000, r":3: nested too deeply", id="too deep"),
        pytest.param(b"1" * 5000, r":3: a number of thousands of digits", id="too long a number"),
    ],
)
def test_a_broken_line_is_told_with_its_number_blank_lines_counted(tmp_path, line, message):
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b'{"a": 1}\n\n' + line + b"\n")
    with pytest.raises(DataError, match=message):
        list(read_jsonl(path))


@pytest.mark.parametrize("read", [read_json, read_text, lambda path: list(read_jsonl(path))])
def test_a_missing_file_and_a_folder_are_told_apart(tmp_path, read):
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "missing.json")
    with pytest.raises(DataError, match="directory"):
        read(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    for name in ("x.json", "x.jsonl"):
        (tmp_path / name).write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    assert read_json(tmp_path / "x.json") == {"a": 1}
    assert list(read_jsonl(tmp_path / "x.jsonl")) == [(1, {"a": 1})]


class HasToList:
    """Like numpy's scalars and arrays."""

    def tolist(self):
        return [1, 2]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"b", "a"}, ["a", "b"], id="set, in order"),
        pytest.param(frozenset([2]), [2], id="frozen set"),
        pytest.param(HasToList(), [1, 2], id="array"),
        pytest.param(1j, "1j", id="anything else by its text"),
    ],
)
def test_values_that_json_does_not_know_become_ones_that_it_does(value, expected):
    assert plain(value) == expected
    assert json.loads(dump_line({"value": value})) == {"value": expected}


def test_a_number_of_numpy_is_a_number(tmp_path):
    import numpy

    write_json(tmp_path / "x.json", {"score": numpy.float32(0.5), "n": numpy.int64(3), "list": numpy.arange(2)})
    assert read_json(tmp_path / "x.json") == {"score": 0.5, "n": 3, "list": [0, 1]}


def test_a_file_that_could_not_be_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, "old")

    def torn():
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_records(path, torn())
    assert read_json(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_appears_only_when_it_is_whole_and_its_folder_is_made(tmp_path):
    path = tmp_path / "new" / "x.txt"
    with AtomicFile(path) as file:
        file.write("half")
        file.flush()
        assert not path.exists()
    assert path.read_text() == "half"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_does_not_know_is_null(tmp_path, number):
    write_json(tmp_path / "x.json", {"score": number, "name": "ü"})
    assert read_json(tmp_path / "x.json") == {"score": None, "name": "ü"}
    assert dump_line([number, 1.5]) == "[null, 1.5]"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('[\n{"a": 1},\n{"a": 2}\n]\n', [{"a": 1}, {"a": 2}]),
        ("[\n]\n", []),
        ("[]", []),
        ("[1, 2]", [1, 2]),
        ('[\n  {\n    "a": 1\n  },\n  2\n]', [{"a": 1}, 2]),
        ("[\n1,\n[2,\n3]\n]", [1, [2, 3]]),
        ("\ufeff[\n1\n]", [1]),
    ],
)
def test_a_json_list_is_read_in_any_layout(tmp_path, text, values):
    path = tmp_path / "list.json"
    path.write_text(text, encoding="utf-8")
    assert list(read_json_list(path)) == values


@pytest.mark.parametrize(
    "text", ["[\n1\n2\n]", "[\n1,\n]", "[\n1\n]\n2", "[\n1,\n2\n", "[\n1,\n2,\n", "{}", "", "[\nNope\n]"]
)
def test_what_is_no_json_list_is_an_error_that_names_the_file(tmp_path, text):
    path = tmp_path / "list.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"list\.json"):
        list(read_json_list(path))


@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.floats(allow_nan=False))))
)
def test_what_was_written_as_records_is_read_as_they_were(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("records") / "records.json"
    write_records(path, records)
    assert list(read_json_list(path)) == read_json(path)


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": 0}])
@pytest.mark.parametrize("sizes", [[200_000], [30_000] * 7, [1] * 50_000, [70_000, 1, 140_000, 1]])
def test_a_list_longer_than_what_is_read_at_once_is_read_whole(tmp_path, layout, sizes):
    values = [{"n": number, "text": "图" * size} if size > 1 else number for number, size in enumerate(sizes)]
    path = tmp_path / "list.json"
    path.write_text(json.dumps(values, ensure_ascii=False, **layout), encoding="utf-8")
    assert list(read_json_list(path)) == values


@pytest.mark.parametrize("end", ["", "}", ",", "] ]", '"'])
def test_a_long_list_that_goes_wrong_at_its_end_is_an_error(tmp_path, end):
    path = tmp_path / "list.json"
    path.write_text("[" + ", ".join(["12345"] * 20_000) + end)
    with pytest.raises(DataError, match=r"list\.json:1:\d+: not valid JSON"):
        list(read_json_list(path))


def test_records_that_are_made_one_by_one_are_written_as_a_list_of_them_is(tmp_path):
    with writing_records(tmp_path / "a.json") as write:
        for number in range(3):
            write({"n": number})
    write_records(tmp_path / "b.json", [{"n": number} for number in range(3)])
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_what_goes_wrong_while_records_are_made_is_not_blamed_on_their_file(tmp_path):
    (tmp_path / "a.json").write_text("before")
    with pytest.raises(FileNotFoundError), writing_records(tmp_path / "a.json") as write:
        write((tmp_path / "picture.png").read_bytes())
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize(
    "read", [read_json, read_text, lambda path: list(read_jsonl(path)), lambda path: list(read_json_list(path))]
)
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(DataError, match=r"a\.json: no regular file"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("name", "message"), [("", "Is a directory"), ("/dev/zero", "no regular file"), ("a\0b", "NUL character")]
)
def test_what_is_no_file_is_told(tmp_path, name, message):
    with pytest.raises(DataError, match=message):
        read_json(tmp_path / name)


def test_a_pipe_that_a_shell_has_opened_is_read_to_its_end():
    reading, writing = os.pipe()
    text = b"x" * 200_000  # more than a pipe holds

    def write():
        with open(writing, "wb") as file:
            file.write(text)

    writer = threading.Thread(target=write)
    writer.start()
    with open_to_read(f"/dev/fd/{reading}") as file:
        assert file.read() == text
    writer.join()
    os.close(reading)
