"""Reading `_result.json`, and the numbers that are worth a row."""

from __future__ import annotations

import json

import pytest

from flagmm.errors import DataError
from flagmm.paths import RunPaths
from flagmm.report.results import metric_rows, read_result, read_results
from flagmm.types import Counts, TaskResult


def write(folder, name, values):
    path = RunPaths(folder).task(name).result
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
    return path


RESULT = {
    "accuracy": 50.0,
    "sea": 75.0,
    "accuracy_answered": 60.0,
    "accuracy_interval": [40.0, 60.0],
    "groups": {"topic": {}},
    "over": "answered",
    "counts": {"total": 4, "asked": 3, "answered": 2, "failed": 1},
    "reject_info": {"reject_rate": 33.33},
    "rules": {"x": 2},
    "average_tokens": 3,
    "evaluator": "BaseEvaluator",
    "num_infers": 2,
    "partial": "3 of 4 questions",
}


def test_a_result_is_read_with_metrics_apart_from_the_rest(tmp_path):
    found = read_result(write(tmp_path, "my_task", RESULT))
    assert (found.task, found.metrics, found.over, found.partial) == (
        "my_task", {"accuracy": 50.0, "sea": 75.0}, "answered", "3 of 4 questions",
    )  # fmt: skip
    assert found.counts == Counts(total=4, asked=3, answered=2, failed=1)
    assert found.details["accuracy_interval"] == [40.0, 60.0]
    assert found.details.keys() | found.metrics.keys() == RESULT.keys()


@pytest.mark.parametrize(
    "values", [{"accuracy": 1.0}, {"accuracy": 1.0, "counts": None}, {"accuracy": 1.0, "counts": {"strange": 3}}]
)
def test_a_result_of_another_tool_lacks_counts(tmp_path, values):
    found = read_result(write(tmp_path, "t", values))
    assert (found.counts, found.over, found.partial) == (Counts(), "asked", None)


@pytest.mark.parametrize("values", [[], "x", None, 3])
def test_what_is_no_result_is_told(tmp_path, values):
    with pytest.raises(DataError, match=r"t_result\.json: expected an object$"):
        read_result(write(tmp_path, "t", values))


def test_the_results_of_a_folder_come_by_task_name(tmp_path):
    for name in ("b", "a", "c/d"):
        write(tmp_path, name, {"accuracy": 1.0})
    write(tmp_path, "a", {"accuracy": 2.0})
    found = read_results(RunPaths(tmp_path))
    assert [result.task.partition("-")[0] for result in found] == ["a", "b", "c_d"]
    assert found[0].metrics == {"accuracy": 2.0}
    assert read_results(RunPaths(tmp_path / "none")) == []


@pytest.mark.parametrize(
    ("metrics", "rows"),
    [
        pytest.param({"sea": 1.0, "accuracy": 2.0}, [("accuracy", 2.0), ("sea", 1.0)], id="headline first"),
        pytest.param({"b": 1, "a": 2.5}, [("b", 1), ("a", 2.5)], id="as they come"),
        pytest.param(
            {"by": {"x": 1.0, "deep": {"y": 2}}}, [("by.x", 1.0), ("by.deep.y", 2)], id="nested by dotted name"
        ),
        pytest.param({"accuracy": None}, [("accuracy", None)], id="unavailable"),
        pytest.param({"note": "x", "list": [1], "flag": True}, [], id="no numbers"),
        pytest.param({}, [], id="none"),
    ],
)
def test_only_numbers_are_worth_a_row(metrics, rows):
    assert list(metric_rows(TaskResult(task="t", metrics=metrics, counts=Counts()))) == rows
