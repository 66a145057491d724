"""Ctrl-C in a script or notebook that calls `run_task`: answers are kept, nothing is left behind, and it can go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.dataset.general.tables import write_jsonl
from tests.end_to_end.folders import read_json
from tests.end_to_end.waiting import wait_for_lines, wait_until
from tests.servers import MockEndpoint, Reply

COUNT = 12
SCRIPT = """
import asyncio, json, pathlib, signal, sys, threading
from flagmm import run_task

settings, way = json.loads(sys.argv[1]), sys.argv[2]


def cell():
    try:
        run_task(settings)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        pathlib.Path("interrupted").touch()


async def cell_of_a_notebook():
    cell()


def in_another_thread():
    over = threading.Event()
    worker = threading.Thread(target=lambda: (cell(), over.set()))
    worker.start()
    while not over.is_set():
        try:
            over.wait()
        except KeyboardInterrupt:
            pathlib.Path("main thread").touch()
    worker.join()


def in_a_loop_that_hears_signals():
    loop = asyncio.new_event_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: print("heard", flush=True))

    async def work():
        cell()
        signal.raise_signal(signal.SIGUSR1)
        await asyncio.sleep(0.1)

    loop.run_until_complete(work())
    loop.close()


ways = {
    "script": cell,
    "notebook": lambda: asyncio.run(cell_of_a_notebook()),
    "loop": in_a_loop_that_hears_signals,
    "thread": in_another_thread,
}
before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
ways[way]()
assert before == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
print("threads:", [thread.name for thread in threading.enumerate()], flush=True)
reports = run_task({**settings, "use_cache": settings["work_dir"]})
print("num:", {name: report.num for name, report in reports.items()}, flush=True)
"""
ALONE = "threads: ['MainThread']"


@pytest.fixture
def start(run_command, tmp_path):
    """Starts the script, whose run asks `COUNT` questions of an endpoint; the process, to be waited for."""
    (tmp_path / "script.py").write_text(SCRIPT)
    questions = [{"role": "user", "content": f"Question {number}?"} for number in range(COUNT)]
    records = [{"messages": [question], "answer": "B"} for question in questions]
    write_jsonl(tmp_path / "mine" / "animals.jsonl", *records)

    def begin(endpoint, way, **changes):
        settings = {
            "model": "m", "api_url": endpoint.url, "datasets": ["general_vqa"], "eval_batch_size": 2,
            "dataset_args": {"general_vqa": {"local_path": "mine"}}, "work_dir": "out", "no_timestamp": True, **changes,
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "script.py", json.dumps(settings), way],
            cwd=tmp_path, env=run_command.environment | {"PYTHONPATH": os.getcwd()}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        run_command.watch(process)
        return process

    return begin


def asked_once(endpoint):
    texts = [request.text for request in endpoint.asked]
    return len(texts) == len(set(texts))


@pytest.mark.parametrize("way", ["script", "notebook", "loop"])
def test_the_first_waits_for_calls_under_way_and_a_second_run_asks_the_rest(start, run_command, tmp_path, way):
    with MockEndpoint(Reply(delay=0.3)) as endpoint:
        process = start(endpoint, way)
        wait_for_lines(tmp_path / "out/general_vqa/predictions.jsonl", 2)
        process.send_signal(signal.SIGINT)
        done = run_command.wait(process)
        assert done.status == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if line and line[0] not in "+|"]
        assert lines[0] == "interrupted"
        assert ALONE in lines
        assert ("heard" in lines) is (way == "loop")
        assert f"num: {{'general_vqa': {COUNT}}}" in lines
        assert len(endpoint.asked) == COUNT
        assert asked_once(endpoint)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("way", ["script", "notebook"])
def test_the_second_drops_calls_under_way_and_leaves_the_process_alive(start, run_command, tmp_path, way):
    hung = [Reply(hang=True)] * 2
    replies = iter([Reply(), Reply(), *hung])
    with MockEndpoint(lambda request: next(replies, Reply())) as endpoint:
        process = start(endpoint, way)
        wait_for_lines(tmp_path / "out/general_vqa/predictions.jsonl", 2)
        wait_until(lambda: len(endpoint.asked) == 4, "calls under way")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "once more to stop at once" in process.stderr.readline(), "the first is heard")
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        done = run_command.wait(process)
    assert done.status == 0, done.stderr
    assert time.monotonic() - started < 8
    assert "interrupted" in done.stdout
    assert ALONE in done.stdout
    assert f"num: {{'general_vqa': {COUNT}}}" in done.stdout
    assert "Task was destroyed" not in done.stderr


def test_another_thread_than_the_main_one_goes_on(start, run_command, tmp_path):
    # Ctrl-C is the main thread's, which here waits; what it has to do with the evaluation only the script knows.
    with MockEndpoint(Reply(delay=0.1)) as endpoint:
        process = start(endpoint, "thread")
        wait_for_lines(tmp_path / "out/general_vqa/predictions.jsonl", 2)
        process.send_signal(signal.SIGINT)
        done = run_command.wait(process)
    assert done.status == 0, done.stderr
    assert (tmp_path / "main thread").exists()
    assert "interrupted" not in done.stdout
    assert ALONE in done.stdout


@pytest.mark.parametrize("way", ["script", "notebook"])
def test_it_ends_the_asking_of_a_judge(start, run_command, tmp_path, way):
    with MockEndpoint() as endpoint, MockEndpoint(Reply(text="VERDICT: CORRECT", delay=0.3)) as judge:
        process = start(endpoint, way, judge={"strategy": "llm", "models": {"model_id": "j", "api_url": judge.url}})
        wait_until(lambda: len(judge.asked) >= 2, "the judge is asked")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "stopping" in process.stderr.readline(), "it is heard")
        asked = len(judge.asked)
        done = run_command.wait(process)
    assert done.status == 0, done.stderr
    assert asked < COUNT
    assert "interrupted" in done.stdout
    assert ALONE in done.stdout
    assert len(endpoint.asked) == COUNT
    assert read_json(tmp_path / "out/general_vqa/general_vqa_result.json")["accuracy"] == 100


SCORING = """
import pathlib, time


def get_result(annotations, predictions):
    pathlib.Path("scoring").touch()
    while not pathlib.Path("go on").exists():
        time.sleep(0.01)
    return {"accuracy": 100.0}
"""


@pytest.mark.parametrize("way", ["script", "notebook"])
def test_it_ends_code_of_a_person_s_own(start, run_command, tmp_path, way):
    (tmp_path / "evaluate.py").write_text(SCORING)
    (tmp_path / "own.py").write_text(
        "dataset = dict(type='GeneralVqaDataset', name='own', data_root='mine')\n"
        "evaluator = dict(type='BaseEvaluator', eval_func='evaluate.py')\n"
    )
    with MockEndpoint() as endpoint:
        process = start(endpoint, way, datasets=["own.py"], dataset_args={})
        wait_until((tmp_path / "scoring").exists, "the scoring runs")
        process.send_signal(signal.SIGINT)
        wait_until((tmp_path / "interrupted").exists, "it has ended")
        (tmp_path / "go on").touch()
        done = run_command.wait(process)
    assert done.status == 0, done.stderr
    assert ALONE in done.stdout
    assert len(endpoint.asked) == COUNT


JUDGED = """
from concurrent.futures import ThreadPoolExecutor


def get_result(annotations, predictions, llm_evaluator):
    def judge(prediction):
        message = llm_evaluator.build_message(query=f"Is it right? {prediction['question_id']}")
        return llm_evaluator.infer(chat_messages=message).content == "yes"

    with ThreadPoolExecutor(2) as pool:
        return {"accuracy": 100.0 * sum(pool.map(judge, predictions)) / len(predictions)}
"""


@pytest.mark.parametrize("way", ["script", "notebook"])
def test_it_ends_code_of_a_person_s_own_that_waits_for_a_judge(start, run_command, tmp_path, way):
    (tmp_path / "evaluate.py").write_text(JUDGED)
    with MockEndpoint() as endpoint, MockEndpoint(lambda _: next(replies, Reply(text="yes"))) as judge:
        replies = iter([Reply(text="yes"), Reply(hang=True), Reply(hang=True)])
        (tmp_path / "own.py").write_text(
            "dataset = dict(type='GeneralVqaDataset', name='own', data_root='mine')\n"
            "evaluator = dict(type='BaseEvaluator', eval_func='evaluate.py',\n"
            f"                 judge=dict(model_name='j', url={judge.url!r}, timeout=60))\n"
        )
        process = start(endpoint, way, datasets=["own.py"], dataset_args={})
        wait_until(lambda: len(judge.asked) >= 3, "calls under way")
        process.send_signal(signal.SIGINT)
        done = run_command.wait(process)
    assert done.status == 0, done.stderr
    assert "interrupted" in done.stdout
    assert ALONE in done.stdout
    assert len(endpoint.asked) == COUNT
    assert len(judge.asked) == COUNT + 2  # the verdict that came is kept
