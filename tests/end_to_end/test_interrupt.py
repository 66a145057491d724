"""Ctrl-C and SIGTERM: what is finished is kept, files are written, and the same command goes on."""

from __future__ import annotations

import signal

import pytest

from tests.end_to_end.folders import answers_by_id, choices, counts_of, files_under, read_json, write_model, write_task
from tests.end_to_end.waiting import wait_for_lines, wait_until
from tests.servers import MockEndpoint, Reply

INTERRUPTED = 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_signal_keeps_what_is_finished_and_the_same_command_goes_on(run_command, tmp_path, number):
    task = write_task(tmp_path / "task", choices(30))
    with MockEndpoint(Reply(delay=0.3)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=3)
        arguments = ("--tasks", task, "--cfg", model, "--output-dir", "out")
        process = run_command.start(*arguments)
        wait_for_lines(tmp_path / "out" / "colours" / "predictions.jsonl", 3)
        before = len(endpoint.requests)
        process.send_signal(number)
        stopped = run_command.wait(process)
        asked = len(endpoint.requests)
        answered = answers_by_id(tmp_path / "out")
        assert stopped.status == INTERRUPTED
        assert len(answered) == asked  # calls under way were waited for
        assert 3 <= asked <= before + 3  # and none begun, but for those that were on their way to the endpoint
        assert {entry["status"] for entry in answered.values()} == {"ok"}
        assert "the same command goes on where this one stopped" in stopped.warnings[-1]
        assert "Traceback" not in stopped.stderr
        assert read_json(tmp_path / "out" / "run.json")["state"] == "interrupted"
        if number is signal.SIGINT:
            done = run_command(*arguments)
            assert len(endpoint.requests) == 30  # nothing was asked twice
            assert done.status == 0
            assert counts_of(tmp_path / "out") == {"total": 30, "asked": 30, "answered": 30}


def test_the_second_signal_stops_at_once_and_keeps_what_is_finished(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(8))
    with MockEndpoint(lambda request: Reply(hang="Question 1?" not in request.text)) as endpoint:
        model = write_model(tmp_path / "model.json", endpoint.url, num_workers=3, timeout=60)
        process = run_command.start("--tasks", task, "--cfg", model, "--output-dir", "out")
        path = tmp_path / "out" / "colours" / "predictions.jsonl"
        wait_for_lines(path, 1)
        wait_until(lambda: len(endpoint.requests) >= 4, "calls under way")
        process.send_signal(signal.SIGINT)
        assert "once more to stop at once" in process.stderr.readline() + process.stderr.readline()
        process.send_signal(signal.SIGINT)
        stopped = run_command.wait(process, timeout=5)
    assert stopped.status == INTERRUPTED
    assert path.read_bytes().count(b"\n") == 1


SLOW_PROCESS = """
import pathlib
import time


def process(cfg):
    folder = pathlib.Path(cfg.processed_dataset_path) / cfg.split
    folder.mkdir(parents=True)
    (folder / "data.json").write_text("[]")
    pathlib.Path("started").touch()
    time.sleep(60)
"""


def test_a_signal_during_preparation_leaves_its_working_folder_and_no_data_set(run_command, tmp_path):
    (tmp_path / "process.py").write_text(SLOW_PROCESS)
    (tmp_path / "slow.py").write_text(
        "config = dict(split='test', processed_dataset_path='slow', processor='process.py')\n"
        "dataset = dict(type='VqaBaseDataset', config=config, name='slow')\n"
    )
    process = run_command.start("--tasks", "slow.py", "--model-type", "random", "--output-dir", "out")
    wait_until((tmp_path / "started").exists, "process.py runs")
    process.send_signal(signal.SIGTERM)
    stopped = run_command.wait(process)
    assert stopped.status == INTERRUPTED
    assert "Traceback" not in stopped.stderr
    left = [name for name in files_under(tmp_path / "cache") if not name.endswith(".lock")]
    assert left == ["datasets/.slow.sources.json", "datasets/slow.partial/test/data.json"]
