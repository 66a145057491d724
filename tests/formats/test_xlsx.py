"""Texts in cells of a sheet: every text that goes in comes out."""

from __future__ import annotations

import zipfile

import openpyxl
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flagmm.errors import DataError, OutputError
from flagmm.formats.xlsx_table import read_xlsx
from flagmm.formats.xlsx_text import CUT_COLUMN, LONGEST_CELL, cell_length, cut_cell, escape_cell, unescape_cell
from flagmm.report.spreadsheet import MOST_ROWS, write_xlsx

ODD = {
    "a formula": "=cmd()",
    "a formula of numbers": "=1+1",
    "an equals sign": "=",
    "a formula in braces": "{=SUM(A1)}",
    "a plus": "+1",
    "a minus": "-2+3",
    "an at": "@SUM(1)",
    "an error": "#N/A",
    "another error": "#REF!",
    "a URL": "https://example.com/a?b=c#d",
    "a long answer that begins with a URL": "http://example.com/ " + "word " * 1000,
    "a URL of more than 2079 characters": "https://example.com/" + "a" * 3000,
    "mailto": "mailto:a@b.c",
    "internal": "internal:Sheet2!A1",
    "a long number": "12345678901234567890123",
    "zeros in front": "007",
    "an exponent": "1e5",
    "true": "TRUE",
    "a date": "2024-01-02",
    "None": "None",
    "NA": "NA",
    "nan": "nan",
    "a bell": "\x07ring\x1b[0m",
    "line ends": "a\rb\r\nc\nd",
    "blanks": "  a  ",
    "a tab": "\t",
    "an escape": "_x0041_",
    "half an escape": "_x0041\x01",
    "a lone surrogate": "\ud83d",
    "no character": "\ufffe\uffff",
    "markup": "<b>&amp;]]></b>",
    "a quote": "'quoted",
    "the longest": "x" * LONGEST_CELL,
}
TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.text("_x0041F\x01\r =<&", max_size=20)


def round_trip(tmp_path, text: str) -> str | None:
    path = tmp_path / "a.xlsx"
    write_xlsx(path, ["index", "prediction"], [{"index": 1, "prediction": text}], whole="a.tsv")
    [row] = read_xlsx(path)
    assert row["index"] == "1"
    return row["prediction"]


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_a_text_survives_a_sheet(tmp_path, text):
    assert round_trip(tmp_path, text) == text


@given(text=TEXT)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_a_sheet(tmp_path, text):
    assert (round_trip(tmp_path, text) or "") == text


@given(text=TEXT)
def test_an_escaped_text_is_read_back(text):
    assert unescape_cell(escape_cell(text)) == text


@given(text=st.text("aé😀\x01_x0041", min_size=1, max_size=20), times=st.integers(1000, 12_000))
@settings(max_examples=40, deadline=None)
def test_a_cut_text_fits_and_keeps_its_beginning(text, times):
    cut = cut_cell(text * times, "… [cut]")
    assert cell_length(cut) <= LONGEST_CELL
    assert cut.endswith("… [cut]")
    assert (text * times).startswith(unescape_cell(cut.removesuffix("… [cut]")))


@pytest.mark.parametrize("text", ["=cmd()", "#N/A", "12345678901234567890", "https://example.com"])
def test_other_programs_see_text_and_nothing_else(tmp_path, text):
    round_trip(tmp_path, text)
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert (sheet["B2"].data_type, sheet["B2"].value, sheet["B2"].hyperlink) == ("s", text, None)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")


def test_a_formula_stays_text_when_a_person_edits_it(tmp_path):
    round_trip(tmp_path, "=cmd()")
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").active["B2"].quotePrefix


@pytest.mark.parametrize(
    "text",
    ["x" * (LONGEST_CELL + 1), "😀" * (LONGEST_CELL // 2 + 1), "\x01" * (LONGEST_CELL // 7 + 1)],
    ids=["letters", "characters of two units", "escapes"],
)
def test_a_text_that_is_too_long_says_so_in_its_cell_and_its_row(tmp_path, text):
    path = tmp_path / "a.xlsx"
    rows = [{"index": 1, "prediction": "short"}, {"index": 2, "prediction": text}]
    write_xlsx(path, ["index", "prediction"], rows, whole="a.tsv")
    short, long = read_xlsx(path)
    assert (short[CUT_COLUMN], long[CUT_COLUMN]) == (None, "prediction")
    assert long["prediction"].endswith(f"… [cut here: {len(text)} characters; whole in a.tsv]")


def test_no_row_says_so_where_all_fit(tmp_path):
    round_trip(tmp_path, "x" * LONGEST_CELL)
    assert list(read_xlsx(tmp_path / "a.xlsx")[0]) == ["index", "prediction"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [(7, "n"), (0.25, "n"), (10**16, "s"), (True, "s"), (123456789012345678, "s")],
)
def test_only_numbers_that_a_sheet_holds_exactly_are_numbers(tmp_path, value, kind):
    path = tmp_path / "a.xlsx"
    write_xlsx(path, ["index"], [{"index": value}], whole="a.tsv")
    assert openpyxl.load_workbook(path).active["A2"].data_type == kind
    assert read_xlsx(path)[0]["index"] == str(value)


def test_a_sheet_has_a_last_line(tmp_path):
    with pytest.raises(OutputError, match="1048576 rows, and a sheet holds 1048575; set PRED_FORMAT=tsv"):
        write_xlsx(tmp_path / "a.xlsx", ["index"], [{"index": 1}] * (MOST_ROWS + 1), whole="a.tsv")
    assert list(tmp_path.iterdir()) == []


def test_what_another_program_took_for_a_formula_is_the_text_again(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["index", "prediction"])
    book.active.append([1, "=1+1"])
    assert book.active["B2"].data_type == "f"
    book.save(tmp_path / "a.xlsx")
    assert read_xlsx(tmp_path / "a.xlsx") == [{"index": "1", "prediction": "=1+1"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no zip", "no xlsx file that can be read"), (b"", "no xlsx file that can be read")],
)
def test_what_is_no_sheet_is_told(tmp_path, content, message):
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_xlsx(path)


def test_a_zip_of_something_else_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as file:
        file.writestr("a.txt", "a")
    with pytest.raises(DataError, match=r"a\.xlsx: no xlsx file that can be read"):
        read_xlsx(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("header", "message"), [(["a", "a"], "two columns are named 'a'"), ([None, 1], None), ([], "empty")]
)
def test_a_header_names_the_columns(tmp_path, header, message):
    book = openpyxl.Workbook()
    if header:
        book.active.append(header)
        book.active.append([1, 2])
    book.save(tmp_path / "a.xlsx")
    if message is None:
        assert read_xlsx(tmp_path / "a.xlsx") == [{"1": "2"}]
    else:
        with pytest.raises(DataError, match=message):
            read_xlsx(tmp_path / "a.xlsx")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_xlsx(tmp_path / "a.xlsx")


def test_pandas_reads_a_sheet_as_it_was(tmp_path):
    path = tmp_path / "a.xlsx"
    write_xlsx(path, ["index", "prediction"], [{"index": 1, "prediction": "=cmd()"}], whole="a.tsv")
    assert pandas.read_excel(path).to_dict("records") == [{"index": 1, "prediction": "=cmd()"}]


SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>{index}</v></c></row>
</sheetData></worksheet>"""
STRINGS = """<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="2" uniqueCount="2">
<si><t>index</t></si><si><t>seven</t></si></sst>"""


def with_shared_texts(path, *, index="1", strings=STRINGS, without=()):
    """A sheet whose cells are numbers of texts kept apart, as most programs write it."""
    plain = path.with_name("plain.xlsx")
    openpyxl.Workbook().save(plain)
    of_strings = (
        '<Override PartName="/xl/sharedStrings.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in set(old.namelist()) - {"xl/sharedStrings.xml"} - set(without):
            text = old.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                text = SHEET.format(index=index)
            elif name == "[Content_Types].xml" and "sharedStrings" not in text:
                text = text.replace("</Types>", of_strings)
            new.writestr(name, text)
        if strings is not None:
            new.writestr("xl/sharedStrings.xml", strings)
    return path


def test_texts_that_are_kept_apart_are_read(tmp_path):
    assert read_xlsx(with_shared_texts(tmp_path / "a.xlsx")) == [{"index": "seven"}]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"index": "99"}, "a cell names a text that is not there"),
        ({"index": "-9"}, "a cell names a text that is not there"),
        ({"index": "x"}, "invalid literal"),
        ({"strings": STRINGS[:-20]}, "."),
        ({"strings": None}, "."),
        ({"without": ["xl/worksheets/sheet1.xml"]}, "it has no sheet"),
        ({"without": ["xl/workbook.xml"]}, "xl/workbook.xml"),
        ({"without": ["xl/_rels/workbook.xml.rels"]}, "workbook.xml.rels"),
    ],
    ids=str,
)
def test_a_damaged_sheet_is_told_as_such(tmp_path, damage, message):
    path = with_shared_texts(tmp_path / "a.xlsx", **damage)
    with pytest.raises(DataError, match=rf"a\.xlsx: no xlsx file that can be read: .*{message}"):
        read_xlsx(path)
