"""Make a table in VLMEvalKit's format out of a folder of pictures and a table of questions.

    python tools/tsv_from_folder.py pictures questions.csv my_benchmark.tsv

`questions.csv` (or .tsv, .jsonl, .parquet) has the columns of the benchmark: `question`, options in `A`, `B`, …,
`answer`, `category`, …; and in `image_path` a picture's name in the folder, or a Python list of several. Rows without
`index` are numbered from 1. Pictures are put into `image` as base64; a row with the pictures of an earlier one names
that row. `--paths` leaves them where they are and writes absolute paths. A name may not lead out of the folder, by
`..`, a link or as an absolute path, unless into one that `--allow-media-root` names.
"""

from __future__ import annotations

import argparse
import base64
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flagmm.errors import DataError, FlagMMError
from flagmm.formats.lmu import LONGEST_REFERENCE, parse_list_cell
from flagmm.formats.table import Table, open_table
from flagmm.jsonio import AtomicFile
from flagmm.media.places import MediaRoots
from flagmm.media.reading import read_file
from flagmm.media.sniff import sniff_family

Row = dict[str, Any]

_PATHS, _PICTURES = "image_path", "image"


def write_benchmark(
    folder: Path, questions: Path, target: Path, *, keeps_paths: bool = False, allowed: Sequence[Path] = ()
) -> int:
    """Write the table; how many rows it has.

    Args:
        allowed: further folders that pictures may be in.

    Raises:
        DataError: there are no questions, a picture is missing, elsewhere or none, or an index is there twice.
        OutputError: the file cannot be written.
    """
    table = open_table(questions)
    if "question" not in table.columns:
        raise DataError(f"{questions}: no column 'question'; the columns are {', '.join(table.columns)}")
    kept = [name for name in table.columns if name not in ("index", _PICTURES, _PATHS)]
    has_pictures = _PATHS in table.columns
    pictures = ([_PATHS] if keeps_paths else [_PICTURES]) if has_pictures else []
    with AtomicFile(target) as file:
        writer = csv.DictWriter(file, ["index", *kept, *pictures], delimiter="\t", restval="", lineterminator="\n")
        writer.writeheader()
        for row in _rows(table, folder, MediaRoots((folder, *allowed)), keeps_paths=keeps_paths):
            writer.writerow({name: row.get(name) for name in writer.fieldnames})
    return len(table)


def _rows(table: Table, folder: Path, roots: MediaRoots, *, keeps_paths: bool) -> Iterator[Row]:
    owners: dict[tuple[Path, ...], str] = {}  # index of the row that holds these pictures
    indexes: set[str] = set()
    for number in range(len(table)):
        row = table.row(number)
        index = str(row.get("index") or number + 1)
        if index in indexes:
            raise DataError(f"{table.where(number)}: a second row with the index {index!r}")
        indexes.add(index)
        paths = _paths(row.get(_PATHS), folder, table.where(number))
        for path in paths:
            roots.check(str(path), str(path), of=f"the folder of pictures ({folder})")
        yield {**row, "index": index, _PATHS: _cell([str(path.resolve()) for path in paths])} | (
            {} if keeps_paths else {_PICTURES: _picture_cell(paths, index, owners)}
        )


def _paths(cell: Any, folder: Path, where: str) -> tuple[Path, ...]:
    if not cell:
        return ()
    names = parse_list_cell(cell) if isinstance(cell, str) else [str(name) for name in cell]
    paths = tuple(folder / name for name in names)
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None:
        raise DataError(f"{where}: {_PATHS}: {missing}: no such file")
    return paths


def _picture_cell(paths: tuple[Path, ...], index: str, owners: dict[tuple[Path, ...], str]) -> str:
    if not paths:
        return ""
    owner = owners.setdefault(paths, index)
    is_named = owner != index and len(owner) <= LONGEST_REFERENCE
    return owner if is_named else _cell([_encoded(path) for path in paths])


def _encoded(path: Path) -> str:
    data = read_file(str(path))
    if sniff_family(data) not in ("image", None):
        raise DataError(f"{path}: no picture")
    return base64.b64encode(data).decode("ascii")


def _cell(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else str(texts) if texts else ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pictures are")
    parser.add_argument("questions", type=Path, help="a .csv, .tsv, .jsonl or .parquet file")
    parser.add_argument("output", type=Path, help="the table to write")
    parser.add_argument("--paths", action="store_true", help="write paths instead of base64")
    parser.add_argument(
        "--allow-media-root", type=Path, action="append", default=[], metavar="DIR", help="a further folder of pictures"
    )
    given = parser.parse_args(arguments)
    allowed = given.allow_media_root
    try:
        rows = write_benchmark(given.folder, given.questions, given.output, keeps_paths=given.paths, allowed=allowed)
    except FlagMMError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_status
    print(f"{given.output}: {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
