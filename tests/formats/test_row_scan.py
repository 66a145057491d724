"""Where rows of a text file start, whatever pieces the file is read in."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from flagmm.formats.quoting import UnclosedQuoteError, lone_quote, split_cells, split_rows
from flagmm.formats.row_scan import index_lines, index_quoted_rows
from flagmm.formats.text_file import TextFile

CHUNKS = st.integers(1, 40)
PIECES = st.sampled_from(['"', '""', ",", "\n", "\r", "\r\n", "a", " ", "bcd", '"x"', ',"', '",', "\n\n"])
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


def file_of(folder, data):
    path = folder / "rows.txt"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return TextFile(path)


def rows_of(file, index):
    """Every row with its line, read one by one; read together they are the same."""
    rows = [index.read(file, number) for number in range(len(index))]
    assert list(index.read_all(file, 0)) == rows
    return list(zip([index.line(number) for number in range(len(index))], rows, strict=True))


def scanned(folder, text, chunk_size, delimiter=b","):
    file = file_of(folder, text)
    return rows_of(file, index_quoted_rows(file, delimiter, chunk_size=chunk_size))


def cells_of(rows):
    return [[cell.decode() for cell in split_cells(row.rstrip(b"\r\n"), b",")] for _, row in rows]


def read_by_csv(text, *, strict):
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=strict) if row]


@given(text=TEXTS, chunk_size=CHUNKS)
@example(text='a\r\n"b\r\nc",d\r\n', chunk_size=2)
@example(text='"a""",b\n', chunk_size=4)
@settings(deadline=None)  # files are written
def test_text_that_keeps_the_standard_has_the_rows_that_csv_finds(scratch, text, chunk_size):
    try:
        expected = read_by_csv(text, strict=True)
    except csv.Error:
        assume(False)
    assert cells_of(scanned(scratch, text, chunk_size)) == expected


@given(text=st.lists(st.sampled_from(['"', '""', ",", "a", " ", "\n"]), max_size=30).map("".join))
def test_what_follows_a_closing_quote_is_added_as_csv_does(text):
    for line in text.split("\n"):
        expected = read_by_csv(line, strict=False) or [[""]]
        try:
            assert [[cell.decode() for cell in split_cells(line.encode(), b",")]] == expected
        except UnclosedQuoteError:
            assert read_by_csv(line + "\nx", strict=False)[-1][-1].endswith("\nx")


@given(text=st.one_of(TEXTS, st.binary(max_size=60).map(lambda data: b"a" + data)), chunk_size=CHUNKS)
@example(text='a,"b\nc"d\n"e"\n', chunk_size=3)
@example(text='\n\n\n"a,"b\r\n\r\n\xff"c\r"""\n', chunk_size=1)
@settings(deadline=None)  # files are written
def test_rows_do_not_depend_on_the_pieces_that_a_file_is_read_in(scratch, text, chunk_size):
    assert scanned(scratch, text, chunk_size) == scanned(scratch, text, 1000)


@given(text=TEXTS, chunk_size=CHUNKS)
@settings(deadline=None)  # files are written
def test_rows_are_the_file_and_know_their_lines(scratch, text, chunk_size):
    whole = text.encode()
    rows = scanned(scratch, text, chunk_size)
    assert b"".join(row for _, row in rows) == whole.lstrip(b"\r\n")
    position = len(whole) - len(whole.lstrip(b"\r\n"))
    for line, row in rows:
        assert line == 1 + len((whole[:position] + b"x").splitlines()) - 1
        position += len(row)


@given(
    lines=st.lists(st.sampled_from([b"", b" ", b"\t ", b"{}", b' "a" ', b"x" * 50, b" " * 100]), max_size=12),
    data=st.data(),
)
@settings(deadline=None)  # files are written
def test_every_line_with_something_on_it_is_a_row(scratch, lines, data):
    end = data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    file = file_of(scratch, end.join(lines))
    index = index_lines(file, chunk_size=data.draw(CHUNKS))
    expected = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    assert [(line, row.strip()) for line, row in rows_of(file, index)] == expected


@pytest.mark.parametrize("width", [250, 255, 256, 257, 1000, 5000, 2_000_000])
@pytest.mark.parametrize("filling", ["x", '""', 'x""'])
def test_the_quote_that_ends_a_cell_is_found_far_away(width, filling):
    text = (filling * width)[: width - width % len(filling)].encode()
    assert lone_quote(text + b'"', 0) == len(text)
    assert lone_quote(text + b'",y', 0) == len(text)
    assert lone_quote(text, 0) == -1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(
    ("count", "cell"),
    [
        (20_000, "{0}"),
        (20_000, '"{0}"'),
        (20_000, '"line{end}""{0}"""'),
        (20_000, '[{{"role": "user"}}]'),
        (20_000, 'a 5" screen,"line{end}{0}"'),
        (20, '"{filling}"'),
        (20, '"line{end}{filling}",a 5" screen'),
        (5, '"{filling}""{filling}{filling}{end}{filling}{filling}{filling}{filling}"'),
    ],
    ids=["plain", "quoted", "lines", "text quotes", "mixed", "long quoted", "long mixed", "longer than a chunk"],
)
def test_rows_of_every_kind_are_found_in_large_files(tmp_path, count, cell, end):
    filling = "iVBORw0KGgo/" * 20_000
    rows = [f"{number},{cell},x{end}".format(number, end=end, filling=filling) for number in range(count)]
    file = file_of(tmp_path, "".join(rows))  # several chunks of the real size
    found = rows_of(file, index_quoted_rows(file, b","))
    assert [row.decode() for _, row in found] == rows
    lines = rows[0].count(end)
    assert [line for line, _ in found] == list(range(1, count * lines + 1, lines))


@pytest.mark.parametrize("width", [40, 1000, 100_000, 3_000_000])
def test_lines_of_every_width_are_found_in_large_files(tmp_path, width):
    lines = [f'{{"{number}": "{"x" * width}"}}\n' for number in range(3 + 2_000_000 // (width + 10))]
    file = file_of(tmp_path, "\n \n".join(lines))
    found = rows_of(file, index_lines(file))
    assert [row.split(b"\n")[0].decode() + "\n" for _, row in found] == lines
    assert [line for line, _ in found] == list(range(1, 3 * len(lines), 3))


MARKS = st.lists(st.sampled_from(['"', '""', ",", "a", " ", "\0", "é", "\x85", "\u2028"]), max_size=8).map("".join)
ROWS = st.lists(MARKS.map(str.encode) | st.binary(max_size=8).map(lambda row: row.translate(None, b"\r\n")), min_size=1)


@given(rows=ROWS.map(lambda rows: [row or b"x" for row in rows]), end=st.sampled_from(["", "\n"]))
@example(rows=[b'"a', b'b"', b"c"], end="\n")
@example(rows=[b"a", b'b,"c'], end="\n")
@example(rows=[b'a,"b""c",d', b'"\xff",""', b'"x"y"z'], end="\r\n\n")
def test_many_rows_are_split_as_each_one_is(rows, end):
    found = split_rows([row + end.encode() for row in rows], b",")
    try:
        expected = [split_cells(row, b",") for row in rows]
    except UnclosedQuoteError:
        assert found is None
    else:
        assert found is None or list(found) == expected
        assert found is not None or b"\0" in b"".join(rows)


@pytest.mark.parametrize("row", [b"x" * 2000, b'"' + b"x" * 200_000 + b'"'])
def test_long_rows_are_left_to_a_look_at_each(row):
    assert split_rows([row, row], b",") is None
    assert split_rows([b"a,b\n", b'"a",b'], b",") is not None


@given(text=TEXTS, chunk_size=CHUNKS)
@settings(deadline=None)  # files are written
def test_rows_may_be_found_while_they_are_read(scratch, text, chunk_size):
    file = file_of(scratch, text)
    complete = index_quoted_rows(file, b",", chunk_size=chunk_size)
    complete.complete()
    growing = index_quoted_rows(file, b",", chunk_size=chunk_size)
    assert growing.has(0) is (len(complete) > 0)
    assert list(growing.read_all(file, 0)) == list(complete.read_all(file, 0))
    assert (list(growing.starts), list(growing.lines)) == (list(complete.starts), list(complete.lines))
    assert not growing.has(len(complete))
