"""Parquet tables: values as they are stored, read a batch at a time."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import random
import re
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.formats.table import open_table


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def table_of(folder, columns, **settings):
    path = folder / "table.parquet"
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, **settings)
    return open_table(path)


def rows_of(table):
    return [table.row(number) for number in range(len(table))]


def test_values_keep_their_kinds(tmp_path):
    day = datetime.datetime(2026, 1, 2, 3)
    row = {
        "text": "007",
        "number": 7,
        "missing": None,
        "options": ["a", None, "b"],
        "messages": [{"role": "user", "content": "图"}],
        "bytes": b"\x89PNG",
        "day": day,
        "yes": True,
    }
    table = table_of(tmp_path, {name: [value] for name, value in row.items()})
    assert table.columns == tuple(row)
    assert rows_of(table) == [row]


def test_nan_is_none(tmp_path):
    assert rows_of(table_of(tmp_path, {"a": [1.5, float("nan"), None]})) == [{"a": 1.5}, {"a": None}, {"a": None}]


def test_pictures_and_sounds_of_huggingface_come_undecoded(tmp_path):
    medium = {"bytes": b"no real picture", "path": "a.png"}
    only_path = {"bytes": None, "path": "b.wav"}
    row = {"image": medium, "sounds": [medium, only_path], "clip": None}
    struct = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    kinds = {"image": {"_type": "Image"}, "sounds": [{"_type": "Audio"}], "clip": {"_type": "Video"}}
    schema = pa.schema(
        {"image": struct, "sounds": pa.list_(struct), "clip": struct},
        metadata={"huggingface": json.dumps({"info": {"features": kinds}})},
    )
    table = table_of(tmp_path, pa.Table.from_pylist([row], schema))
    assert rows_of(table) == [row]
    assert list(table.cells("sounds")) == [row["sounds"]]


@given(
    rows=st.lists(
        st.fixed_dictionaries({"a": st.none() | st.text(), "b": st.lists(st.none() | st.integers(-9, 9), max_size=3)}),
        max_size=30,
    ),
    group=st.integers(1, 12),
)
@settings(deadline=None)  # files are written
def test_what_pyarrow_writes_is_read_back(scratch, rows, group):
    written = pa.Table.from_pylist(rows, schema=pa.schema({"a": pa.string(), "b": pa.list_(pa.int64())}))
    table = table_of(scratch, written, row_group_size=group)
    assert rows_of(table) == rows
    assert list(table.cells("b")) == [row["b"] for row in rows]


def test_rows_are_found_in_any_order(tmp_path):
    table = table_of(tmp_path, {"a": list(range(1000))}, row_group_size=64)
    numbers = [*range(0, 1000, 7), *random.Random(0).sample(range(1000), 300)]
    assert [table.row(number)["a"] for number in numbers] == numbers


def test_threads_read_the_rows_they_ask_for(tmp_path):
    table = table_of(tmp_path, {"a": list(range(500))}, row_group_size=50)
    numbers = [(7 * step) % 500 for step in range(1000)]
    with ThreadPoolExecutor(8) as threads:
        assert [row["a"] for row in threads.map(table.row, numbers)] == numbers


@pytest.mark.parametrize("group", [100, 3000], ids=["many row groups", "one row group"])
def test_memory_does_not_grow_with_the_file(tmp_path, group):
    path = tmp_path / "table.parquet"
    picture = random.Random(0).randbytes(100_000)
    schema = pa.schema({"index": pa.int64(), "image": pa.binary()})
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for first in range(0, 3000, group):  # 300 MB, in pages of 1024 rows at most
            numbers = list(range(first, first + group))
            writer.write_table(pa.table({"index": numbers, "image": [picture] * group}, schema))
    before = pa.total_allocated_bytes()
    table = open_table(path)
    most = 0
    for number in range(3000):
        row = table.row(number)
        assert (row["index"], len(row["image"])) == (number, 100_000)
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 200_000_000


def test_a_group_without_rows_is_passed_over(tmp_path):
    schema = pa.schema({"a": pa.int64()})
    with pq.ParquetWriter(tmp_path / "table.parquet", schema) as writer:
        for numbers in ([], [1], [], [2, 3], []):
            writer.write_table(pa.table({"a": numbers}, schema))
    table = open_table(tmp_path / "table.parquet")
    assert rows_of(table) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert list(table.cells("a")) == [1, 2, 3]


def test_a_table_of_no_rows_has_columns(tmp_path):
    table = table_of(tmp_path, {"a": pa.array([], pa.string())})
    assert (table.columns, len(table), list(table.cells("a")), list(table.cells("b"))) == (("a",), 0, [], [])


def test_a_row_is_named_by_its_number(tmp_path):
    table = table_of(tmp_path, {"a": [1, 2]})
    assert table.where(1) == f"{table.path}: row 1"
    for number in (-1, 2):
        with pytest.raises(IndexError):
            table.row(number)


def test_text_that_is_no_utf8_is_a_wrong_row_alone(tmp_path):
    texts = pa.array([b"good", b"\xff", b"fine"]).cast(pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 3, texts.buffers())
    table = table_of(tmp_path, {"a": broken})
    assert list(table.cells("a")) == ["good", None, "fine"]
    assert [table.row(number)["a"] for number in (0, 2)] == ["good", "fine"]
    with pytest.raises(DataError, match=re.escape(f"{table.path}: row 1: ")):
        table.row(1)


def test_a_damaged_row_group_spoils_its_rows_alone(tmp_path):
    table = table_of(tmp_path, {"a": [f"{number:08}" for number in range(300)]}, row_group_size=100, compression="gzip")
    column = pq.read_metadata(table.path).row_group(1).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    with table.path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * column.total_compressed_size)
    table = open_table(table.path)
    cells = list(table.cells("a"))
    assert cells[:100] + cells[200:] == [f"{number:08}" for number in (*range(100), *range(200, 300))]
    assert cells[100:200] == [None] * 100
    for number in (150, 99, 199, 200):  # a failure does not disturb what is read after it
        if cells[number] is None:
            with pytest.raises(DataError, match=f"table.parquet: row {number}: "):
                table.row(number)
        else:
            assert table.row(number) == {"a": cells[number]}


@given(data=st.data())
@settings(deadline=None)  # files are written
def test_damaged_files_are_wrong_rows_or_a_wrong_file(scratch, data):
    table_of(scratch, {"a": ["x", "yy", None], "b": [[1], [], [2, 3]]})
    path = scratch / "table.parquet"
    content = bytearray(path.read_bytes())
    for position in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) - 1]))])
    with contextlib.suppress(DataError):
        table = open_table(path)
        for number in range(min(len(table), 3)):
            with contextlib.suppress(DataError):
                table.row(number)


def test_two_columns_of_one_name_are_an_error(tmp_path):
    written = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DataError, match="two columns have one name: a, a"):
        table_of(tmp_path, written)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"index\tquestion\n"])
def test_a_file_that_is_no_parquet_is_told(tmp_path, data):
    path = tmp_path / "table.parquet"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        open_table(path)
    assert str(caught.value).startswith(f"{path}: not readable as Parquet: ")
    assert os.linesep not in str(caught.value)
