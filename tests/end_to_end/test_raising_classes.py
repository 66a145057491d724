"""Whatever a method of a person's own data set, evaluator or metric raises, in each command: one line and a status."""

from __future__ import annotations

import itertools

import pytest

from tests.end_to_end.folders import answers_by_id, choices, write_data
from tests.end_to_end.test_raising_code import INTERRUPT, LEAVE, ODD

DATASET = """\
from flagevalmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagevalmm.registry import DATASETS


@DATASETS.register_module()
class Mine(VqaBaseDataset):
    def __init__(self, **settings):
        {init}
        super().__init__(**settings)

    def __len__(self):
        {length}
        return super().__len__()

    def get_annotation(self):
        {annotation}
        return super().get_annotation()
"""
EVALUATOR = """\
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.registry import EVALUATORS
from flagmm.evaluator.metric import Metric
from flagmm.evaluator.verdict import Verdict


class Own(Metric):
    def can_score(self, annotation):
        {can_score}
        return True

    def score(self, text, annotation):
        {score}
        return Verdict(correct=1.0, extracted=text, rule="own")


@EVALUATORS.register_module()
class MineToo(BaseEvaluator):
    def __init__(self, **settings):
        {make}
        super().__init__(**settings)
        self.metrics = [Own()]

    def process(self, dataset, output_dir, **settings):
        {process}
        return super().process(dataset, output_dir, **settings)


{module}
"""
TASK = """\
register_dataset = {{"ds.py": "Mine"}}
register_evaluator = {{"ev.py": "MineToo"}}
dataset = dict(type="Mine", data_root={data!r}, name="colours")
evaluator = dict(type="MineToo")
"""
OF_DATA = ("init", "length", "annotation")
OF_SCORING = ("can_score", "score", "make", "process", "module")
KINDS = {"odd": ODD, "leave": LEAVE, "interrupt": INTERRUPT}
TOLD = {"odd": "Odd: no usual error (at ", "leave": "SystemExit: 0 (at "}
COMMANDS = ("run", "check", "eval", "dry")
CASES = list(itertools.product(COMMANDS, (*OF_DATA, *OF_SCORING), KINDS))


def write_case(folder, place, kind):
    folder.mkdir()
    bodies = dict.fromkeys((*OF_DATA, *OF_SCORING), "pass") | {place: KINDS[kind]}
    (folder / "ds.py").write_text(DATASET.format(**bodies))
    (folder / "ev.py").write_text(EVALUATOR.format(**bodies))
    data = write_data(folder / "data", choices(2))
    (folder / "task.py").write_text(TASK.format(data=str(data)))
    return folder / "task.py"


def arguments(command, task, out):
    mock = ("eval", "--datasets", task, "--model", "m", "--eval-type", "mock_llm", "--work-dir", out, "--no-timestamp")
    return {
        "run": ("--tasks", task, "--model-type", "random", "--output-dir", out, "--quiet"),
        "check": ("check", task),
        "eval": mock,
        "dry": (*mock, "--dry-run"),
    }[command]


@pytest.fixture(scope="module")
def finished(module_command):
    runs = {}
    for number, case in enumerate(CASES):
        command, place, kind = case
        task = write_case(module_command.folder / f"case{number}", place, kind)
        runs[case] = arguments(command, task, f"out{number}")
    return module_command.in_one_process(runs)


@pytest.mark.parametrize("case", CASES, ids=":".join)
def test_it_ends_with_a_status_and_one_line(finished, module_command, case):
    command, place, kind = case
    done, number = finished[case], CASES.index(case)
    lines = [line for line in done.stderr.splitlines() if " INFO " not in line]
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    if command == "dry" and place in ("can_score", "score", "process"):  # nothing is scored
        assert (done.status, lines) == (0, [])
        return
    assert done.status == (130 if kind == "interrupt" else 1)
    assert len(lines) <= 1
    assert TOLD.get(kind, "interrupted") in done.stderr + done.stdout
    if command in ("run", "eval") and place in ("can_score", "score", "process"):  # the answers were there already
        assert len(answers_by_id(module_command.folder / f"out{number}")) == 2
