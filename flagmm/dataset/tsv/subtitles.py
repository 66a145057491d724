"""The words of a subtitle file, for models that do not hear a video."""

from __future__ import annotations

import re

from flagmm.dataset.general.parts import located
from flagmm.dataset.tsv.places import TablePlaces
from flagmm.dataset.tsv.rows import Record
from flagmm.jsonio import read_text

_INTRODUCTION = "These are the subtitles of the video:\n"
_TIME = re.compile(r"\s*[\d:.,]+\s*-->.*")
_TAG = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")


def read_subtitles(record: Record, places: TablePlaces) -> str:
    """The text to put before the question of a row; "" where it names no subtitles.

    Raises:
        DataError: the file is missing, or no text.
    """
    if "subtitle_path" not in record:
        return ""
    with located("subtitle_path"):
        source = places.locate(record["subtitle_path"])
        lines = spoken_lines(read_text(source.path or record["subtitle_path"]))
    return f"{_INTRODUCTION}{' '.join(lines)}\n" if lines else ""


def spoken_lines(text: str) -> list[str]:
    """The words of an SRT or WebVTT file, numbers, times and markup left out.

    >>> spoken_lines("1\\n00:00:01,000 --> 00:00:02,000\\n<i>Hello</i>\\n\\n2\\n00:00:03,000 --> 00:00:04,000\\nBye\\n")
    ['Hello', 'Bye']
    """
    lines = text.splitlines()
    following = [*lines[1:], ""]
    words = [
        _TAG.sub("", line).strip()
        for line, after in zip(lines, following, strict=False)
        if not _TIME.fullmatch(line) and not _TIME.fullmatch(after) and line.strip() != "WEBVTT"
    ]
    return [word for word in words if word]
