"""Each kind of mistake is told in one line that says where, what and what to do; exit status 2, no traceback."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import pytest

import flagmm
from tests.end_to_end.folders import choices, read_json, write_data, write_task

PLAIN = (
    "dataset = dict(type='VqaBaseDataset', data_root='data', name='plain')\nevaluator = dict(type='BaseEvaluator')\n"
)
PREPARED = (
    "config = dict(split='test', processed_dataset_path='{name}', processor='{processor}')\n"
    "dataset = dict(type='VqaBaseDataset', config=config, name='{name}')\n"
)
MODEL = {"model_name": "m", "url": "http://127.0.0.1:9/v1", "num_workers": 2}
KEY = "sk-0pen-Sesame-7c1f"
RANDOM = ("--model-type", "random")

WRONG_TYPES = {  # what is added to the data set or the evaluator of a sound task -> what is told
    "anno_file=5": "dataset: anno_file: expected a text or a list of texts, found 5",
    "data_root=5": "dataset: data_root: expected a text or a path, found 5",
    "cache_dir=5": "dataset: cache_dir: expected a text or a path, found 5",
    "config=5": "dataset: config: expected a dict, found 5",
    "config=dict(processor=5)": "dataset: config: processor: expected a text or a path, found 5",
    "debug='yes'": "dataset: debug: expected true or false, found 'yes'",
    "prompt_template=5": "dataset: prompt_template: expected a dict, found 5",
    "prompt_template=dict(type='PromptTemplate', post_prompt=5)": (
        "dataset: prompt_template: post_prompt: expected a text or a function, found 5"
    ),
    "detailed_keys=5": "evaluator: detailed_keys: expected a list of texts, found 5",
    "detailed_keys='sub_task'": "evaluator: detailed_keys: expected a list of texts, found 'sub_task'",
    "is_clean='no'": "evaluator: is_clean: expected true or false, found 'no'",
    "judge=5": "evaluator: judge: expected a dict with the keys of a model file, found int",
    "type='MetricEvaluator', metrics=5": "evaluator: metrics: expected a list or a text or a dict, found 5",
    "type='MetricEvaluator', metrics=dict(type='anls', threshold='high')": (
        "evaluator: metrics: threshold: expected a number, found 'high'"
    ),
    "type=5": "dataset: type: expected a text, found 5",
    "limit='many', type='GeneralVqaDataset'": "dataset: limit: expected a number, found 'many'",
    "local_path=5, type='GeneralVqaDataset', data_root=None": "dataset: local_path: expected a text, found 5",
    "subset_list=5, type='GeneralVmcqDataset'": "dataset: subset_list: expected a list of texts or a text, found 5",
    "dataset=5, type='TsvDataset'": "dataset: dataset: expected a text, found 5",
    "video_mode=5, type='GeneralVqaDataset'": "dataset: video_mode: expected 'file' or 'frames', found 5",
    "type='MmmuEvaluator', rule='official'": "rule: expected 'reference' or 'careful', found 'official'",
}


def wrong_task(number: int, setting: str, told: str) -> str:
    values = {"dataset": "type='VqaBaseDataset', data_root='data'", "evaluator": "type='BaseEvaluator'"}
    changed = "evaluator" if "evaluator" in told or "type='M" in setting else "dataset"
    dicts = {key: f"dict({text})" for key, text in values.items()}
    dicts[changed] = f"{{**{dicts[changed]}, **dict({setting})}}"
    return f"dataset = {{**{dicts['dataset']}, 'name': 'wrong{number}'}}\nevaluator = {dicts['evaluator']}\n"


FILES = {
    **{f"wrong{number}.py": wrong_task(number, *wrong) for number, wrong in enumerate(WRONG_TYPES.items())},
    "plain.py": PLAIN,
    "twin.py": PLAIN,
    "syntax.py": "a = 1\nb = = 2\n",
    "bad_base.py": "x = 1\nclass :\n",
    "child.py": "_base_ = 'bad_base.py'\n" + PLAIN,
    "no_base.py": "_base_ = 'nowhere.py'\n" + PLAIN,
    "raising.py": "import json\nvalue = json.loads('{')\n" + PLAIN,
    "leaving.py": "import sys\nsys.exit('no data here')\n" + PLAIN,
    "no_dataset.py": "evaluator = dict(type='BaseEvaluator')\n",
    "no_name.py": "dataset = dict(type='VqaBaseDataset', data_root='data')\n",
    "no_package.py": "import a_package_nobody_has\n" + PLAIN,
    "unknown_type.py": PLAIN.replace("VqaBaseDataset", "VqaBaseDataSet"),
    "unknown_evaluator.py": PLAIN.replace("BaseEvaluator", "BaseEvaluater"),
    "unknown_keyword.py": PLAIN.replace("data_root", "data_rot"),
    "unknown_prompt.py": PLAIN.replace("name=", "prompt_template=dict(type='PromptTemplat'), name="),
    "no_process.py": PREPARED.format(name="gone", processor="nowhere.py"),
    "without_process.py": PREPARED.format(name="empty", processor="empty_process.py"),
    "empty_process.py": "def prepare(cfg):\n    pass\n",
    "no_data.py": PLAIN.replace("'data'", "'no_such_folder'"),
    "no_eval_func.py": PLAIN.replace("BaseEvaluator'", "BaseEvaluator', eval_func='nowhere.py'"),
    "no_class.py": "register_evaluator = {'empty_process.py': 'Mine'}\n" + PLAIN,
    "mine.py": "from flagevalmm.registry import EVALUATORS\n\n\n@EVALUATORS.register_module()\nclass Mine:\n    pass\n",
    "owner.py": "register_evaluator = {'mine.py': 'Mine'}\n" + PLAIN.replace("BaseEvaluator", "Mine"),
    "borrower.py": PLAIN.replace("BaseEvaluator", "Mine").replace("plain", "borrower"),
    "duplicates.py": PLAIN.replace("'data'", "'data', anno_file=['a.json', 'b.json']"),
    "misspelt.json": json.dumps({**MODEL, "num_worker": 8}),
    "wrong_type.json": json.dumps({**MODEL, "num_workers": "8x"}),
    "no_json.json": '{"model_name": "m",\n "url" "x"}',
    "no_object.json": "[1]",
    "unset_key.json": json.dumps({**MODEL, "api_key": "$THE_KEY_NOBODY_SET"}),
    "no_url.json": json.dumps({"model_name": "m"}),
    "odd_url.json": json.dumps({"model_name": "m", "url": "localhost:8000/v1"}),
    "repeats.json": json.dumps({**MODEL, "num_infers": 3, "temperature": 0}),
    "unknown_model_type.json": json.dumps({**MODEL, "model_type": "htpp"}),
    "wrong_key_name.json": json.dumps({**MODEL, "api_keys": KEY}),
    "wrong_key_type.json": json.dumps({**MODEL, "api_key": [KEY]}),
    "wrong_header.json": json.dumps({**MODEL, "headers": {"X-Api-Key": [KEY]}}),
    "key_in_odd_url.json": json.dumps({"model_name": "m", "url": f"localhost/v1?api-key={KEY}"}),
    "mixed/good.py": PLAIN,
    "mixed/bad.py": "dataset = 5\n",
    "mixed/process.py": "def process(cfg):\n    pass\n",
    "hook.py": "def words(annotation):\n    pass\n\n\n"
    + PLAIN.replace("name=", "prompt_template=dict(type='PromptTemplate', post_prompt=words), name="),
    "media.py": PLAIN.replace("'data'", "'data', anno_file='media.json'"),
    "data/media.json": json.dumps([{**choices(1)[0], "img_path": 7}]),
    "wrong_class.py": "register_evaluator = {'mine.py': 5}\n" + PLAIN,
    "wrong_record.json": json.dumps({"model_type": "scripted", "answers": {}, "record": 5}),
    "unwritable.json": json.dumps({"model_type": "scripted", "answers": {}, "record": "/nowhere/asked.jsonl"}),
    "user_and_key.json": json.dumps({**MODEL, "url": "http://u:secret@127.0.0.1:9/v1", "api_key": KEY}),
    "broken_header.json": json.dumps({**MODEL, "headers": {"X-Api-Key": f"{KEY}\r\nX: y"}}),
    "broken_key.json": json.dumps({**MODEL, "api_key": f"{KEY}\n{KEY}"}),
    "odd_key.json": json.dumps({**MODEL, "api_key": f"{KEY}…"}),
    "good.json": json.dumps(MODEL),
    "table.jsonl": '{"question": "Which?", "options": ["a", "b"], "answer": "A"}\n',
    "picture.png": "no picture at all",
}


@pytest.fixture(scope="module")
def place(module_command):
    folder = module_command.folder
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    write_data(folder / "data", choices(2))
    write_data(folder / "data", choices(1), file="a.json")
    write_data(folder / "data", [{**choices(1)[0], "question_id": "1"}], file="b.json")
    return module_command


class Mistake(NamedTuple):
    arguments: tuple[str, ...]
    told: tuple[str, ...]


def task(name, *told):
    return Mistake(("--tasks", name, *RANDOM, "--output-dir", f"out/{name}"), told)


def model(name, *told):
    return Mistake(("--tasks", "plain.py", "--cfg", name, "--output-dir", f"out/{name}"), told)


MISTAKES = {
    **{
        f"wrong type: {setting}": Mistake(
            ("--tasks", "plain.py", f"wrong{number}.py", *RANDOM, "--output-dir", "out/wrong"),
            (f"wrong{number}.py: ", told),
        )
        for number, (setting, told) in enumerate(WRONG_TYPES.items())
    },
    "wrong type of a class's name": task(
        "wrong_class.py", "wrong_class.py: register_evaluator: expected a dict of texts"
    ),
    "wrong type of a scripted model": model("wrong_record.json", "wrong_record.json: record: expected a text, found 5"),
    "no task in a folder of tasks": task("mixed", "mixed/bad.py: dataset: expected a dict, found 5"),
    "hook that gives nothing": task(
        "hook.py", "plain: prompt_template: post_prompt: words (", "hook.py:1) returned None, expected a text"
    ),
    "picture that is a number": task(
        "media.py", "media.json: item 0 (question_id 1): 'img_path': expected a path or a list of paths, found 7"
    ),
    "record that cannot be written": model(
        "unwritable.json", "record: /nowhere/asked.jsonl: No such file or directory"
    ),
    "user and key": model("user_and_key.json", "user_and_key.json: url holds a user, and there is an API key"),
    "line break in a header": model("broken_header.json", "broken_header.json: headers: X-Api-Key: holds a line break"),
    "line break in a key": model("broken_key.json", "broken_key.json: api_key: holds a line break"),
    "key that is no Latin-1": model("odd_key.json", "odd_key.json: api_key: its character 20 is not of Latin-1"),
    "table as task": task("table.jsonl", "table.jsonl: a table of questions", "--tasks general_vqa (", "table.jsonl"),
    "picture as task": task("picture.png", "picture.png: no task file; a task file is a .py file"),
    "missing task file": task("nowhere.py", "nowhere.py: no such task file"),
    "unknown installed task": task("demo/ocrr", "demo/ocrr: no such task file", "Did you mean 'demo/ocr'?"),
    "glob without match": task("nothing_*.py", "'nothing_*.py' matches no task file"),
    "syntax error": task("syntax.py", "syntax.py:2: syntax error"),
    "syntax error in a base": task("child.py", "bad_base.py:2: syntax error"),
    "missing base": task("no_base.py", "no_base.py: _base_: 'nowhere.py': no such file"),
    "task file that raises": task("raising.py", "raising.py: JSONDecodeError", ":2)"),
    "task file that ends the program": task("leaving.py", "leaving.py: SystemExit: no data here (at", ":2)"),
    "task file without dataset": task("no_dataset.py", "no_dataset.py: defines no 'dataset'"),
    "dataset without name": task("no_name.py", "no_name.py: dataset: 'name' is missing"),
    "package not installed": task("no_package.py", "needs the package 'a_package_nobody_has': pip install it"),
    "unknown dataset": task("unknown_type.py", "unknown_type.py: dataset: ", "Did you mean 'VqaBaseDataset'?"),
    "unknown evaluator": task("unknown_evaluator.py", "unknown_evaluator.py: evaluator: ", "mean 'BaseEvaluator'?"),
    "unknown keyword": task("unknown_keyword.py", ": dataset: VqaBaseDataset takes no 'data_rot'", "mean 'data_root'?"),
    "unknown prompt": task(
        "unknown_prompt.py", "unknown_prompt.py", "prompt_template", "Did you mean 'PromptTemplate'?"
    ),
    "missing process.py": task("no_process.py", "no_process.py", "processor", "nowhere.py: no such file"),
    "process.py without process": task("without_process.py", "empty_process.py: defines no function 'process'"),
    "missing data": task("no_data.py", "plain: dataset: data_root: ", "no_such_folder: no such folder"),
    "missing evaluate.py": task("no_eval_func.py", "no_eval_func.py: ", "nowhere.py: no such file"),
    "class not registered": task("no_class.py", "no_class.py: register_evaluator: empty_process.py", "class 'Mine'"),
    "class of another task": Mistake(
        ("--tasks", "owner.py", "borrower.py", *RANDOM), ("borrower.py: evaluator: unknown evaluator type 'Mine'",)
    ),
    "duplicate ids": task("duplicates.py", "b.json: item 0 has the question_id '1' of", "a.json: item 0"),
    "misspelt key": model("misspelt.json", "misspelt.json: unknown key 'num_worker'. Did you mean 'num_workers'?"),
    "wrong type": model("wrong_type.json", "wrong_type.json: num_workers: expected a whole number above 0, found '8x'"),
    "no JSON": model("no_json.json", "no_json.json:2:8: not valid JSON"),
    "no object": model("no_object.json", "no_object.json: expected an object"),
    "missing model file": model("nowhere.json", "nowhere.json: no such model file"),
    "key not set": model("unset_key.json", "unset_key.json: api_key: ", "THE_KEY_NOBODY_SET is not set; export it"),
    "misspelt key of a key": model("wrong_key_name.json", "unknown key 'api_keys'. Did you mean 'api_key'?"),
    "key that is no text": model("wrong_key_type.json", "api_key: expected a text, found ***"),
    "header that is no text": model("wrong_header.json", "headers: expected an object of texts, found ***"),
    "key in an odd url": model("key_in_odd_url.json", "url: 'localhost/v1?api-key=***' is no http or https URL"),
    "no url": model("no_url.json", "'m': url is missing; give the endpoint's URL"),
    "odd url": model("odd_url.json", "url: 'localhost:8000/v1' is no http or https URL"),
    "repeats at temperature 0": model("repeats.json", "repeats.json: num_infers 3 with temperature 0", "above 0"),
    "unknown model type": model("unknown_model_type.json", "type.json: model_type: ", "'htpp'", "Did you mean 'http'?"),
    "two tasks of one name": Mistake(
        ("--tasks", "plain.py", "twin.py", *RANDOM), ("twin.py: dataset: name: 'plain' is also that of", "rename one")
    ),
    "results directory is a file": Mistake(
        ("--tasks", "plain.py", *RANDOM, "--output-dir", "good.json"),
        ("--output-dir: good.json is a file, and results need a folder",),
    ),
    "no model": Mistake(("--tasks", "plain.py"), ("no model: give --cfg with a model file, or --model and --url",)),
    "adapter": Mistake(
        ("--tasks", "plain.py", "--cfg", "good.json", "--exec", "model_zoo/vlm/qwen/adapter.py"),
        ("--exec model_zoo/vlm/qwen/adapter.py", "endpoint", "--url"),
    ),
    "nothing to score": Mistake(
        ("--tasks", "plain.py", "--without-infer", "--output-dir", "out/never"),
        ("plain.json: no such file; run the inference first",),
    ),
    "no directory to score": Mistake(("--tasks", "plain.py", "--without-infer"), ("--output-dir", "where the answers")),
}


@pytest.fixture(scope="module")
def finished(place):
    return place.in_one_process({name: mistake.arguments for name, mistake in MISTAKES.items()})


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_one_line(finished, name):
    done = finished[name]
    lines = [line for line in done.stderr.splitlines() if " INFO " not in line]
    assert done.status == 2
    assert len(lines) == len(done.errors) == 1
    for text in MISTAKES[name].told:
        assert text in done.errors[0]
    # A task that the run came to has a row, which says no more than why it has no score.
    assert done.stdout == "" or len(re.findall(r"(?m)^\w+ +not run: .* - +0 +0 +0 +0$", done.stdout)) == 1
    assert KEY not in done.stderr + done.stdout


def test_a_value_of_a_wrong_type_is_told_before_anything_is_asked(finished, place):
    assert not (place.folder / "out/wrong").exists()


def test_debug_adds_the_traceback(place, finished):
    done = place("--tasks", "raising.py", *RANDOM, "--debug")
    assert done.status == 2
    assert "Traceback" in done.stderr
    assert "json.loads('{')" in done.stderr
    assert done.errors == finished["task file that raises"].errors


def test_the_tasks_without_a_mistake_run(place):
    write_data(place.folder / "other", choices(1))
    (place.folder / "other.py").write_text(PLAIN.replace("'data'", "'other'").replace("plain", "other"))
    done = place("--tasks", "without_process.py", "other.py", *RANDOM, "--output-dir", "out/others")
    assert done.status == 2
    assert done.errors[0].startswith("empty: ")
    assert "other" in done.stdout
    assert (place.folder / "out/others/other/other_result.json").exists()


def test_an_unknown_flag_is_an_error_with_the_usage(place):
    done = place("--task", "plain.py")
    assert done.status == 2
    assert "--tasks" in done.stderr
    assert "Traceback" not in done.stderr


FOREIGN = ("--no-local-mode", "--server-port", "1234", "--server_ip", "localhost", "--disable_evaluation_server")


def test_flags_of_flagevalmm_that_mean_nothing_here_are_taken_with_one_warning(place):
    adapter = ("--exec", "model_zoo/vlm/api_model/model_adapter.py")
    workers = ("--num_workers", "3", "--output_dir", "out/foreign")  # their spelling of flags that do mean something
    done = place("--tasks", "plain.py", *RANDOM, *FOREIGN, *adapter, *workers)
    assert done.status == 0
    [warning] = done.warnings
    for flag in ("--no-local-mode", "--server-port", "--server-ip", "--disable-evaluation-server", "--exec"):
        assert flag in warning
    manifest = read_json(place.folder / "out/foreign/run.json")
    assert manifest["model"]["num_workers"] == 3


def test_version_and_help_are_told_on_stdout(place):
    version, usage = place("--version"), place("--help")
    assert (version.status, usage.status) == (0, 0)
    assert version.stdout.split() == ["flagmm", flagmm.__version__]
    assert "flagevalmm --tasks demo/ocr --cfg ocr" in usage.stdout


@pytest.mark.parametrize(
    ("dataset", "evaluator", "said"),
    [
        ("VqaBaseDataset", "CLIPScoreEvaluator", "CLIPScoreEvaluator: flagmm does not score generation"),
        ("Text2ImageBaseDataset", "BaseEvaluator", "Text2ImageBaseDataset: flagmm does not score generation"),
    ],
)
def test_a_task_of_generation_is_refused_in_one_line(run_command, tmp_path, dataset, evaluator, said):
    task = write_task(tmp_path / "task", choices(1), evaluator=f"dict(type={evaluator!r}, model='clip')")
    task.write_text(task.read_text().replace("VqaBaseDataset", dataset))
    done = run_command("--tasks", task, "--model-type", "random", "--output-dir", "out")
    assert (done.status, len(done.errors)) == (2, 1), done.stderr
    assert all(text in done.errors[0] for text in (str(task), said))
