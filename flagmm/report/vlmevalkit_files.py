"""VLMEvalKit's files of a run: `<model>_<dataset>.xlsx` (or .tsv, .json) and `<model>_<dataset>_acc.csv`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.config.env import prediction_format, splits_thinking
from flagmm.dataset.sample import Dataset
from flagmm.evaluator.answers import read_answers
from flagmm.jsonio import AtomicFile, write_records
from flagmm.paths import TaskPaths, safe_name
from flagmm.report.prediction_table import PredictionTable, prediction_table
from flagmm.report.spreadsheet import has_long_cell, write_xlsx
from flagmm.report.vlmevalkit import score_records, score_suffix, write_acc_csv
from flagmm.types import TaskResult

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class VlmevalkitExport:
    """Writes these files of each task of one model into a folder.

    Args:
        folder: of the files.
        model: what they are named after.
    """

    folder: Path
    model: str

    def __post_init__(self) -> None:
        prediction_format()  # a wrong one is told before a model was asked

    def __call__(self, dataset: Dataset, paths: TaskPaths, result: TaskResult | None) -> list[Path]:
        """Write the files of one task and return their paths.

        Raises:
            DataError: there are no answers.
            ConfigError: PRED_FORMAT names no format.
            OutputError: a file cannot be written.
        """
        answers = read_answers(paths.answers, dataset.get_annotation())
        table = prediction_table(dataset, answers, split_think=splits_thinking())
        written = write_predictions(self.stem(dataset.name), table, prediction_format())
        if result is not None:
            written += VlmevalkitScores(self.stem(dataset.name))(dataset, paths, result)
        logger.info("%s: %s", dataset.name, ", ".join(map(str, written)))
        return written

    def stem(self, dataset: str) -> Path:
        """The files' path without ending."""
        return self.folder / file_stem(self.model, dataset)


@dataclass(frozen=True)
class VlmevalkitScores:
    """Writes only the table of scores of a task.

    Args:
        stem: path of the file of predictions, without ending.
    """

    stem: Path

    def __call__(self, dataset: Dataset, paths: TaskPaths, result: TaskResult) -> list[Path]:
        """Write `<stem>_acc.csv` or `<stem>_score.csv`, where the task was scored as VLMEvalKit does."""
        report = result.details.get("report")
        if not isinstance(report, Mapping):
            return []
        if own := report.get("files"):  # the task's own scoring has written its table itself
            return [self.stem.with_name(name) for name in own]
        path = self.stem.with_name(f"{self.stem.name}_{score_suffix(result)}")
        write_acc_csv(path, score_records(result))
        return [path]


def file_stem(model: str, dataset: str) -> str:
    """The name that VLMEvalKit gives to the files of a model and a data set.

    >>> file_stem("Qwen/Qwen2-VL", "custom_mcq")
    'Qwen2-VL_custom_mcq'
    """
    return safe_name(f"{model.rpartition('/')[2]}_{dataset}")


def write_predictions(stem: Path, table: PredictionTable, kind: str) -> list[Path]:
    """Write a table of predictions; an xlsx whose cells cannot hold all of it has a TSV of the whole beside it.

    Args:
        stem: the path without ending.
        kind: "xlsx", "tsv" or "json".
    """
    path = stem.with_name(f"{stem.name}.{kind}")
    if kind == "json":
        write_records(path, _full(table))
        return [path]
    if kind == "tsv":
        _write_tsv(path, table)
        return [path]
    whole = stem.with_name(f"{stem.name}.tsv")
    written = [path]
    if has_long_cell(table.rows):
        _write_tsv(whole, table)
        logger.warning("%s: a spreadsheet's cell cannot hold some of the texts; they are whole in %s", path, whole)
        written.append(whole)
    write_xlsx(path, table.columns, table.rows, whole=whole.name)
    return written


def _full(table: PredictionTable) -> Iterator[dict[str, Any]]:
    return ({name: row.get(name) for name in table.columns} for row in table.rows)


def _write_tsv(path: Path, table: PredictionTable) -> None:
    """Every cell in quotes, as VLMEvalKit writes it; a NUL, which no such file may hold, becomes its picture."""
    with AtomicFile(path) as file:
        file.write(_line(table.columns))
        file.writelines(_line(row.values()) for row in _full(table))
    if any("\0" in value for row in table.rows for value in row.values() if isinstance(value, str)):
        logger.warning("%s: NUL characters, which a TSV cannot hold, are there as ␀; PRED_FORMAT=json keeps them", path)


def _line(values: Any) -> str:
    cells = ("" if value is None else str(value) for value in values)
    return "\t".join(f'"{cell}"' for cell in (cell.replace('"', '""').replace("\0", "␀") for cell in cells)) + "\n"
