"""Write the scored answers of a results directory as spreadsheets, one for each task, and one of all scores.

    python tools/results_to_xlsx.py results/my-model
    python tools/results_to_xlsx.py results/my-model --output-dir sheets

`<task>.xlsx` has a row for each question: what was asked and answered, what was read out of it, and whether it is
right. Texts stay texts (`=cmd()`, `007`, URLs); one that is too long for a cell says so and names the JSON that has it.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagmm.errors import DataError, FlagMMError
from flagmm.jsonio import read_json, read_text
from flagmm.paths import RunPaths, TaskPaths, evaluated_tasks
from flagmm.report.spreadsheet import write_xlsx

FIRST = (
    "question_id",
    "question",
    "answer",
    "label",
    "extracted",
    "correct",
    "rule",
    "status",
    "finish_reason",
    "reason",
)
LEFT_OUT = frozenset({"request", "usage", "media", "raw_answer", "statuses"})


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse_arguments(arguments)
    try:
        written = write_sheets(args.results, args.output_dir or args.results)
    except FlagMMError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    for path in written:
        print(path)
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write scored answers as spreadsheets.")
    parser.add_argument("results", type=Path, metavar="DIR", help="results directory, or the folder of a task in one")
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="folder of the sheets; default: DIR itself")
    return parser.parse_args(arguments)


def write_sheets(results: Path, output: Path) -> list[Path]:
    """The paths of the sheets that were written."""
    tasks = evaluated_tasks(results)
    if not tasks:
        raise DataError(f"{results}: no <task>_evaluated.json in it; score it first")
    written = [write_task(task, output) for task in tasks]
    summary = RunPaths(results).summary("csv")
    if summary.is_file():
        rows = list(csv.DictReader(io.StringIO(read_text(summary))))
        path = output / "summary.xlsx"
        write_xlsx(path, list(rows[0]) if rows else ["task"], rows, whole=summary.name)
        written.append(path)
    return written


def write_task(task: TaskPaths, output: Path) -> Path:
    """The sheet of one task."""
    entries = read_json(task.evaluated)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{task.evaluated}: expected a list of scored answers")
    names = dict.fromkeys(name for entry in entries for name in entry)
    columns = [name for name in FIRST if name in names]
    columns += [name for name in names if name not in columns and name not in LEFT_OUT]
    rows = [{name: cell(entry.get(name)) for name in columns} for entry in entries]
    path = output / f"{task.name}.xlsx"
    write_xlsx(path, columns or ["question_id"], rows, whole=task.evaluated.name)
    return path


def cell(value: Any) -> Any:
    """A value as a cell holds it; lists and objects as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


if __name__ == "__main__":
    sys.exit(main())
