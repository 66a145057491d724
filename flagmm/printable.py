"""Texts that others wrote, made harmless for where they are shown: a terminal, a log, Markdown, a spreadsheet.

Names of groups and tasks come from data, error bodies from servers. Neither may move a terminal's cursor, forge a line
of the log, draw a link in a report, or run as a formula.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from typing import IO, Any

Show = Callable[[str], str]
"""How a text of others is written where it is shown."""

# C0 and C1, which move cursors and ring bells; line and paragraph separators; marks that turn the order of text round;
# lone surrogates, which no file can hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNPRINTABLE_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKDOWN = re.compile(
    r"[\\`*\[\]|<>&~]|(?<![^\W_])_|_(?![^\W_])|(?<=\w):(?=//)|(?<=www)\.|^(?=[#+-])|^ {4,}", re.IGNORECASE
)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_FORMULA = re.compile("[\\s\ufeff]*[=+@\uff1d\uff0b\uff20\t\r]|[\\s\ufeff]*[-\uff0d].")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?", re.IGNORECASE)


def printable(text: str) -> str:
    r"""The text on one line, with its control characters and marks of text direction written as escapes.

    >>> print(printable("a\x1b[31m\nb\u202e"))
    a\x1b[31m\nb\u202e
    """
    return _UNPRINTABLE.sub(_escape, text)


def printable_block(text: str) -> str:
    """As `printable`, of a text of several lines whose line ends and tabs are our own."""
    return _UNPRINTABLE_IN_BLOCK.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def markdown(text: str) -> str:
    r"""The text as a cell or a line of Markdown shows it letter by letter: no markup, link, HTML or further cell.

    >>> print(markdown("[x](y) a_b <i>"))
    \[x\](y) a_b &lt;i&gt;
    """
    return _MARKDOWN.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), printable(text))


def spreadsheet_cell(value: Any) -> Any:
    """The value of a cell of a file that people open in a spreadsheet; a text that would run as a formula gets a `'`.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("-5"), spreadsheet_cell(-5)
    ("'=1+1", '-5', -5)
    """
    if not isinstance(value, str):
        return value
    is_formula = _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return printable_block(f"'{value}" if is_formula else value)


class SpreadsheetWriter:
    """Writes rows of CSV for people and their spreadsheets; see `spreadsheet_cell`. Other tools' files are no such.

    Args:
        settings: of `csv.writer`.
    """

    def __init__(self, file: IO[str], **settings: Any) -> None:
        self._writer = csv.writer(file, lineterminator="\n", **settings)

    def writerow(self, cells: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow([spreadsheet_cell(cell) for cell in cells])

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write several."""
        for row in rows:
            self.writerow(row)
