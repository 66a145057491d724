"""DATASET_TYPE and DATASET_MODALITY: what a data set's name stands for, as models with prompts of their own ask."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from flagmm.config.env import lmu_data_dir
from flagmm.formats.table import open_table

__all__ = ["DATASET_MODALITY", "DATASET_TYPE"]

_PICTURES = frozenset({"image", "image_path"})
_VIDEOS = frozenset({"video", "video_path"})
_YES_NO = frozenset({"yes", "no"})


class _Kind(NamedTuple):
    type: str
    modality: str


def DATASET_TYPE(dataset: str, *, default: str | None = "MCQ") -> str | None:  # noqa: N802  # VLMEvalKit's name
    """What a table in `$LMUData` asks, by its columns and answers: MCQ, Y/N or VQA; `default` where there is none."""
    kind = _kind(dataset)
    return default if kind is None else kind.type


def DATASET_MODALITY(dataset: str, *, default: str | None = "IMAGE") -> str | None:  # noqa: N802  # VLMEvalKit's name
    """What a table in `$LMUData` shows, by its columns: VIDEO, IMAGE or TEXT; `default` where there is none."""
    kind = _kind(dataset)
    return default if kind is None else kind.modality


def _kind(dataset: str) -> _Kind | None:
    path = lmu_data_dir() / f"{dataset}.tsv"
    return _kind_of(path, path.stat().st_mtime_ns) if path.is_file() else None


@functools.lru_cache(maxsize=32)  # models ask it for every row
def _kind_of(path: Path, changed: int) -> _Kind:
    table = open_table(path)
    columns = set(table.columns)
    modality = "VIDEO" if columns & _VIDEOS else "IMAGE" if columns & _PICTURES else "TEXT"
    if {"A", "B"} <= columns:
        return _Kind("MCQ", modality)
    cells = table.cells("answer") if "answer" in columns else ()
    answers = {str(cell).strip().lower() for cell in cells if cell}
    return _Kind("Y/N" if answers and answers <= _YES_NO else "VQA", modality)
