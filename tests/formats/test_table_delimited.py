"""CSV and TSV tables: what a cell is, where a row stands, and which rows are wrong."""

from __future__ import annotations

import csv
import io
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError
from flagmm.formats.delimited_table import DelimitedTable
from flagmm.formats.table import open_table

BOM = b"\xef\xbb\xbf"
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def table_of(folder, data, suffix=".tsv"):
    path = folder / f"table{suffix}"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return open_table(path)


def rows_of(table):
    return [table.row(number) for number in range(len(table))]


def reason(table, number):
    with pytest.raises(DataError) as caught:
        table.row(number)
    return str(caught.value).replace(f"{table.path.parent}{os.sep}", "")


@pytest.mark.parametrize(
    "text", ["NA", "None", "null", "007", "1e5", "nan", "TRUE", " padded ", "", "图", "a'b", "=cmd()"]
)
@pytest.mark.parametrize(("suffix", "delimiter"), [(".tsv", "\t"), (".csv", ",")])
def test_a_cell_is_text_and_stays_what_it_is(tmp_path, text, suffix, delimiter):
    table = table_of(tmp_path, f"index{delimiter}answer\n007{delimiter}{text}\n", suffix)
    assert rows_of(table) == [{"index": "007", "answer": text}]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('"two\nlines"', "two\nlines"),
        ('"two\r\nlines"', "two\r\nlines"),
        ('"a\ttab"', "a\ttab"),
        ('"say ""hi"""', 'say "hi"'),
        ('""', ""),
        ('""""', '"'),
        ('"[{""role"": ""user""}]"', '[{"role": "user"}]'),
        ('[{"role": "user"}]', '[{"role": "user"}]'),
        ('a 5" screen', 'a 5" screen'),
        (' "blank before"', ' "blank before"'),
        ('"Hello" he said', "Hello he said"),
        ("\u2028and\x0b\x85\x1c are text", "\u2028and\x0b\x85\x1c are text"),
    ],
)
def test_quotes_are_those_of_the_csv_standard(tmp_path, cell, value):
    table = table_of(tmp_path, f"a\tb\tc\nfirst\t{cell}\tlast\nnext\t{cell}\t\n")
    assert rows_of(table) == [{"a": "first", "b": value, "c": "last"}, {"a": "next", "b": value, "c": ""}]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("bom", [b"", BOM], ids=["bare", "BOM"])
@pytest.mark.parametrize("final", [True, False], ids=["ended", "open"])
def test_every_line_end_and_a_byte_order_mark_are_read(tmp_path, line_end, bom, final):
    text = line_end.join(['"a"\tb', "1\t图", '"2"\t"two', 'lines"', "", "", "3\tx"]) + line_end * final
    table = table_of(tmp_path, bom + text.encode())
    assert table.columns == ("a", "b")
    assert rows_of(table) == [{"a": "1", "b": "图"}, {"a": "2", "b": f"two{line_end}lines"}, {"a": "3", "b": "x"}]
    assert [table.where(number) for number in range(3)] == [f"{table.path}:{line}" for line in (2, 3, 7)]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@given(data=st.data())
@settings(deadline=None)  # files are written
def test_what_the_csv_module_writes_is_read_back(scratch, delimiter, data):
    columns = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(TEXT, min_size=columns, max_size=columns), max_size=6))
    written = io.StringIO()
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    minimal = end == "\r\n" and data.draw(st.booleans())  # with another end csv leaves CR or LF unquoted
    quoting = csv.QUOTE_MINIMAL if minimal else csv.QUOTE_ALL
    writer = csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=quoting)
    header = [f"column {number}" for number in range(columns)]
    writer.writerows([header, *rows])
    bom = data.draw(st.sampled_from([b"", BOM]))
    table = table_of(scratch, bom + written.getvalue().encode(), ".csv" if delimiter == "," else ".tsv")
    assert table.columns == tuple(header)
    assert rows_of(table) == [dict(zip(header, row, strict=True)) for row in rows]
    for name, column in zip(header, zip(*rows, strict=True), strict=False):
        assert list(table.cells(name)) == list(column)


def test_a_short_row_has_none_for_the_cells_it_lacks(tmp_path):
    table = table_of(tmp_path, "a,b,c\n1\n1,2\n1,,\n", ".csv")
    assert rows_of(table) == [
        {"a": "1", "b": None, "c": None},
        {"a": "1", "b": "2", "c": None},
        {"a": "1", "b": "", "c": ""},
    ]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (b"1\t2\t3\n", "4 cells"),
        (b"1\t\xff\n", "'b'"),
        (b"1\tx\0y\n", "'b'"),
        (b'1\t"open\n', "'b'"),
    ],
    ids=["too many cells", "no UTF-8", "NUL", "open quote"],
)
def test_a_wrong_row_is_wrong_alone(tmp_path, row, told):
    row = b"1\t2\t3\t4\n" if told == "4 cells" else row
    table = table_of(tmp_path, b"a\tb\tc\ngood\t\t1\n" + row + b"good\t\t2\n")
    assert len(table) == 3
    assert reason(table, 1).startswith("table.tsv:3: ")
    assert told in reason(table, 1)
    assert [table.row(number)["c"] for number in (0, 2)] == ["1", "2"]
    assert list(table.cells("c")) == ["1", None, "2"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2,3\n", "table.csv:2: 3 cells, but the header names 2 columns; quote cells that hold the delimiter"),
        (b"a,b\n1,ab\xffc\n", "table.csv:2: column 'b': not UTF-8 text: invalid start byte at byte 2 of the cell"),
        (b"a,b\n\0,2\n", "table.csv:2: column 'a': a NUL at byte 0 of the cell"),
        (b'a,b\n1,"2\n', "table.csv:2: column 'b': the quote that opens this cell is never closed"),
        (b'a,b\n"1\n1","2\n', "table.csv:3: column 'b': the quote that opens this cell is never closed"),
        (b'a,b\n1,2,"3\n', "table.csv:2: cell 3: the quote that opens this cell is never closed"),
    ],
)
def test_a_wrong_row_is_told_with_line_and_column(tmp_path, data, message):
    assert reason(table_of(tmp_path, data, ".csv"), 0) == message


@pytest.mark.parametrize("later", ['4\t"quoted"\n', '"4"\tx\n', '4\t"x ""y"" z"\n', "4\tplain\n", '4\t"two\nlines"\n'])
def test_an_open_quote_spoils_no_row_after_its_own(tmp_path, later):
    table = table_of(tmp_path, f'a\tb\n1\tx\n2\t"open\n3\ty\n{later}5\tz\n')
    assert list(table.cells("a")) == ["1", None, "3", "4", "5"]
    assert reason(table, 1) == "table.tsv:3: column 'b': the quote that opens this cell is never closed"
    assert table.where(3) == f"{table.path}:5"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "table.tsv: empty; the first line has to name the columns"),
        (b"\n\r\n", "table.tsv: empty; the first line has to name the columns"),
        (BOM, "table.tsv: empty; the first line has to name the columns"),
        (b"a\tb\ta\n1\t2\t3\n", "table.tsv:1: two columns are named 'a'; rename one"),
        (b"\n\t\t\n1\t2\t3\n", "table.tsv:2: the header names no column"),
        (b'a\t"b\n1\t2\n', "table.tsv:1: cell 2: the quote that opens this cell is never closed"),
        (b"a\t\xfe\n", "table.tsv:1: header, cell 2: not UTF-8 text: invalid start byte at byte 0 of the cell"),
        (b"PK\x03\x04\0\0", "table.tsv:1: header, cell 1: a NUL at byte 4 of the cell"),
        ("a\tb\n".encode("utf-16"), "table.tsv: UTF-16 text; save it as UTF-8"),
    ],
)
def test_a_file_without_a_readable_header_is_an_error(tmp_path, data, message):
    with pytest.raises(DataError) as caught:
        table_of(tmp_path, data)
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "") == message


def test_a_header_alone_is_a_table_of_no_rows(tmp_path):
    table = table_of(tmp_path, "a\tb")
    assert (table.columns, len(table), list(table.cells("a"))) == (("a", "b"), 0, [])


def test_a_column_without_a_name_is_left_out_and_said_so(tmp_path, caplog):
    table = table_of(tmp_path, ",question,,answer\n0,why,x,because\n", ".csv")
    assert rows_of(table) == [{"question": "why", "answer": "because"}]
    assert caplog.messages == [f"{table.path}: column 1, 3 has no name and is left out"]


def test_an_unknown_column_has_no_cells(tmp_path):
    assert list(table_of(tmp_path, "a\n1\n2\n").cells("b")) == [None, None]


@pytest.mark.parametrize("number", [-1, 2])
def test_a_row_that_is_not_there_is_no_row(tmp_path, number):
    table = table_of(tmp_path, "a\n1\n2\n")
    with pytest.raises(IndexError):
        table.row(number)
    with pytest.raises(IndexError):
        table.where(number)


def test_a_cell_of_fifty_megabytes_is_read(tmp_path):
    image = "iVBORw0KGgo+/" * (50_000_000 // 13)
    table = table_of(tmp_path, f'index\timage\tanswer\n1\t"{image}"\tA\n2\t\tB\n')
    assert table.row(0) == {"index": "1", "image": image, "answer": "A"}
    assert table.row(1) == {"index": "2", "image": "", "answer": "B"}


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "table.tsv"
    with path.open("w") as file:
        file.write("index\timage\n")
        for number in range(100):
            file.write(f'{number}\t"{"x" * 400_000}"\n')  # 40 MB
    tracemalloc.start()
    table = open_table(path)
    assert list(table.cells("index")) == [str(number) for number in range(100)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000_000


def test_threads_read_the_rows_they_ask_for(tmp_path):
    table = table_of(tmp_path, "a\tb\n" + "".join(f'{number}\t"{number}\n{number}"\n' for number in range(500)))
    numbers = [(7 * step) % 500 for step in range(2000)]
    with ThreadPoolExecutor(8) as threads:
        rows = list(threads.map(table.row, numbers))
    assert rows == [{"a": str(number), "b": f"{number}\n{number}"} for number in numbers]


def test_a_file_that_changes_while_in_use_is_told(tmp_path):
    table = table_of(tmp_path, "a\tb\n1\t2\n")
    table.path.write_text("b\ta\n2\t1\nx\ty\n")
    assert reason(table, 0) == "table.tsv: the file was changed while it was in use; start again"


def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path):
    table = table_of(tmp_path, "a\n1\n")
    (tmp_path / "new").write_text("b\n2\n")
    os.replace(tmp_path / "new", table.path)
    assert rows_of(table) == [{"a": "1"}]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from([b'"', b'""', b",", b"\t", b"\n", b"\r", b"\r\n", b"a", b"\xff", b"\0", BOM]), max_size=60
        ).map(b"".join),
    )
)
@settings(deadline=None)  # files are written
def test_hostile_bytes_are_wrong_rows_or_a_wrong_file(scratch, suffix, data):
    try:
        table = table_of(scratch, data, suffix)
    except DataError:
        return
    places = []
    for number, cell in enumerate(table.cells(table.columns[0])):
        places.append(int(table.where(number).rpartition(":")[2]))
        try:
            row = table.row(number)
        except DataError:
            assert cell is None
        else:
            assert tuple(row) == table.columns
            assert row[table.columns[0]] == cell
    assert len(places) == len(table)
    assert places == sorted(places)


def test_a_scan_gives_the_raw_cells_of_named_columns_and_nothing_of_wrong_rows(scratch):
    table = table_of(scratch, b'a\tb\t\tc\n\xff\t"x\ty"\tz\t7\n1\n2\t3\t4\t5\t6\n"6\n')
    assert list(table.scan()) == [[b"\xff", b"x\ty", b"7"], [b"1"], None, None]


@given(
    data=st.lists(
        st.sampled_from([b'"', b'""', b'"x"', b"\t", b"\n", b"\r\n", b"a", b"\xc3\xa9"]), min_size=1, max_size=60
    ).map(b"".join)
)
@settings(deadline=None)  # files are written
def test_a_scan_of_a_table_that_is_opened_lazily_gives_what_its_rows_are(scratch, data):
    path = scratch / "lazy.tsv"
    path.write_bytes(b"a\t\tb\tc\n" + data)
    table = DelimitedTable(path, b"\t", lazy=True)
    scanned = list(table.scan())
    assert len(scanned) == len(table)
    for number, cells in enumerate(scanned):
        try:
            row = table.row(number)
        except DataError:
            assert cells is None
        else:
            assert [cell.decode() for cell in cells] == [cell for cell in row.values() if cell is not None]
