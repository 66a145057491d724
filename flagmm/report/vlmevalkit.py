"""VLMEvalKit's tables of scores, `…_acc.csv` and `…_score.csv`, in the layout of its own files."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.jsonio import AtomicFile
from flagmm.printable import SpreadsheetWriter
from flagmm.types import TaskResult

Record = Mapping[str, Any]

_SCORE = "yes-no"


def score_records(result: TaskResult) -> list[dict[str, Any]]:
    """The rows of the table that VLMEvalKit would write for a task that `TsvEvaluator` scored.

    Shares of choices are fractions, all other scores percentages; both are not rounded.

    Raises:
        DataError: the result is another evaluator's.
    """
    report = _report(result)
    return [dict(record) for record in report["rows"]]


def score_suffix(result: TaskResult) -> str:
    """How the name of that file ends: "acc.csv", or "score.csv" for yes-no questions; raises as `score_records`."""
    return "score.csv" if _report(result)["kind"] == _SCORE else "acc.csv"


def write_acc_csv(path: Path, records: Sequence[Record]) -> None:
    """Write the rows of a table, every cell in quotes, atomically; columns in the order in which rows name them.

    A text that a spreadsheet would run as a formula has a `'` before it.

    Raises:
        OutputError: the file cannot be written.
    """
    columns = list(dict.fromkeys(name for record in records for name in record))
    with AtomicFile(path) as file:
        writer = SpreadsheetWriter(file, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows([_cell(record.get(name)) for name in columns] for record in records)


def _cell(value: Any) -> str:
    """A cell's text; nothing for what has no score."""
    return "" if value is None else str(value)


def _report(result: TaskResult) -> Mapping[str, Any]:
    report = result.metrics.get("report", result.details.get("report"))
    if not isinstance(report, Mapping) or "rows" not in report:
        raise DataError(f"{result.task}: its result holds no table of VLMEvalKit's; score it with TsvEvaluator")
    return report
