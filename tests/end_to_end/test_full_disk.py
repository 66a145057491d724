"""No space left, or a place that cannot be written: the error names the file, and what is computed stays."""

from __future__ import annotations

import os
import sys
from contextlib import closing

import pytest

from flagmm.errors import OutputError
from flagmm.jsonio import write_json
from tests.end_to_end.command import Command
from tests.end_to_end.folders import answers_by_id, choices, files_under, read_lines, result_of, write_model, write_task
from tests.servers import MockEndpoint

RANDOM = ("--model-type", "random", "--output-dir", "out", "--quiet")
# A limit on the size of each file is met in the same calls as a full disk, and needs no disk to be filled.
LIMITED = ["bash", "-c", 'ulimit -f {kilobytes}; exec "$@"', "limited", sys.executable, "-m", "flagmm"]


def limited(folder, kilobytes):
    return closing(Command(folder, [part.format(kilobytes=kilobytes) for part in LIMITED]))


def test_answers_that_were_there_stay_and_the_run_goes_on_when_there_is_space(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(60))
    with MockEndpoint() as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url)
        arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out", "--quiet")
        with limited(tmp_path, 8) as command:
            full = command(*arguments)
        predictions = tmp_path / "out/colours/predictions.jsonl"
        assert full.status == 2
        assert full.errors == ["colours: out/colours/predictions.jsonl: cannot be written: File too large"]
        assert "Traceback" not in full.stderr
        kept = len(read_lines(predictions))
        assert 1 < kept == len(answers_by_id(tmp_path / "out")) < 60
        asked = len(endpoint.requests)
        done = run_command(*arguments)
        assert done.status == 0
        assert len(endpoint.requests) == asked + 60 - kept
    assert result_of(tmp_path / "out")["counts"]["answered"] == 60


def test_a_result_that_finds_no_space_is_named_and_the_answers_stay(tmp_path, run_command):
    task = write_task(tmp_path / "task", choices(60, note="x" * 100))
    run_command("--tasks", task, *RANDOM)
    evaluated = tmp_path / "out/colours/colours_evaluated.json"
    kilobytes = evaluated.stat().st_size // 1024 - 1
    before = evaluated.read_bytes()
    with limited(tmp_path, kilobytes) as command:
        done = command("--tasks", task, "--without-infer", "--output-dir", "out", "--quiet")
    assert done.status == 2
    assert done.errors == ["colours: out/colours/colours_evaluated.json: cannot be written: File too large"]
    assert evaluated.read_bytes() == before
    assert [name for name in files_under(tmp_path / "out") if name.endswith(".tmp")] == []


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("file", "--output-dir: file is a file, and results need a folder"),
        ("file/below", "--output-dir: file is a file, and results need a folder"),
        ("/proc/nowhere", "/proc/nowhere/run.json: cannot be written: "),
    ],
)
def test_a_results_directory_that_can_be_none_is_told_before_anything_is_asked(run_command, tmp_path, place, told):
    task = write_task(tmp_path / "task", choices(1))
    (tmp_path / "file").write_text("mine")
    with MockEndpoint() as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url)
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", place)
    assert done.status == 2
    assert done.errors[0].startswith(told)
    assert endpoint.requests == []
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_table_that_finds_no_space_is_one_line(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1))
    into_full = ["bash", "-c", 'exec "$@" >/dev/full', "full", *run_command.argv]
    with closing(Command(tmp_path, into_full)) as command:
        done = command("--tasks", task, *RANDOM)
    assert done.status == 2
    assert done.stderr.splitlines()[-1].endswith("ERROR stdout: cannot be written: No space left on device")
    assert len(done.stderr.splitlines()) == 1


def test_a_reply_cache_that_cannot_be_used_loses_no_answer(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(3))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/replies.sqlite").write_bytes(b"no database" * 100)
    done = run_command("--tasks", task, *RANDOM, "--use-cache")
    assert done.status == 0
    [warning] = done.warnings
    assert "replies.sqlite: replies are neither kept nor looked up: file is not a database" in warning


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path):
    (tmp_path / "a.json").write_text("before")
    with pytest.raises(OutputError, match=r"a\.json/b\.json: cannot be written: File exists$"):
        write_json(tmp_path / "a.json" / "b.json", 1)
    assert (tmp_path / "a.json").read_text() == "before"
    assert files_under(tmp_path) == ["a.json"]
