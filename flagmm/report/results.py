"""The results in a results directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.jsonio import read_json
from flagmm.paths import RunPaths
from flagmm.types import Counts, TaskResult

HEADLINE = "accuracy"
_SUFFIX = "_result.json"
# What `_result.json` holds beside metrics.
_NOT_METRICS = {
    "over", "counts", "reject_info", "rules", "groups", "partial", "evaluator", "num_infers", "accuracy_interval",
    "accuracy_answered", "accuracy_stderr", "average_tokens", "average_prompt_tokens", "average_completion_tokens",
    "macro", "rule_disagreements", "repeats", "judge",
}  # fmt: skip


def read_results(run: RunPaths) -> list[TaskResult]:
    """The result of every task scored in this directory, by name."""
    return [read_result(path) for path in run.results()]


def read_result(path: Path) -> TaskResult:
    """One `<task>_result.json`; folders of other tools lack counts.

    Raises:
        DataError: the file holds no object.
    """
    values = read_json(path)
    if not isinstance(values, dict):
        raise DataError(f"{path}: expected an object")
    known = {item.name for item in fields(Counts)}
    counts = values.get("counts")
    return TaskResult(
        task=path.name.removesuffix(_SUFFIX),
        metrics={key: value for key, value in values.items() if key not in _NOT_METRICS},
        counts=Counts(**{key: value for key, value in (counts or {}).items() if key in known}),
        over="answered" if values.get("over") == "answered" else "asked",
        partial=values.get("partial"),
        details={key: value for key, value in values.items() if key in _NOT_METRICS},
    )


def metric_rows(result: TaskResult) -> Iterator[tuple[str, Any]]:
    """The (name, value) pairs worth a row: the headline first, then numbers, those of nested dicts by dotted name."""
    flat = dict(_flatten(result.metrics))
    if HEADLINE in flat:
        yield HEADLINE, flat.pop(HEADLINE)
    yield from flat.items()


def _flatten(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{name}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield name, value
