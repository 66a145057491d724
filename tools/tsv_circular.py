"""Ask every multiple-choice question once per rotation of its options, so that a favourite letter earns nothing.

    python tools/tsv_circular.py my_benchmark.tsv my_benchmark_circular.tsv

Copy number i of question n has the `index` n + i · 1,000,000 (or a multiple of it by ten, where an index is as large),
`g_index` n, and in `image` the index n, whose picture it shares. A question is asked only once where rotation would
change what its options say: where one is nothing but a letter of another, or names two of them ("Both A and B").
`TsvEvaluator` then calls a question right if all its copies are.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase

from flagmm.errors import DataError, FlagMMError
from flagmm.formats.lmu import LONGEST_REFERENCE
from flagmm.formats.table import Table, open_table
from flagmm.jsonio import AtomicFile

Row = dict[str, str]

_OFFSET = 1_000_000
_WORD = re.compile(r"[A-Za-z]+")
_OWN_COLUMNS = ("index", "g_index")


def write_rotations(source: Path, target: Path) -> tuple[int, int]:
    """Write the table with the copies of each question after it; (questions, rows).

    Raises:
        DataError: the table lacks a column, a row is malformed, or its answer is no letter of an option.
        OutputError: the file cannot be written.
    """
    table = open_table(source)
    for name in ("index", "A", "B"):
        if name not in table.columns:
            raise DataError(f"{source}: no column {name!r}; the columns are {', '.join(table.columns)}")
    offset = _offset(table)
    columns = [*table.columns, *(["g_index"] if "g_index" not in table.columns else [])]
    written = 0
    with AtomicFile(target) as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", restval="", lineterminator="\n")
        writer.writeheader()
        for number in range(len(table)):
            row = {name: cell or "" for name, cell in table.row(number).items()}
            for copy in rotations(row, offset=offset, where=table.where(number)):
                writer.writerow(copy)
                written += 1
    return len(table), written


def rotations(row: Row, *, offset: int = _OFFSET, where: str = "row") -> Iterator[Row]:
    """The row, then its copies; no copies where the options cannot be rotated.

    Raises:
        DataError: `answer` is filled and no letter of an option.
    """
    letters = [letter for letter in ascii_uppercase if row.get(letter)]
    texts, answer = [row[letter] for letter in letters], row.get("answer", "").strip()
    if answer and answer not in letters:
        raise DataError(f"{where}: answer: {answer!r} is no letter of an option ({', '.join(letters)})")
    yield {**row, "g_index": row["index"]}
    for shift in range(1, len(letters) if can_rotate(letters, texts) else 0):
        moved = dict(zip(letters, [*texts[shift:], *texts[:shift]], strict=True))
        image = row.get("image", "")
        yield {
            **row,
            **moved,
            **({"answer": letters[letters.index(answer) - shift]} if answer else {}),
            **({"image": row["index"] if len(image) > LONGEST_REFERENCE else image} if "image" in row else {}),
            "index": _copy_index(row["index"], shift, offset),
            "g_index": row["index"],
        }


def can_rotate(letters: list[str], texts: list[str]) -> bool:
    """Whether no option speaks of the others by letter.

    >>> can_rotate(["A", "B", "C"], ["a dog", "Plan B", "none"]), can_rotate(["A", "B", "C"], ["x", "y", "A and B"])
    (True, False)
    """
    for text in texts:
        named = {word for word in _WORD.findall(text) if word in letters}
        if len(named) > 1 or text.strip() in letters:
            return False
    return True


def _copy_index(index: str, shift: int, offset: int) -> str:
    return str(int(index) + shift * offset) if index.isdecimal() else f"{index}_{shift}"


def _offset(table: Table) -> int:
    """1,000,000, or so much more that no copy has the index of another row."""
    largest = max((int(cell) for cell in table.cells("index") if cell and cell.isdecimal()), default=0)
    offset = _OFFSET
    while largest >= offset:
        offset *= 10
    return offset


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="a table in VLMEvalKit's format")
    parser.add_argument("output", type=Path, help="the table to write")
    given = parser.parse_args(arguments)
    try:
        questions, rows = write_rotations(given.table, given.output)
    except FlagMMError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_status
    print(f"{given.output}: {questions} questions, {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
