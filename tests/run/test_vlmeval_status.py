"""`status.json`, step by step."""

from __future__ import annotations

import pytest

from flagmm.config.vlmeval import parse_vlmeval
from flagmm.errors import ConfigError, DataError
from flagmm.jsonio import read_json
from flagmm.run.vlmeval.plan import make_plan
from flagmm.run.vlmeval.status import RunStatus, flat_metrics
from flagmm.types import Counts, TaskResult


@pytest.fixture
def status(tmp_path, monkeypatch):
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    (tmp_path / "lmu").mkdir()
    (tmp_path / "lmu" / "mine.tsv").touch()
    values = {"model": ["GPT4o"], "data": ["mine"], "key": "sk-secret-1"}
    plan = make_plan(parse_vlmeval(values, source="here"), source="here")
    return RunStatus(tmp_path / "T1", model="m", plan=plan, command=["vlmeval", "--judge", "sk-secret-1"])


def entry_in(tmp_path):
    return read_json(tmp_path / "T1" / "status.json")["datasets"]["mine"]


def result_of(*, asked: int, **metrics) -> TaskResult:
    return TaskResult(task="mine", metrics=metrics, counts=Counts(total=2, asked=asked))


def test_a_stage_that_is_behind_changes_nothing(status, tmp_path):
    status.reach("mine", "eval")
    status.reach("mine", "infer")
    assert entry_in(tmp_path)["status"] == "eval"


def test_a_result_without_an_answer_behind_it_is_not_done(status, tmp_path):
    status.reach("mine", "eval")
    status.finish("mine", result_of(asked=0), [])
    status.fail("mine", DataError("none of the 2 questions\nhas an answer"))
    assert entry_in(tmp_path)["status"] == "eval"
    assert entry_in(tmp_path)["error_message"] == "none of the 2 questions has an answer"


def test_a_result_is_done_with_its_headline(status, tmp_path):
    status.finish("mine", result_of(asked=2, accuracy=50.0, by={"a": {"x": 1}}, ok=True, text="x"), [])
    entry = entry_in(tmp_path)
    assert (entry["status"], entry["primary_metric"]) == ("done", "accuracy")
    assert entry["metrics"] == {"accuracy": 50.0, "by|a|x": 1}


def test_what_concerns_all_is_told_of_each_that_is_not_done(status, tmp_path):
    with pytest.raises(ConfigError), status.failing_all():
        raise ConfigError("no such place: sk-secret-1")
    assert entry_in(tmp_path)["error_message"] == "no such place: ***"


def test_a_failure_of_something_else_is_no_data_set_s(status, tmp_path):
    status.fail("summary", DataError("x"))
    assert "error_message" not in entry_in(tmp_path)


def test_a_secret_anywhere_in_the_command_is_masked(status, tmp_path):
    assert read_json(tmp_path / "T1" / "status.json")["argv"] == ["flagevalmm", "vlmeval", "--judge", "***"]


def test_rows_of_several_splits_have_names_of_their_own():
    rows = [
        {"split": "dev", "Overall": 0.5, "c": None},
        {"split": "test", "Overall": 1.0},
        {"split": "test", "Overall": 0.0},
    ]
    result = TaskResult(task="t", metrics={"report": {"kind": "mcq", "rows": rows}}, counts=Counts())
    assert flat_metrics(result) == {
        "split=dev|Overall": 0.5, "split=test|Overall": 1.0, "split=test|Overall#2": 0.0,
    }  # fmt: skip
