"""Code that task folders bring: evaluators, data sets, prompt hooks, helpers; each task's own stay its own."""

from __future__ import annotations

import pytest

from tests.end_to_end.folders import (
    answers_by_id,
    choice,
    choices,
    read_json,
    read_lines,
    result_of,
    write_data,
    write_model,
    write_task,
)
from tests.servers import MockEndpoint

EVALUATOR = """
from helpers import NUMBER
from flagevalmm.evaluator import BaseEvaluator
from flagevalmm.registry import EVALUATORS


@EVALUATORS.register_module()
class Mine(BaseEvaluator):
    def __init__(self, factor=1, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def cal_accuracy(self, annotations, predictions, *args, **kwargs):
        return {"accuracy": NUMBER * self.factor}
"""
OWN_EVALUATOR_TASK = """
register_evaluator = {{"mine.py": "Mine"}}
dataset = dict(type="VqaBaseDataset", data_root={data!r}, name={name!r})
evaluator = dict(type="Mine", factor=10)
"""
BASE_WITH_IMPORTS = """
import json
import os.path as osp
from functools import lru_cache

TABLE = json.loads('{"multiple-choice": "One letter, please."}')


@lru_cache
def look_up(kind):
    return TABLE[kind]


def post_prompt(annotation, **kwargs):
    return look_up(annotation["question_type"])


dataset = dict(type="VqaBaseDataset", prompt_template=dict(type="PromptTemplate", post_prompt=post_prompt))
"""
SECOND_BASE = """
evaluator = dict(type="BaseEvaluator", detailed_keys=["sub_task"])
"""
BASED_TASK = """
_base_ = ["../common/words.py", "../common/scores.py"]


def pre_prompt(annotation):
    print("a hook speaks")
    return f"[{{annotation['sub_task']}}] "


dataset = dict(data_root={data!r}, name="based", prompt_template=dict(pre_prompt=pre_prompt))
"""
OWN_DATA_SET = """
from flagevalmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagevalmm.registry import DATASETS


@DATASETS.register_module()
class Reversed(VqaBaseDataset):
    def __init__(self, *, suffix, **kwargs):
        super().__init__(**kwargs)
        self.suffix = suffix

    def build_prompt(self, annotation, img_path):
        return super().build_prompt(annotation, img_path)[::-1] + self.suffix
"""
OWN_DATA_SET_TASK = """
print("a task file speaks")
from flagmm.metrics.option_labels import option_labels


def get_result(annotations, predictions):
    print("scoring speaks")
    return {{"letters": len(option_labels(5)), "right": [p["answer"] for p in predictions]}}


register_dataset = {{"reversed.py": "Reversed"}}
dataset = dict(type="Reversed", data_root={data!r}, name="reversed", suffix=" <")
evaluator = dict(type="BaseEvaluator", eval_func=get_result)
"""


def raising_hook_task(data: str) -> str:
    return f"""
def pre_prompt(annotation):
    return "" if annotation["question_id"] != 2 else annotation["no_such_field"]


dataset = dict(
    type="VqaBaseDataset", data_root={data!r}, name="hook",
    prompt_template=dict(type="PromptTemplate", pre_prompt=pre_prompt),
)
evaluator = dict(type="BaseEvaluator")
"""


@pytest.fixture(scope="module")
def run(module_command):
    """Five tasks with code of their own in one command; (finished command, requests by task, results directory)."""
    folder = module_command.folder
    data = str(write_data(folder / "data", [choice(1, "Which?", sub_task="one"), choice(2, "What?", sub_task="two")]))
    files = {
        "first/task.py": OWN_EVALUATOR_TASK.format(data=data, name="first"),
        "first/mine.py": EVALUATOR,
        "first/helpers.py": "NUMBER = 1.5\n",
        "second/task.py": OWN_EVALUATOR_TASK.format(data=data, name="second"),
        "second/mine.py": EVALUATOR.replace("NUMBER *", "2 * NUMBER *"),
        "second/helpers.py": "NUMBER = 3\n",
        "common/words.py": BASE_WITH_IMPORTS,
        "common/scores.py": SECOND_BASE,
        "based/task.py": BASED_TASK.format(data=data),
        "own/task.py": OWN_DATA_SET_TASK.format(data=data),
        "own/reversed.py": OWN_DATA_SET,
        "hook/task.py": raising_hook_task(data),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with MockEndpoint() as endpoint:
        tasks = ["first/task.py", "second/task.py", "based/task.py", "own/task.py", "hook/task.py"]
        done = module_command(
            "--tasks", *tasks, "--model", "m", "--url", endpoint.url, "--output-dir", "out", "--num-workers", 1
        )
        texts = [request.text for request in endpoint.requests]
    return done, texts, folder / "out"


def test_all_tasks_run_and_only_the_failed_item_counts(run):
    done, texts, out = run
    assert done.status == 1
    assert done.errors == []
    assert len(texts) == 9
    names = [row["task"] for row in read_json(out / "summary.json")["tasks"]]
    assert names == ["based", "first", "hook", "reversed", "second"]


def test_what_own_code_prints_goes_to_stderr_and_results_to_stdout(run):
    done, _, _ = run
    assert "speak" not in done.stdout
    assert done.stdout.startswith("Task ")
    for line in ("a hook speaks", "a task file speaks", "scoring speaks"):
        assert line in done.stderr.splitlines()


def test_two_tasks_with_the_same_class_and_helper_names_each_get_their_own(run):
    _, _, out = run
    assert result_of(out, "first")["accuracy"] == 15.0
    assert result_of(out, "second")["accuracy"] == 60


def test_several_bases_are_merged_and_their_hooks_keep_their_own_imports(run):
    _, texts, out = run
    options = "A. red\nB. green\nC. blue"
    assert f"[one] Which?\n{options}\nOne letter, please." in texts
    assert f"[two] What?\n{options}\nOne letter, please." in texts
    groups = result_of(out, "based")["groups"]["sub_task"]
    assert {name: (group["accuracy"], group["n"]) for name, group in groups.items()} == {
        "one": (100, 1),
        "two": (100, 1),
    }


def test_a_data_set_class_of_the_task_s_own_makes_the_prompt(run):
    _, texts, out = run
    assert "eulb .C\nneerg .B\nder .A\n?hcihW <" in texts
    assert result_of(out, "reversed")["right"] == ["B", "B"]
    assert result_of(out, "reversed")["letters"] == 5


def test_a_hook_that_raises_is_one_failed_item_that_names_its_line(run):
    _, _, out = run
    first, second = answers_by_id(out, "hook").values()
    assert (first["status"], second["status"]) == ("ok", "failed")
    assert second["error"]["kind"] == "data"
    assert "KeyError: 'no_such_field'" in second["error"]["message"]
    assert "hook/task.py:3" in second["error"]["message"]


def test_functions_are_kept_by_name_and_hash_in_the_copy_of_the_config(run):
    _, _, out = run
    dataset = read_json(out / "based" / "based_config.json")["task"]["dataset"]
    hook = dataset["prompt_template"]["post_prompt"]
    assert hook["function"] == "post_prompt"
    assert len(hook["sha256"]) == 64


def test_names_folders_and_globs_stand_for_task_files(run_command, tmp_path):
    write_data(tmp_path / "data", choices(1))
    for name in ("a", "b", "c"):
        (tmp_path / "tasks").mkdir(exist_ok=True)
        text = f"dataset = dict(type='VqaBaseDataset', data_root='data', name='{name}')\n"
        (tmp_path / "tasks" / f"{name}.py").write_text(text + "evaluator = dict(type='BaseEvaluator')\n")
    (tmp_path / "tasks" / "process.py").write_text("def process(cfg):\n    raise RuntimeError\n")
    (tmp_path / "tasks" / "base.py").write_text("dataset = dict(type='VqaBaseDataset')\n")
    flags = ("--model-type", "random", "--quiet", "--output-dir")
    runs = {"folder": ["--tasks", "tasks", *flags, "1"], "glob": ["--tasks", "tasks/[ab]*.py", *flags, "2"]}
    finished = run_command.together(runs)
    assert [done.status for done in finished.values()] == [0, 0]
    assert [path.name for path in sorted((tmp_path / "1").iterdir()) if path.is_dir()] == ["a", "b", "c"]
    assert [path.name for path in sorted((tmp_path / "2").iterdir()) if path.is_dir()] == ["a", "b"]
    assert finished["folder"].stderr == ""  # --quiet


HOOK_THAT_EXITS = """\
def hook(annotation, **extra):
    raise SystemExit(0)


dataset = dict(prompt_template=dict(type="PromptTemplate", post_prompt=hook))
"""
OWN_SCORING = "dict(type='BaseEvaluator', eval_func='evaluate.py')"
SCORING = """\
import os


def get_result(annotations, predictions):
    os.chdir("/")
    return {"accuracy": %s, "partial": "x"}
"""


def test_code_that_exits_ends_neither_the_run_nor_the_other_tasks(run_command, tmp_path):
    bad = write_task(tmp_path / "bad", choices(2), name="bad")
    text = bad.read_text().replace(", prompt_template=None", "")
    bad.write_text(f"_base_ = 'hook.py'\n{text}")
    (tmp_path / "bad/hook.py").write_text(HOOK_THAT_EXITS)
    good = write_task(tmp_path / "good", choices(2), name="good")
    done = run_command("--tasks", bad, good, "--model-type", "random", "--output-dir", "out")
    assert done.status == 1
    assert "SystemExit" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out/good/good_result.json").exists()


def test_code_that_changes_the_working_directory_moves_no_results(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(2), evaluator=OWN_SCORING)
    (tmp_path / "task/evaluate.py").write_text(SCORING % "1")
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out")
    assert done.status == 0
    assert "partial" not in (tmp_path / "out/colours/colours_result.json").read_text()


@pytest.mark.parametrize("value", ["float('nan')", "'high'", "object()"])
def test_an_accuracy_that_is_no_number_is_an_error_that_names_it(run_command, tmp_path, value):
    task = write_task(tmp_path / "task", choices(1), evaluator=OWN_SCORING)
    (tmp_path / "task/evaluate.py").write_text(SCORING % value)
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out")
    assert done.status == 1
    assert "accuracy: expected a number" in done.stderr


def test_the_record_of_a_scripted_model_says_of_which_task_each_request_is(run_command, tmp_path):
    tasks = [write_task(tmp_path / name, choices(2), name=name) for name in ("first", "second")]
    settings = {"model_type": "scripted", "answers": {"1": "A", "2": "B"}, "record": "asked.jsonl"}
    model = write_model(tmp_path / "model.json", None, **settings)
    done = run_command("--tasks", *tasks, "--cfg", model, "--output-dir", "out")
    assert done.status == 0
    lines = read_lines(tmp_path / "asked.jsonl")
    assert [(line["task"], line["question_id"]) for line in lines] == [
        ("first", "1"), ("first", "2"), ("second", "1"), ("second", "2"),
    ]  # fmt: skip


def test_results_of_a_model_class_go_to_a_folder_of_its_name(run_command, tmp_path):
    task = write_task(tmp_path / "task", choices(1))
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients/mine.py").write_text(OWN_MODEL)
    done = run_command("--tasks", task, "--model-type", "clients/mine.py:Mine")
    assert done.status == 0
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["mine.Mine"]


OWN_MODEL = """
from flagmm.models.client import BaseClient
from flagmm.types import ModelOutput


class Mine(BaseClient):
    def __init__(self, spec):
        pass

    async def generate(self, messages, settings):
        return ModelOutput(text="B")
"""
