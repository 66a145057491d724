"""Every code block of the guide to task folders runs as it is written there; the blocks are in `tests/data/documents`.

Only what the guide leaves open is filled in: `...`, `<task_name>`, `<model_config>`, and the endpoint's address.
"""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from textwrap import indent

import pytest
from PIL import Image

from tests.end_to_end.folders import answers_by_id, choices, read_json, result_of, write_data
from tests.servers import MockEndpoint

BLOCKS = Path(__file__).parents[1] / "data" / "documents"
MAKE_DATA_SET = """
import datasets
from PIL import Image

pictures = [Image.new("RGB", size, colour) for size, colour in [((1200, 30), "red"), ((30, 20), "blue")] * 17]
features = {
    "id": datasets.Value("string"), "question": datasets.Value("string"), "answer": datasets.Value("string"),
    "options": [datasets.Value("string")], "image": datasets.Image(), "image_1": datasets.Image(),
    "image_2": datasets.Image(),
}
rows = [
    {"id": f"q{number}", "question": f"Question {number}?", "answer": "AB"[number % 2], "options": ["red", "blue"],
     "image": picture, "image_1": picture, "image_2": picture}
    for number, picture in enumerate(pictures)
]
datasets.Dataset.from_list(rows, datasets.Features(features)).to_parquet("org/DatasetName/test.parquet")
"""
COUNT = 34  # more than a try run asks
SEVERAL = """
import json
import os
import os.path as osp
from datasets import load_dataset


def process(cfg):
    output_dir = osp.join(cfg.processed_dataset_path, cfg.split)
    os.makedirs(osp.join(output_dir, "img"))
    content, num_images = [], 2
    for item in load_dataset(cfg.dataset_path, split="test[:3]"):
        qid = item["id"]
        entry = {{"question_id": qid, "question": item["question"], "question_type": "short-answer", "answer": "B"}}
{block}
        content.append(entry)
    with open(osp.join(output_dir, "data.json"), "w") as file:
        json.dump(content, file)
"""


def block(name: str) -> str:
    return (BLOCKS / f"{name}.txt").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """The guide's commands as argument lists, the program left out."""
    names = {"<task_name>": "my_task", "<model_config>": "model"}
    text = block("commands").replace("\\\n", " ")
    for name, value in names.items():
        text = text.replace(name, value)
    return [shlex.split(line)[1:] for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def place(module_command):
    """A working directory with the guide's task folder and a data set in the form that the HuggingFace hub gives."""
    folder = module_command.folder
    (folder / "org" / "DatasetName").mkdir(parents=True)
    (folder / "look_at_data.py").write_text(block("look_at_data.py"))
    looked = run_python(module_command, "-c", MAKE_DATA_SET + "exec(open('look_at_data.py').read())")
    (folder / "looked.txt").write_text(looked)
    task = folder / "tasks" / "my_task"
    task.mkdir(parents=True)
    for name in ("process.py", "evaluate.py", "my_evaluator.py", "post_prompt.py", "post_prompt_by_type.py"):
        (task / name).write_text(block(name), encoding="utf-8")
    config = block("hub_task.py").partition("dataset = ")[0]
    own = block("own_evaluator_task.py").replace("dict(...)", "dict(type='VqaBaseDataset', config=config, name='own')")
    (task / "my_task.py").write_text(block("hub_task.py"))
    (task / "split_a.py").write_text(filled_in_base_task(config))
    (task / "split_b.py").write_text(config + own)
    return module_command


def filled_in_base_task(config: str) -> str:
    text = block("based_task.py").replace('my_task_test"', 'split_a"')
    text = text.replace("config = dict(...)", config)
    return text.replace("evaluator = dict(...)", "evaluator = dict(type='BaseEvaluator', eval_func='evaluate.py')")


def run_python(command, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=command.folder, env=command.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(place):
    """The guide's commands one after another; (finished commands, requests of each)."""
    finished, requests = [], []
    with MockEndpoint() as endpoint:
        model = block("model.json").replace("https://openrouter.ai/api/v1", endpoint.url)
        (place.folder / "model.json").write_text(model)
        for number, arguments in enumerate(commands()):
            if number == 3:  # scores answers that are there
                (place.folder / "results/openai/gpt-5-mini").rename(place.folder / "previous_results")
            seen = len(endpoint.requests)
            finished.append(place(*arguments))
            requests.append(endpoint.requests[seen:])
    return finished, requests


def test_the_commands_are_the_four_of_the_guide(runs):
    finished, _ = runs
    assert [done.status for done in finished] == [0, 0, 0, 0], finished


def test_a_data_set_is_looked_at_before_a_task_is_written(place):
    first, *others = (place.folder / "looked.txt").read_text().splitlines()
    assert first == f"['id', 'question', 'answer', 'options', 'image', 'image_1', 'image_2'] {COUNT}"
    assert "  question: 'Question 0?'" in others


def test_a_try_run_prepares_the_data_and_asks_the_first_32(runs, place):
    finished, requests = runs
    prepared = place.folder / "cache/datasets/DatasetName/test"
    assert len(read_json(prepared / "data.json")) == COUNT
    assert len(list((prepared / "img").iterdir())) == COUNT
    assert len(requests[0]) == 32
    assert f"partial, 32 of {COUNT} questions (try run)" in finished[0].stdout


def test_the_full_run_asks_the_rest_with_the_model_file_s_settings(runs):
    _, requests = runs
    assert len(requests[1]) == COUNT - 32
    first = requests[0][0]
    assert first.headers["authorization"] == "Bearer <your-api-key>"
    assert (first.body["model"], first.body["max_tokens"]) == ("openai/gpt-5-mini", 28000)
    [url] = first.image_urls
    assert max(Image.open(io.BytesIO(b64decode(url.partition(",")[2]))).size) <= 1000
    assert "A. red\nB. blue\nAnswer with the option's letter from the given choices directly." in first.text


def test_two_variants_run_with_one_command(runs, place):
    finished, requests = runs
    asked = [request.text for request in requests[2]]
    assert len(asked) == 2 * COUNT
    assert sum(text.endswith("\nAnswer with the option letter.") for text in asked) == COUNT
    output = place.folder / "previous_results"
    half = result_of(output, "split_a")
    assert (half["accuracy"], half["over"]) == (50.0, "asked")
    assert result_of(output, "own")["evaluator"] == "MyEvaluator"
    assert "split_a" in finished[2].stdout
    assert "own" in finished[2].stdout


def test_saved_answers_are_scored_again(runs, place):
    finished, requests = runs
    assert requests[3] == []
    assert result_of(place.folder / "previous_results", "my_task_test")["accuracy"] == 50.0
    assert "my_task_test" in finished[3].stdout


def test_local_data_need_no_process(run_command, tmp_path):
    write_data(tmp_path / "elsewhere", choices(3, img_path="one.png"))
    (tmp_path / "local.py").write_text(block("local_task.py"))
    flags = ("--model-type", "random", "--output-dir", "out", "--data-root", "elsewhere")
    done = run_command("--tasks", "local.py", *flags)
    assert done.status == 0
    assert len(answers_by_id(tmp_path / "out", "my_task")) == 3
    assert "no evaluator; its answers are scored by question type" in done.stderr
    assert result_of(tmp_path / "out", "my_task")["evaluator"] == "BaseEvaluator"


def test_several_pictures_and_prompts_by_type_and_groups(place):
    task = place.folder / "tasks" / "several"
    task.mkdir()
    (task / "process.py").write_text(SEVERAL.format(block=indent(block("several_pictures.py"), " " * 8)))
    (task / "by_type.py").write_text(block("post_prompt_by_type.py"))
    config = block("hub_task.py").partition("dataset = ")[0].replace('"DatasetName"', '"Several"')
    dataset = "_base_ = 'by_type.py'\ndataset = dict(config=config, name='several')\n"
    (task / "several.py").write_text(config + dataset + block("detailed_keys.py"))
    with MockEndpoint() as endpoint:
        flags = ("--model", "m", "--url", endpoint.url, "--output-dir", "several_out")
        done = place("--tasks", "tasks/several/several.py", *flags)
        request = endpoint.requests[0]
    assert done.status == 0, done.stderr
    assert [part["type"] for part in request.user_parts][:3:2] == ["image_url", "text"]
    assert len(request.image_urls) == 2
    assert request.text.endswith("?\nProvide a brief answer.")
    result = result_of(place.folder / "several_out", "several")
    assert (result["groups"], result["n_without"]) == ({"sub_task": {}}, {"sub_task": 3})
