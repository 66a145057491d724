"""Whatever a person's own code raises or closes, wherever it stands: one line and an exit status, results kept."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.end_to_end.folders import answers_by_id, choices, write_data, write_task

ODD = "raise type('Odd', (BaseException,), {})('no usual error')"
INTERRUPT = "raise KeyboardInterrupt"
LEAVE = "import sys; sys.exit(0)"
CANCEL = "import asyncio; raise asyncio.CancelledError"
CLOSE = "import sys; sys.stdout.close(); sys.stderr.close()"

SCORING = "def get_result(annotations, predictions):\n    {body}\n    return {{'accuracy': 100.0}}\n"
HOOK = "def hook(annotation):\n    {body}\n    return ''\n\n\n"
CLIENT = """\
from flagmm.models.client import BaseClient
from flagmm.types import ModelOutput


class Client(BaseClient):
    def __init__(self, spec):
        {init}

    async def generate(self, messages, settings):
        {generate}
        return ModelOutput(text="B")

    async def __aexit__(self, *error):
        {leave}
"""
PREPARED = """\
config = dict(split="test", processed_dataset_path={name!r}, processor="process.py")
dataset = dict(type="VqaBaseDataset", config=config, name="colours")
evaluator = dict(type="BaseEvaluator")
"""
PROCESS = """\
import pathlib, shutil


def process(cfg):
    folder = pathlib.Path(cfg.processed_dataset_path, cfg.split)
    folder.mkdir(parents=True)
    shutil.copy({data!r}, folder)
    {body}
"""


class Case(NamedTuple):
    place: str
    body: str
    status: int
    told: str
    """What stderr shows."""
    scored: bool = False
    """Whether there is a table of scores."""


CASES = {
    "scoring: odd": Case("scoring", ODD, 1, "evaluate.py: get_result: Odd: no usual error (at "),
    "scoring: interrupt": Case("scoring", INTERRUPT, 130, "the same command goes on"),
    "scoring: cancel": Case("scoring", CANCEL, 1, "evaluate.py: get_result: CancelledError (at "),
    "scoring: close": Case("scoring", CLOSE, 0, "", scored=True),
    "hook: odd": Case("hook", ODD, 1, "×2 data: Odd: no usual error (at "),
    "hook: interrupt": Case("hook", INTERRUPT, 130, "the same command goes on"),
    "hook: cancel": Case("hook", CANCEL, 1, "×2 data: CancelledError (at "),
    "hook: close": Case("hook", CLOSE, 0, "", scored=True),
    "model: odd": Case("generate", ODD, 1, "×2 model: Odd: no usual error (at "),
    "model: interrupt": Case("generate", INTERRUPT, 130, "the same command goes on"),
    "model: cancel": Case("generate", CANCEL, 1, "×2 model: the call was cancelled"),
    "model: close": Case("generate", CLOSE, 0, "", scored=True),
    "making the model: odd": Case("init", ODD, 1, "client.py:Client: Odd: no usual error (at "),
    "making the model: leave": Case("init", LEAVE, 1, "client.py:Client: SystemExit: 0 (at "),
    "closing the model: odd": Case("leave", ODD, 0, "closing: Odd: no usual error (at ", scored=True),
    "closing the model: leave": Case("leave", LEAVE, 0, "closing: SystemExit: 0 (at ", scored=True),
    "preparing: odd": Case("process", ODD, 1, "process.py: process: Odd: no usual error (at "),
    "preparing: leave": Case("process", LEAVE, 1, "process.py: process: SystemExit: 0 (at "),
    "preparing: close": Case("process", CLOSE, 0, "", scored=True),
    "task file: odd": Case("task", ODD, 2, "colours.py: Odd: no usual error (at "),
    "task file: close": Case("task", CLOSE, 0, "", scored=True),
}


def write_case(folder, case):
    """The task file and the model type of a case."""
    own_scoring = "dict(type='BaseEvaluator', eval_func='evaluate.py')"
    hooked = "dict(type='PromptTemplate', post_prompt=hook)"
    settings = {"scoring": {"evaluator": own_scoring}, "hook": {"prompt": hooked}}
    task = write_task(folder, choices(2), **settings.get(case.place, {}))
    bodies = {"init": "pass", "generate": "pass", "leave": "pass", case.place: case.body}
    (folder / "client.py").write_text(CLIENT.format(**bodies))
    (folder / "evaluate.py").write_text(SCORING.format(body=case.body))
    if case.place == "hook":
        task.write_text(HOOK.format(body=case.body) + task.read_text())
    elif case.place == "task":
        task.write_text(f"{case.body}\n{task.read_text()}")
    elif case.place == "process":
        task.write_text(PREPARED.format(name=folder.name))
        data = write_data(folder / "data", choices(2)) / "data.json"
        (folder / "process.py").write_text(PROCESS.format(data=str(data), body=case.body))
    return task, f"{folder / 'client.py'}:Client"


@pytest.fixture(scope="module")
def finished(module_command):
    folder, runs = module_command.folder, {}
    for number, (name, case) in enumerate(CASES.items()):
        task, model = write_case(folder / f"case{number}", case)
        runs[name] = ["--tasks", task, "--model-type", model, "--output-dir", f"out{number}", "--quiet"]
    return module_command.in_one_process(runs)


@pytest.mark.parametrize("name", CASES)
def test_it_ends_with_a_status_and_without_a_traceback(finished, name):
    done, case = finished[name], CASES[name]
    assert done.status == case.status, done.stderr
    assert case.told in done.stderr
    assert "Traceback" not in done.stderr
    # Where every call fails, once by its cause, and once as the task that has no score.
    assert len(done.stderr.splitlines()) == (2 if case.place in ("hook", "generate") else 1) * bool(case.told)
    assert ("colours  accuracy" in done.stdout) is case.scored


def test_answers_before_an_interrupt_of_own_code_are_kept(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(4))
    body = "if settings.question_id == '3': raise KeyboardInterrupt"
    (tmp_path / "client.py").write_text(CLIENT.format(init="pass", generate=body, leave="pass"))
    done = run_command(
        "--tasks", task, "--model-type", "client.py:Client", "--num-workers", 1, "--output-dir", "out", "--quiet"
    )
    assert done.status == 130
    assert "Traceback" not in done.stderr
    assert list(answers_by_id(tmp_path / "out")) == ["1", "2"]


def test_debug_shows_where_own_code_raised(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1), evaluator="dict(type='BaseEvaluator', eval_func='evaluate.py')")
    (tmp_path / "task/evaluate.py").write_text(SCORING.format(body=ODD))
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out", "--debug")
    assert done.status == 1
    assert "Traceback" in done.stderr
    assert ODD in done.stderr


def test_a_table_is_not_lost_where_own_code_closes_the_real_stdout(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1), evaluator="dict(type='BaseEvaluator', eval_func='evaluate.py')")
    (tmp_path / "task/evaluate.py").write_text(SCORING.format(body="import sys; sys.__stdout__.close()"))
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out", "--quiet")
    assert done.status == 0
    assert "colours  accuracy" in done.stderr
