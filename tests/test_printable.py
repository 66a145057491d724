"""Texts of others do no harm where they are shown."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.printable import SpreadsheetWriter, markdown, printable, printable_block, spreadsheet_cell


@given(st.text())
def test_nothing_that_moves_a_cursor_or_turns_text_round_is_left(text):
    for shown in (printable(text), markdown(text), printable_block(text).replace("\n", "").replace("\t", "")):
        assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)
        shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\r\nERROR b", "a\\r\\nERROR b"),
        ("\x9b2J \u202e \u2066 \x7f \ud800", "\\x9b2J \\u202e \\u2066 \\x7f \\ud800"),
        ("图 é ‏עברית", "图 é ‏עברית"),
    ],
)
def test_control_characters_are_written_as_escapes(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("colours_val", "colours_val"),
        ("[x](http://e.vil)", "\\[x\\](http\\://e.vil)"),
        ("<img src=x>&amp;", "&lt;img src=x&gt;&amp;amp;"),
        ("a|b`c`*d* ~e~ _f_", "a\\|b\\`c\\`\\*d\\* \\~e\\~ \\_f\\_"),
        ("# head", "\\# head"),
        ("a\nb", "a\\\\nb"),
    ],
)
def test_markdown_shows_a_name_letter_by_letter(text, shown):
    assert markdown(text) == shown


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"])
def test_a_formula_stays_a_text_in_a_spreadsheet(text):
    assert spreadsheet_cell(text).startswith("'")
    buffer = io.StringIO()
    SpreadsheetWriter(buffer).writerows([[text, -5]])
    (row,) = csv.reader(io.StringIO(buffer.getvalue(), newline=""))
    assert (row[0][0], row[1]) == ("'", "-5")


@pytest.mark.parametrize("value", [-5, 0.5, None, "-5", "+1.5e3", "-", "a=b", "colours", ""])
def test_what_is_no_formula_stays_as_it_is(value):
    assert spreadsheet_cell(value) == value
