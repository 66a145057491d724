"""What VLMEvalKit's scripts import from `vlmeval.smp`: tables to and from files, pictures to and from text.

A table is read with every cell as its text; a column becomes numbers only if none of its cells would change by it, so
that "007", "NA" and "1e5" stay what they are.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagmm.config.env import lmu_data_dir
from flagmm.errors import DataError
from flagmm.formats.table import open_table
from flagmm.formats.xlsx_table import read_xlsx
from flagmm.jsonio import plain, read_json, read_jsonl, write_text
from flagmm.report.spreadsheet import write_xlsx

if TYPE_CHECKING:
    import pandas as pd
    from PIL import Image

__all__ = [
    "LMUDataRoot", "d2df", "decode_base64_to_image", "decode_base64_to_image_file", "dump",
    "encode_image_file_to_base64", "encode_image_to_base64", "listinstr", "load",
]  # fmt: skip

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]*[1-9]|\.0)?")
_TABLES = (".xlsx", ".tsv", ".csv")


def LMUDataRoot() -> str:  # noqa: N802  # VLMEvalKit's name
    """The folder of tables, made if it is not there."""
    root = lmu_data_dir()
    root.mkdir(parents=True, exist_ok=True)
    return str(root)


def listinstr(lst: Iterable[str], s: str) -> bool:
    """Whether one of the texts is part of `s`."""
    return any(item in s for item in lst)


def load(f: str | os.PathLike[str]) -> Any:
    """The table in an xlsx, TSV or CSV file as a DataFrame, or the value in a JSON or JSON Lines file.

    Raises:
        DataError: it cannot be read, or has another ending.
    """
    path = Path(f)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return read_json(path)
    if suffix == ".jsonl":
        return [value for _, value in read_jsonl(path)]
    if suffix not in _TABLES:
        raise DataError(f"{path}: expected a file named {', '.join(_TABLES)}, .json or .jsonl")
    if suffix == ".xlsx":
        rows = read_xlsx(path)
        columns = list(rows[0]) if rows else []
    else:
        table = open_table(path)
        rows = [table.row(number) for number in range(len(table))]
        columns = list(table.columns)
    return _frame(rows, columns)


def dump(data: Any, f: str | os.PathLike[str], **_: Any) -> None:
    """Write a DataFrame as xlsx, TSV or CSV, or anything as JSON or JSON Lines.

    Raises:
        DataError: another ending.
        OutputError: the file cannot be written.
    """
    path = Path(f)
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(path, _json(_records(data), indent=4) + "\n")
    elif suffix == ".jsonl":
        write_text(path, "".join(f"{_json(value)}\n" for value in _records(data)))
    elif suffix in (".tsv", ".csv"):
        separator = "\t" if suffix == ".tsv" else ","
        write_text(path, data.to_csv(sep=separator, index=False, quoting=csv.QUOTE_ALL))
    elif suffix == ".xlsx":
        records = [{name: _cell(value) for name, value in record.items()} for record in data.to_dict("records")]
        write_xlsx(path, [str(name) for name in data.columns], records, whole="no other file")
    else:
        raise DataError(f"{path}: expected a name that ends in {', '.join(_TABLES)}, .json or .jsonl")


def d2df(D: Mapping[str, Any]) -> pd.DataFrame:  # noqa: N803  # VLMEvalKit's name
    """A DataFrame of one row."""
    import pandas as pd

    return pd.DataFrame({name: [value] for name, value in D.items()})


def encode_image_to_base64(img: Image.Image, target_size: int = -1, fmt: str = "JPEG") -> str:
    """A picture as base64 text, no side longer than `target_size`."""
    if img.mode not in ("RGB", "L"):
        img = img.convert("RGB")
    if target_size > 0:
        img = img.copy()
        img.thumbnail((target_size, target_size))
    buffer = io.BytesIO()
    img.save(buffer, format=fmt)
    return base64.b64encode(buffer.getvalue()).decode()


def encode_image_file_to_base64(image_path: str | os.PathLike[str], target_size: int = -1, fmt: str = "JPEG") -> str:
    """A picture's file as base64 text."""
    from PIL import Image

    with Image.open(image_path) as img:
        return encode_image_to_base64(img, target_size=target_size, fmt=fmt)


def decode_base64_to_image(base64_string: str, target_size: int = -1) -> Image.Image:
    """The picture in base64 text."""
    from PIL import Image

    img = Image.open(io.BytesIO(base64.b64decode(base64_string)))
    if target_size > 0:
        img.thumbnail((target_size, target_size))
    return img


def decode_base64_to_image_file(base64_string: str, image_path: str | os.PathLike[str], target_size: int = -1) -> None:
    """Save the picture in base64 text."""
    path = Path(image_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    img = decode_base64_to_image(base64_string, target_size=target_size)
    img.convert("RGB").save(path) if img.mode in ("RGBA", "P", "LA") else img.save(path)


def _frame(rows: Any, columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    cells = {name: [row.get(name) or None for row in rows] for name in columns}
    return pd.DataFrame({name: _series(values) for name, values in cells.items()})


def _series(values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    dtype = object if None in values else None  # in which None stays None
    return pd.Series(_numbers(values), dtype=dtype)


def _numbers(values: list[Any]) -> list[Any]:
    """The values as numbers if each is a number's own text, else as they are."""
    if not values or not all(isinstance(value, str) and _NUMBER.fullmatch(value) for value in values):
        return values
    return [float(value) for value in values] if any("." in value for value in values) else list(map(int, values))


def _records(data: Any) -> Any:
    return data.to_dict("records") if hasattr(data, "to_dict") and hasattr(data, "columns") else data


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=plain)


def _cell(value: Any) -> Any:
    """A cell as `write_xlsx` takes it; what pandas has for nothing is None."""
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value != value else value
