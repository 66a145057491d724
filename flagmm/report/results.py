"""The results in a results directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.evaluator.result_keys import COUNTS, INTERVAL, STDERR, flat_names, is_metric
from flagmm.hints import shown
from flagmm.jsonio import read_json_object
from flagmm.paths import RunPaths
from flagmm.types import Counts, TaskResult

HEADLINE = "accuracy"
"""What stands for a task whose file names no headline."""
_SUFFIX = "_result.json"


def read_results(run: RunPaths) -> list[TaskResult]:
    """The result of every task scored in this directory, by name."""
    return [read_result(path) for path in run.results()]


def read_result(path: Path) -> TaskResult:
    """One `<task>_result.json`; folders of other tools lack counts.

    Raises:
        DataError: the file holds no object.
    """
    values = read_json_object(path, "counts")
    known = {item.name for item in fields(Counts)}
    counts = values.get("counts")
    for key, value in (counts or {}).items():
        if key in known and (not isinstance(value, int) or isinstance(value, bool)):
            raise DataError(f"{path}: counts: {key}: expected a whole number, found {shown(value)}; score again")
    return TaskResult(
        task=path.name.removesuffix(_SUFFIX),
        metrics={key: value for key, value in values.items() if is_metric(key, values)},
        counts=Counts(**{key: value for key, value in (counts or {}).items() if key in known}),
        over="answered" if values.get("over") == "answered" else "asked",
        partial=values.get("partial"),
        details={key: value for key, value in values.items() if not is_metric(key, values)},
    )


def headline(result: TaskResult) -> str:
    """Which metric stands for the task: the one that the file names, else the accuracy."""
    named = result.details.get("headline")
    return named if isinstance(named, str) else HEADLINE


def interval_of(result: TaskResult, metric: str) -> list[float] | None:
    """The 95 % interval of this very metric, in percent; None where it has none."""
    interval = result.details.get(f"{metric}{INTERVAL}")
    is_one = isinstance(interval, list) and len(interval) == 2 and all(isinstance(end, int | float) for end in interval)
    return interval if is_one else None


def stderr_of(result: TaskResult, metric: str) -> float | None:
    """The standard error of this very metric, in percent; None where it has none."""
    return result.details.get(f"{metric}{STDERR}")


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """The headline of one group of a task's questions."""

    field: str
    """The annotation's field that questions are grouped by."""
    group: str
    """Its value."""
    metric: str
    label: str
    """The value, with its field where it is no name for this group alone."""
    score: Any
    n: int | None
    """Questions in the denominator."""
    stderr: float | None
    interval: list[float] | None
    counts: Mapping[str, int] | None
    """As of the whole result; None in results of a version that did not tell them."""


def group_rows(result: TaskResult) -> list[GroupRow]:
    """The groups of each field, those of further evaluators after the first one's."""
    found = []
    for prefix, metric, groups in _groups_of(result):
        taken = {name for values in groups.values() for numbers in values.values() for name in numbers}
        for (name, value), label in flat_names(groups, taken=taken).items():
            found.append(_group_row(name, value, prefix + metric, metric, label, groups[name][value]))
    return found


def _groups_of(result: TaskResult) -> Iterator[tuple[str, str, dict[str, dict[str, Mapping[str, Any]]]]]:
    """The (prefix of keys, headline, numbers by field and value) of each evaluator that grouped questions."""
    for key, groups in result.details.items():
        if key.rpartition(".")[2] != "groups" or not isinstance(groups, Mapping):
            continue
        prefix = key.removesuffix("groups")
        named = result.details.get(f"{prefix}headline")
        shaped = {
            field: {value: numbers for value, numbers in values.items() if isinstance(numbers, Mapping)}
            for field, values in groups.items()
            if isinstance(values, Mapping)
        }
        yield prefix, named if isinstance(named, str) else headline(result), shaped


def _group_row(field: str, group: str, shown: str, metric: str, label: str, numbers: Mapping[str, Any]) -> GroupRow:
    interval, counts = numbers.get(f"{metric}{INTERVAL}"), numbers.get(COUNTS)
    return GroupRow(
        field=field,
        group=group,
        metric=shown,
        label=label,
        score=numbers.get(metric),
        n=numbers.get("n"),
        stderr=numbers.get(f"{metric}{STDERR}"),
        interval=interval if isinstance(interval, list) and len(interval) == 2 else None,
        counts=counts if isinstance(counts, Mapping) else None,
    )


def metric_rows(result: TaskResult) -> Iterator[tuple[str, Any]]:
    """The (name, value) pairs worth a row, but those of groups.

    The headline and what repeats tell of it come first, then numbers, those of nested dicts by dotted name.
    """
    own = {key: value for key, value in result.metrics.items() if not _is_of_group(key, value, result)}
    flat, first = dict(_flatten(own)), headline(result)
    if first in flat:
        yield first, flat.pop(first)
    yield from _repeat_rows(result.details.get("repeats"))
    yield from flat.items()


def _is_of_group(key: str, value: Any, result: TaskResult) -> bool:
    """Whether a key beside the metrics only repeats a group's headline."""
    for prefix, metric, groups in _groups_of(result):
        name = key.removeprefix(prefix)
        for field, values in groups.items():
            for numbers in (values.get(name), values.get(name.removeprefix(f"{field}."))):
                if numbers is not None and name not in numbers and numbers.get(metric) == value:
                    return True
    return False


def _repeat_rows(repeats: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(repeats, dict):
        return
    yield "run_std", repeats.get("std")
    shares = repeats.get("pass_at_k")
    for k, share in shares.items() if isinstance(shares, dict) else ():
        yield f"pass@{k}", share
    if "majority_vote" in repeats:
        yield "majority_vote", repeats["majority_vote"]


def _flatten(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{name}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield name, value
