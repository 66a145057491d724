"""Reading `_result.json`, and the numbers that are worth a row."""

from __future__ import annotations

import json

import pytest

from flagmm.errors import DataError
from flagmm.paths import RunPaths
from flagmm.report.results import headline, interval_of, metric_rows, read_result, read_results, stderr_of
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


POPE = {
    "f1": 66.67, "precision": 60.0, "accuracy": 62.5, "n": 8, "accuracy_stderr": 18.3,
    "accuracy_interval": [30.6, 86.3], "headline": "f1", "accuracy_answered": 62.5,
    "interval": {"level": 95, "method": "wilson"}, "dog": 50.0,
    "groups": {}, "macro": {"animal": 50.0}, "micro": 66.67, "over": "asked", "counts": {},
    "evaluator": "MetricEvaluator", "metrics": [{"name": "pope", "version": 1}], "flagmm": "0.1.0",
}  # fmt: skip


def test_the_file_names_its_headline_and_what_belongs_to_each_metric(tmp_path):
    found = read_result(write(tmp_path, "t", POPE))
    assert list(metric_rows(found)) == [("f1", 66.67), ("precision", 60.0), ("accuracy", 62.5), ("dog", 50.0)]
    assert headline(found) == "f1"
    assert (interval_of(found, "f1"), stderr_of(found, "f1")) == (None, None)
    assert (interval_of(found, "accuracy"), stderr_of(found, "accuracy")) == ([30.6, 86.3], 18.3)


def test_a_file_without_a_headline_is_about_its_accuracy_and_its_words_are_metrics(tmp_path):
    found = read_result(write(tmp_path, "t", {"n": 3, "metrics": {"bleu": 4}, "accuracy": 1.0, "micro": 5}))
    assert headline(found) == "accuracy"
    assert list(metric_rows(found)) == [("accuracy", 1.0), ("n", 3), ("metrics.bleu", 4), ("micro", 5)]


def test_a_metric_may_be_called_like_an_error_of_none(tmp_path):
    found = read_result(write(tmp_path, "t", {"headline": "x", "x": 1, "y_stderr": 2, "x_stderr": 3}))
    assert list(metric_rows(found)) == [("x", 1), ("y_stderr", 2)]


def test_what_further_metrics_and_evaluators_tell_beside_their_numbers_is_no_row(tmp_path):
    further = {"vqa.accuracy": 2.0, "vqa.accuracy_stderr": 1.0, "vqa.n": 3, "MmmuEvaluator.counts": {"asked": 3}}
    found = read_result(write(tmp_path, "t", {"headline": "accuracy", "accuracy": 1.0, **further}))
    assert list(metric_rows(found)) == [("accuracy", 1.0), ("vqa.accuracy", 2.0)]


def test_repeats_have_rows_behind_the_headline(tmp_path):
    block = {
        "n": 4, "scores": [1, 2, 3, 4], "mean": 2.5, "std": 1.29, "pass_at_k": {"1": 2.5, "2": 4.0, "4": None},
        "majority_vote": 3.0, "majority_ties": 1,
    }  # fmt: skip
    found = read_result(write(tmp_path, "t", {"sea": 9, "accuracy": 2.5, "repeats": block}))
    assert list(metric_rows(found)) == [
        ("accuracy", 2.5), ("run_std", 1.29), ("pass@1", 2.5), ("pass@2", 4.0), ("pass@4", None),
        ("majority_vote", 3.0), ("sea", 9),
    ]  # fmt: skip


def test_repeats_of_a_metric_without_marks_have_the_deviation_only(tmp_path):
    found = read_result(write(tmp_path, "t", {"headline": "CIDEr", "CIDEr": 1.5, "repeats": {"n": 2, "std": 0.1}}))
    assert list(metric_rows(found)) == [("CIDEr", 1.5), ("run_std", 0.1)]


@pytest.mark.parametrize("repeats", [3, None, "x", {"n": 2}])
def test_another_tool_s_repeats_do_no_harm(tmp_path, repeats):
    found = read_result(write(tmp_path, "t", {"accuracy": 1.0, "repeats": repeats}))
    assert next(metric_rows(found)) == ("accuracy", 1.0)
