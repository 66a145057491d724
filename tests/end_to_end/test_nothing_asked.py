"""A run without a question or an answer has results, but passes for no success."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

import flagmm
from flagmm.errors import DataError
from tests.end_to_end.folders import choices, read_json, write_task

ARGS = '{"general_vmcq": {"local_path": "%s"}}'
EVAL = ("eval", "--model", "m", "--eval-type", "mock_llm", "--datasets", "general_vmcq", "--no-timestamp")
EMPTY = "no question is in it, so there is no score; look at its data"


class Case(NamedTuple):
    arguments: tuple[str, ...]
    told: str
    result: str | None = None
    """The file that holds it."""


CASES = {
    "list of no items": Case(
        ("--tasks", "t/none.py", "--model-type", "random", "--output-dir", "o1"),
        f"none.py: dataset: {EMPTY}",
        "o1/none/none_result.json",
    ),
    "task that is not scored": Case(
        ("--tasks", "t/asked.py", "--model-type", "random", "--output-dir", "o2"),
        f"asked.py: dataset: {EMPTY}",
        "o2/asked/asked_result.json",
    ),
    "answers of none": Case(
        ("--tasks", "t/some.py", "--without-infer", "--output-dir", "saved"),
        "some: none of the 2 questions has an answer, so there is no score",
        "saved/some/some_result.json",
    ),
    "empty file": Case(
        (*EVAL, "--dataset-args", ARGS % "empty.jsonl", "--work-dir", "o3"),
        f"general_vmcq.py: dataset: {EMPTY}",
        "o3/general_vmcq/general_vmcq_result.json",
    ),
    "header alone, and errors ignored": Case(
        (*EVAL, "--dataset-args", ARGS % "header.tsv", "--work-dir", "o4", "--ignore-errors"),
        f"general_vmcq.py: dataset: {EMPTY}",
        "o4/general_vmcq/general_vmcq_result.json",
    ),
}


@pytest.fixture(scope="module")
def finished(module_command):
    folder = module_command.folder
    write_task(folder / "t", [], name="none")
    (folder / "t/asked.py").write_text("dataset = dict(type='VqaBaseDataset', data_root='t/data', name='asked')\n")
    some = write_task(folder / "s", choices(2), name="some")
    some.rename(folder / "t/some.py")
    (folder / "saved/some").mkdir(parents=True)
    (folder / "saved/some/some.json").write_text("[]")
    (folder / "empty.jsonl").touch()
    (folder / "header.tsv").write_text("question\toptions\tanswer\n")
    return module_command.in_one_process({name: case.arguments for name, case in CASES.items()})


@pytest.mark.parametrize("name", CASES)
def test_the_status_is_2_with_one_line_and_the_result_is_written(finished, module_command, name):
    done, case = finished[name], CASES[name]
    assert done.status == 2
    [error] = done.errors
    assert error.endswith(case.told)
    assert read_json(module_command.folder / case.result)["counts"]["asked"] == 0
    assert "WARNING: nothing was asked" in done.stdout


def test_looking_at_data_without_a_question_finds_fault_with_them(run_command, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    dry = run_command(*EVAL, "--dataset-args", ARGS % "empty.jsonl", "--dry-run")
    assert (dry.status, "0 questions (none)" in dry.stdout) == (1, True)
    checked = run_command("check", write_task(tmp_path / "t", [], name="none"))
    assert (checked.status, "none: WRONG: no question is in the data set" in checked.stdout) == (1, True)


def test_where_every_row_is_broken_all_have_failed(run_command, tmp_path):
    (tmp_path / "broken.jsonl").write_text("no json\n[1]\n")
    done = run_command(*EVAL, "--dataset-args", ARGS % "broken.jsonl", "--work-dir", "out")
    assert done.status == 1
    assert "general_vmcq: all 2 calls failed, so there is no score: " in done.stderr
    assert not list(tmp_path.glob("out/**/general_vmcq_result.json"))


def test_from_python_it_is_an_error_of_its_data_set(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    settings = {"model": "m", "eval_type": "mock_llm", "work_dir": "out", "datasets": ["general_vmcq"]}
    reports = flagmm.run_task({**settings, "dataset_args": json.loads(ARGS % "empty.jsonl")})
    assert (reports["general_vmcq"].num, reports["general_vmcq"].score) == (0, None)
    assert isinstance(reports.errors["general_vmcq"], DataError)
