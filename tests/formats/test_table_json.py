"""JSON Lines tables: a line is a row, and a wrong line is wrong alone."""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.formats.table import open_table

BOM = b"\xef\xbb\xbf"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def table_of(folder, data, name="table.jsonl"):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return open_table(path)


def reason(table, number):
    with pytest.raises(DataError) as caught:
        table.row(number)
    return str(caught.value).replace(f"{table.path.parent}{os.sep}", "")


@pytest.mark.parametrize("bom", [b"", BOM], ids=["bare", "BOM"])
@given(rows=st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=5), data=st.data())
@settings(deadline=None)  # files are written
def test_what_json_writes_is_read_back(scratch, bom, rows, data):
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n\t\n", "\r"]))
    ascii_only = data.draw(st.booleans())
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    final = data.draw(st.sampled_from(["", end]))
    table = table_of(scratch, bom + (end.join(lines) + final).encode("utf-8", "surrogatepass"))
    assert [table.row(number) for number in range(len(table))] == rows
    assert table.columns == (tuple(rows[0]) if rows else ())


def test_blank_lines_are_no_rows_and_are_counted_in_places(tmp_path):
    table = table_of(tmp_path, '\n {"a": 1}\n\n  \t\n{"a": 2}')
    assert [table.row(0), table.row(1)] == [{"a": 1}, {"a": 2}]
    assert [table.where(0), table.where(1)] == [f"{table.path}:2", f"{table.path}:5"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a": 1', "table.jsonl:2:8: not valid JSON: Expecting ',' delimiter"),
        (b'{"a": 1} x', "table.jsonl:2:10: not valid JSON: Extra data"),
        (b'{"a": "\x00"}', "table.jsonl:2:8: not valid JSON: Invalid control character at"),
        (b"[1]", "table.jsonl:2: expected an object, found a list"),
        (b'"a"', "table.jsonl:2: expected an object, found a string"),
        (b"null", "table.jsonl:2: expected an object, found null"),
        (b"NaN", "table.jsonl:2: expected an object, found null"),
        (b'{"a": "\xff"}', "table.jsonl:2: not UTF-8 text: invalid start byte at byte 7 of the line"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "table.jsonl:2: the key 'b' occurs twice in one object"),
        (b'{"a": -Infinity}', "table.jsonl:2: -Infinity is no JSON; write null or a text"),
        (b'{"a": ' + b"9" * 5000 + b"}", "table.jsonl:2: a number of thousands of digits"),
        (b'{"a": ' * 201 + b"1" + b"}" * 201, "table.jsonl:2: nested too deeply, over 200 levels"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "table.jsonl:2: nested too deeply"),
        (b'{"a":' + b"[" * 100_000, "table.jsonl:2: nested too deeply"),
    ],
)
def test_a_wrong_line_is_told_and_wrong_alone(tmp_path, line, message):
    table = table_of(tmp_path, b'{"a": 0}\n' + line + b'\n{"a": 2}\n')
    assert reason(table, 1) == message
    assert list(table.cells("a")) == [0, None, 2]
    assert (len(table), table.row(2)) == (3, {"a": 2})


def test_nan_is_null(tmp_path):
    assert table_of(tmp_path, '{"a": NaN, "b": [NaN, 1]}').row(0) == {"a": None, "b": [None, 1]}


def test_many_brackets_are_not_deep(tmp_path):
    row = {"a": [[1]] * 500, "b": "[" * 1000}
    assert table_of(tmp_path, json.dumps(row)).row(0) == row


def test_two_hundred_levels_are_not_too_deep(tmp_path):
    line = '{"a": ' * 200 + "1" + "}" * 200
    assert table_of(tmp_path, line).row(0) == json.loads(line)


def test_columns_are_the_keys_of_the_first_row_that_is_right(tmp_path):
    table = table_of(tmp_path, '[]\n{"b": 1, "a": 2}\n{"c": 3}\n')
    assert table.columns == ("b", "a")
    assert list(table.cells("c")) == [None, None, 3]


@pytest.mark.parametrize("data", [b"", BOM, b"\n \r\n"])
def test_an_empty_file_has_no_rows(tmp_path, data):
    table = table_of(tmp_path, data)
    assert (len(table), table.columns, list(table.cells("a"))) == (0, (), [])


def test_a_json_file_may_hold_lines(tmp_path):
    assert table_of(tmp_path, '{"a": 1}\n', "table.json").row(0) == {"a": 1}


def test_a_json_list_is_told_from_lines(tmp_path):
    with pytest.raises(DataError, match=r"table\.json: a JSON list; write one object a line"):
        table_of(tmp_path, '\n [{"a": 1}]', "table.json")


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "table.jsonl"
    with path.open("w") as file:
        for number in range(100):
            file.write(json.dumps({"index": number, "image": "x" * 400_000}) + "\n")  # 40 MB
    tracemalloc.start()
    assert list(open_table(path).cells("index")) == list(range(100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000_000


@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from([b"{", b"}", b'"a"', b":", b"1", b",", b"\n", b"\xff", b"[", b"]"]), max_size=40).map(
            b"".join
        ),
    )
)
@settings(deadline=None)  # files are written
def test_hostile_bytes_are_wrong_rows_or_a_wrong_file(scratch, data):
    try:
        table = table_of(scratch, data)
    except DataError:
        return
    cells = list(table.cells("a"))
    for number, cell in enumerate(cells):
        try:
            assert table.row(number).get("a") == cell
        except DataError:
            assert cell is None
    assert len(cells) == len(table)
