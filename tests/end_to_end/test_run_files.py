"""Files of a run that links, other programs and killed processes meddle with: nothing paid for is lost."""

from __future__ import annotations

import os
import threading

import pytest

from tests.end_to_end.folders import (
    answers_by_id,
    choices,
    counts_of,
    files_under,
    read_json,
    read_lines,
    write_model,
    write_task,
)
from tests.end_to_end.waiting import wait_for_lines
from tests.servers import MockEndpoint, Reply

ALL = {"total": 8, "asked": 8, "answered": 8}


@pytest.fixture
def endpoint():
    with MockEndpoint() as running:
        yield running


@pytest.fixture
def arguments(tmp_path, endpoint):
    task = write_task(tmp_path / "task", choices(8))
    model = write_model(tmp_path / "model.json", endpoint.url, num_workers=1)
    return ("--tasks", task, "--cfg", model, "--output-dir", "out")


class Gate:
    """Answers four questions, then waits until it is opened."""

    def __init__(self):
        self.opened = threading.Event()
        self.asked = 0

    def __call__(self, request):
        self.asked += 1
        return Reply() if self.asked <= 4 or self.opened.is_set() else Reply(status=503, delay=0.1)


def run_meddled(run_command, tmp_path, meddle):
    """A run whose predictions are meddled with after four of eight answers."""
    task, gate = write_task(tmp_path / "task", choices(8)), Gate()
    path = tmp_path / "out/colours/predictions.jsonl"
    with MockEndpoint(gate) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=1, retries=50)
        process = run_command.start("--tasks", task, "--cfg", model, "--output-dir", "out")
        wait_for_lines(path, 4)
        meddle(path)
        gate.opened.set()
        return run_command.wait(process)


def test_predictions_that_are_removed_during_a_run_are_written_again(run_command, tmp_path):
    done = run_meddled(run_command, tmp_path, lambda path: path.unlink())
    assert (done.status, counts_of(tmp_path / "out")) == (0, ALL)
    assert len(read_lines(tmp_path / "out/colours/predictions.jsonl")) == 8
    assert "removed or replaced during the run" in done.warnings[0]


def test_a_task_folder_that_is_moved_away_during_a_run_is_made_again(run_command, tmp_path, endpoint):
    done = run_meddled(run_command, tmp_path, lambda path: path.parent.rename(tmp_path / "elsewhere"))
    assert (done.status, counts_of(tmp_path / "out")) == (0, ALL)
    assert len(read_lines(tmp_path / "out/colours/predictions.jsonl")) == 8
    model = read_json(tmp_path / "model.json")
    done = run_command("--tasks", tmp_path / "task/colours.py", "--cfg", tmp_path / "model.json", "--output-dir", "out")
    assert (done.status, model["num_workers"]) == (0, 1)  # nothing is asked: nobody would answer


def test_predictions_that_are_cut_during_a_run_end_it_with_what_is_lost(run_command, tmp_path):
    def cut(path):
        os.truncate(path, path.read_bytes().find(b"\n") + 20)  # one line, and a torn one

    done = run_meddled(run_command, tmp_path, cut)
    assert done.status == 2
    assert "another program cut it during the run; 3 answers are lost, run again for them" in done.errors[0]
    lines = read_lines(tmp_path / "out/colours/predictions.jsonl")
    assert sorted(line["question_id"] for line in lines) == list("15678")
    assert list(answers_by_id(tmp_path / "out")) == list("15678")


def test_another_file_in_the_place_of_the_predictions_is_left_alone(run_command, tmp_path):
    def replace(path):
        (tmp_path / "other").write_text("precious\n")
        os.replace(tmp_path / "other", path)

    done = run_meddled(run_command, tmp_path, replace)
    assert done.status == 2
    assert "something else took its place during the run, whose answers are in " in done.errors[0]
    assert (tmp_path / "out/colours/predictions.jsonl").read_text() == "precious\n"
    [kept] = (tmp_path / "out/colours").glob("predictions.kept-*.jsonl")
    assert len(read_lines(kept)) == 8


@pytest.mark.parametrize("name", [".lock", "predictions.jsonl"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_stands_in_the_place_of_a_file_is_told_and_left_alone(
    run_command, tmp_path, arguments, endpoint, name, kind
):
    folder = tmp_path / "out/colours"
    folder.mkdir(parents=True)
    (tmp_path / "precious").write_text("precious")
    make = {"link": lambda path: path.symlink_to(tmp_path / "precious"), "pipe": os.mkfifo, "folder": os.mkdir}
    make[kind](folder / name)
    done = run_command(*arguments)
    assert (done.status, len(endpoint.asked)) == (2, 0)
    [error] = done.errors
    assert f"out/colours/{name}: cannot be written: " in error
    assert (tmp_path / "precious").read_text() == "precious"


def test_links_in_the_place_of_files_that_are_written_whole_are_replaced(run_command, tmp_path, arguments):
    (tmp_path / "out/colours").mkdir(parents=True)
    (tmp_path / "precious").write_text("precious")
    names = ("run.json", "summary.md", "colours/colours.json", "colours/colours_result.json")
    for name in names:
        (tmp_path / "out" / name).symlink_to(tmp_path / "precious")
    done = run_command(*arguments, "--overwrite")
    assert (done.status, (tmp_path / "precious").read_text()) == (0, "precious")
    assert not any((tmp_path / "out" / name).is_symlink() for name in names)


def test_the_next_run_removes_what_a_killed_one_left(run_command, tmp_path, arguments):
    (tmp_path / "out/colours").mkdir(parents=True)
    for name in ("colours/.colours.json.99.tmp", ".run.json.99.7.tmp", ".summary.md.99.tmp", "colours/notes.tmp"):
        (tmp_path / "out" / name).touch()
    assert run_command(*arguments).status == 0
    assert (tmp_path / "out/colours/.lock").exists()  # one that is removed after use may let two in
    assert [name for name in files_under(tmp_path / "out") if name.endswith(".tmp")] == ["colours/notes.tmp"]


def test_run_json_tells_of_every_run_of_the_directory(run_command, tmp_path, endpoint):
    model = write_model(tmp_path / "model.json", endpoint.url)
    for name in ("first", "second"):
        task = write_task(tmp_path / name, choices(1), name=name)
        command = ("--tasks", task, "--cfg", model, "--output-dir", "out", "--model", name)
        assert run_command(*command, "--api-key", "sk-secret-9999").status == 0
    values = read_json(tmp_path / "out/run.json")
    assert [run["tasks"] for run in values["runs"]] == [["first"], ["second"]]
    assert [run["command"][-1] for run in values["runs"]] == ["***", "***"]
    assert [run["state"] for run in values["runs"]] == ["ended", "ended"]
    assert (values["tasks"], values["state"], values["model"]["model_name"]) == (["second"], "ended", "second")
    again = run_command("--tasks", tmp_path / "first/first.py", "--without-infer", "--output-dir", "out")
    assert again.status == 0
    assert read_json(tmp_path / "out/run.json")["model"]["model_name"] == "first"  # whose answers were scored
