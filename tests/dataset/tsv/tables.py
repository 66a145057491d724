"""Small tables in VLMEvalKit's format, and samples in a form that is easy to compare."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from flagmm.types import Sample, TextPart

_LONGER_THAN_A_NAME = 65


def picture(colour: str, form: str = "PNG") -> bytes:
    """A small picture whose base64 is too long to name a row."""
    file = io.BytesIO()
    Image.new("RGB", (16, 12), colour).save(file, form)
    assert len(base64.b64encode(file.getvalue())) >= _LONGER_THAN_A_NAME
    return file.getvalue()


def encoded(colour: str, form: str = "PNG") -> str:
    return base64.b64encode(picture(colour, form)).decode()


def write_table(path: Path, *rows: Mapping[str, str]) -> Path:
    """A TSV with a column for every key."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def mcq(index: str = "1", **cells: str) -> dict[str, str]:
    return {"index": index, "question": "Which?", "A": "one", "B": "two", "answer": "A", **cells}


def shown(sample: Sample) -> list[Any]:
    """The parts of the only message: texts, and the bytes or the path of media."""
    [message] = sample.messages
    return [part.text if isinstance(part, TextPart) else _medium(part.source) for part in message.content]


def _medium(source: Any) -> Any:
    if source.path is not None:
        return Path(source.path).read_bytes()
    return source.url or source.data


def pictures(sample: Sample) -> Sequence[Any]:
    """The sources of the pictures in order."""
    [message] = sample.messages
    return [part.source for part in message.content if not isinstance(part, TextPart)]
