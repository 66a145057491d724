"""run.json: the last run in full, and each run of the directory."""

from __future__ import annotations

import json

import pytest

from flagmm import manifest as module
from flagmm.config.model import ModelSpec
from flagmm.jsonio import read_json
from flagmm.manifest import Manifest, saved_model_name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "run.json"


@pytest.fixture
def numbered(monkeypatch):
    """Runs that each have a process of their own."""
    numbers = iter(range(1, 1000))

    def started(path, *tasks, model=None):
        number = next(numbers)
        monkeypatch.setattr(module.os, "getpid", lambda: number)
        monkeypatch.setattr(module, "_now", lambda: f"12:{number:02}")
        spec = ModelSpec(model_name=model, url="http://h/v1") if model else None
        run = Manifest(path, argv=["--tasks", *tasks], spec=spec, tasks=tasks)
        enter, leave = run.__enter__, run.__exit__

        def ended():
            monkeypatch.setattr(module.os, "getpid", lambda: number)
            leave(None, None, None)

        enter()
        return ended

    return started


def test_runs_of_different_tasks_at_once_forget_none(path, numbered):
    end_first = numbered(path, "first", model="a")
    end_second = numbered(path, "second", model="b")
    end_second()
    end_first()
    values = read_json(path)
    assert [(run["tasks"], run["state"]) for run in values["runs"]] == [(["first"], "ended"), (["second"], "ended")]
    assert [run["command"] for run in values["runs"]] == [
        ["flagevalmm", "--tasks", "first"], ["flagevalmm", "--tasks", "second"],
    ]  # fmt: skip
    assert (values["tasks"], values["model"]["model_name"], values["state"]) == (["second"], "b", "ended")


def test_scoring_keeps_the_model_that_answered_these_tasks_in_mind(path, numbered):
    numbered(path, "first", model="a")()
    numbered(path, "second", model="b")()
    numbered(path, "first")()
    assert read_json(path)["model"]["model_name"] == "a"
    assert (saved_model_name(path, ["first"]), saved_model_name(path, ["second"])) == ("a", "b")
    assert (saved_model_name(path), saved_model_name(path, ["third"])) == ("a", "a")


def test_what_an_earlier_version_wrote_is_the_first_of_the_runs(path, numbered):
    path.parent.mkdir()
    path.write_text(json.dumps({"tasks": ["old"], "model": {"model_name": "m"}, "started": "10:00", "state": "ended"}))
    numbered(path, "new", model="n")()
    assert [run["tasks"] for run in read_json(path)["runs"]] == [["old"], ["new"]]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"runs": 3}', '{"runs": [1, {"tasks": 2}]}', "\xff"])
def test_a_file_that_is_none_of_ours_is_no_hindrance(path, numbered, content):
    path.parent.mkdir()
    path.write_text(content, encoding="latin-1")
    numbered(path, "new", model="n")()
    assert read_json(path)["runs"][-1]["tasks"] == ["new"]


def test_of_many_runs_the_newest_are_kept_and_the_last_of_each_task(path, numbered):
    numbered(path, "rare", model="a")()
    for _ in range(120):
        numbered(path, "often", model="b")()
    runs = read_json(path)["runs"]
    assert [run["tasks"] for run in runs] == [["rare"]] + [["often"]] * 100
