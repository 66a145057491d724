"""Answers as VLMEvalKit's table of predictions: the columns of the benchmark's table, then `prediction`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from flagmm.dataset.annotations import MEDIA_KEYS
from flagmm.dataset.sample import Dataset
from flagmm.evaluator.answers import Answer
from flagmm.types import ROW_ERROR, Annotation

FAILED = "Failed to obtain answer via API."
"""What VLMEvalKit writes for a call that failed, and asks again."""

PREDICTION, THINKING = "prediction", "thinking"
_OF_OURS = frozenset({"question_id", "question_type", "options", "option_labels", "data_root", ROW_ERROR, *MEDIA_KEYS})
_LEFT_OUT = frozenset({"image", PREDICTION, THINKING})


@dataclass(frozen=True, kw_only=True)
class PredictionTable:
    """A table of predictions."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    """Cells by column; absent ones are empty."""


def prediction_table(dataset: Dataset, answers: Sequence[Answer], *, split_think: bool) -> PredictionTable:
    """The rows that were asked, in the data set's order.

    The `index` is a whole number where all are, as pandas reads it; every other cell is the table's text. A data set
    that is no table gives `index`, `question`, options, `answer` and its other plain fields.

    Args:
        split_think: add the column `thinking`; `prediction` is the answer alone either way.
    """
    by_id = {answer.question_id: answer for answer in answers}
    columns = dict.fromkeys(name for name in getattr(dataset, "columns", ()) if name not in _LEFT_OUT)
    rows: list[dict[str, Any]] = []
    annotations = dataset.get_annotation()
    for question_id in annotations:
        if question_id in by_id:
            answer = by_id[question_id]
            row = _cells(dataset, question_id, answer.annotation)
            if not hasattr(dataset, "columns"):
                columns |= dict.fromkeys(row)
            rows.append(row | _predicted(answer, split_think))
    _number_index(rows)
    added = dict.fromkeys(name for row in rows for name in row if name not in columns)
    return PredictionTable(columns=tuple({**columns, **added} or {"index": None, PREDICTION: None}), rows=rows)


def _cells(dataset: Dataset, question_id: str, annotation: Annotation) -> dict[str, Any]:
    own = getattr(dataset, "table_row", None)
    if own is not None:
        record: Mapping[str, Any] = own(question_id)
        return {"index": question_id, **{key: value for key, value in record.items() if key not in _LEFT_OUT}}
    options = annotation.get("options") or ()
    labels = annotation.get("option_labels") or ascii_uppercase
    return {
        "index": question_id,
        "question": annotation.get("question"),
        **dict(zip(labels, map(str, options), strict=False)),
        "answer": _text(annotation.get("answer")),
        **{
            key: value
            for key, value in annotation.items()
            if key not in _OF_OURS and key not in _LEFT_OUT and isinstance(value, str | int | float) and key != "answer"
        },
    }


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def _predicted(answer: Answer, split_think: bool) -> dict[str, str]:
    """The cells that the run adds; further repetitions in columns of their own."""
    cells: dict[str, str] = {}
    reasons = answer.record.get("reason")
    for number, reply in enumerate(answer.replies):
        suffix = f"_{number}" if number else ""
        cells[f"{PREDICTION}{suffix}"] = FAILED if reply.status == "failed" else reply.text
        if split_think:
            reason = reasons[number] if isinstance(reasons, list) and number < len(reasons) else reasons
            cells[f"{THINKING}{suffix}"] = reason if isinstance(reason, str) else ""
    return cells


def _number_index(rows: Sequence[dict[str, Any]]) -> None:
    """Make the indices whole numbers, if each of them is the text of one."""
    if rows and all(_is_whole(str(row["index"])) for row in rows):
        for row in rows:
            row["index"] = int(row["index"])


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and str(int(digits)) == digits and text != "-0"
