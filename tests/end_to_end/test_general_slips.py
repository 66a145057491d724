"""Slips in a person's own table of questions: nothing is left out or left uncounted without a word."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.folders import write_model, write_picture
from tests.servers import MockEndpoint, Reply


def run(command, dataset, records):
    folder = command.folder / "data"
    folder.mkdir()
    write_picture(folder / "dog.jpg")
    (folder / "own.jsonl").write_text("\n".join(map(json.dumps, records)))
    (command.folder / "task.py").write_text(
        f"dataset = dict(type={dataset!r}, name='own', data_root='data', subset_list=['own'])\n"
        f"evaluator = dict(type='MetricEvaluator', metrics='general_{'vmcq' if 'Vmcq' in dataset else 'vqa'}')\n"
    )
    with MockEndpoint(lambda _: Reply(text="ANSWER: B")) as endpoint:
        model = write_model(command.folder / "model.json", endpoint.url)
        return command("--tasks", "task.py", "--cfg", model, "--output-dir", "out"), endpoint.requests


@pytest.mark.parametrize(
    ("column", "cell", "text", "told"),
    [
        ("images", ["dog.jpg"], "What is it?", True),
        ("image_1", "dog.jpg", "What is it?", True),
        ("image", "dog.jpg", "What is it?", True),
        ("images", ["dog.jpg"], "What is it? <image 1>", False),
        ("images", [], "What is it?", False),
        ("image_1_format", "png", "What is it?", False),
    ],
)
@pytest.mark.parametrize("dataset", ["GeneralVmcqDataset", "GeneralVqaDataset"])
def test_media_that_no_text_asks_for_are_told_of_once(run_command, dataset, column, cell, text, told):
    asked = {"question": text, "options": ["cat", "dog"]}
    if dataset == "GeneralVqaDataset":
        asked = {"messages": [{"role": "user", "content": text}]}
    done, requests = run(run_command, dataset, [{**asked, column: cell, "answer": "B"}] * 2)
    assert len(requests) == 2, done.stderr
    warnings = [line for line in done.warnings if f"{column}: is not sent" in line]
    assert len(warnings) == told


@pytest.mark.parametrize("slip", [{"option": ["cat", "dog"]}, {"options": "cat or dog"}, {"options": None}])
def test_a_record_whose_options_cannot_be_read_is_a_miss(run_command, slip):
    good = {"question": "What is it?", "options": ["cat", "dog"], "answer": "B"}
    done, requests = run(run_command, "GeneralVmcqDataset", [good, {"question": "Which?", "answer": "B", **slip}])
    assert len(requests) == 1
    assert done.status == 1
    result = json.loads((run_command.folder / "out" / "own" / "own_result.json").read_text())
    assert result["accuracy"] == 50.0
    assert (result["counts"]["failed"], result["counts"]["unscored"]) == (1, 0)
    assert not any("no reply can equal" in warning for warning in done.warnings)
