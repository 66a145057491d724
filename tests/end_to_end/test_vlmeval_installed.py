"""The bridge with VLMEvalKit itself, where it is installed: prompts and scores are those of our own data sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flagmm.vlmeval.bridge.official import is_installed
from tests.end_to_end.folders import read_json, write_model
from tests.end_to_end.recorded_tables import EXPECTED, REPLIES, tag_of, write_tables
from tests.servers import MockEndpoint, Reply

pytestmark = pytest.mark.skipif(not is_installed(), reason="VLMEvalKit is not installed")

SCORED = [name for name, expected in EXPECTED.items() if expected["tables"]]
UNLIKE = {
    "messy_replies": "builds of VLMEvalKit differ in whether they read 'answer is X'",
    "odd_options": "pandas takes options such as 'None' away, and we do not",
}
TOOL = Path(__file__).parents[2] / "tools" / "compare_vlmevalkit.py"
IMPORTING = 240.0
"""Seconds that VLMEvalKit's import and two runs may take on a busy machine."""


def answer(request):
    return Reply(text=REPLIES[tag_of(json.dumps(request.body["messages"]))])


@pytest.fixture(scope="module")
def run(module_command):
    """The tables by the bridge, then by our own data set, and the texts that each sent."""
    folder = module_command.folder
    data = folder / "home" / "LMUData"
    write_tables(folder, data)
    for name in SCORED:
        (folder / f"{name}.py").write_text(
            f"dataset = dict(type='VLMEvalKitDataset', dataset_name={name!r}, data_root={str(data)!r})\n"
            "evaluator = dict(type='VLMEvalKitEvaluator', eval_kwargs=dict(model='exact_matching', nproc=1))\n"
        )
    with MockEndpoint(answer) as endpoint:
        model = write_model(folder / "model.json", endpoint.url)
        tasks = [f"{name}.py" for name in SCORED]
        bridge = module_command("--tasks", *tasks, "--cfg", model, "--output-dir", "bridge", timeout=IMPORTING)
        assert bridge.status == 0, bridge.stderr
        by_bridge = {tag_of(request.text): request.text for request in endpoint.requests}
    with MockEndpoint(answer) as endpoint:
        own = module_command(
            "vlmeval", "--data", *SCORED, "--model", "mock", "--base-url", endpoint.url, "--rule", "reference",
            "--work-dir", "own",
        )  # fmt: skip
        assert own.status == 0, own.stderr
        by_us = {tag_of(request.text): request.text for request in endpoint.requests}
    return folder, by_bridge, by_us


@pytest.mark.parametrize("name", [name for name in SCORED if name not in UNLIKE])
def test_the_accuracy_is_that_of_our_own_way(run, name):
    folder, _, _ = run
    bridge = read_json(folder / "bridge" / name / f"{name}_result.json")
    [own] = folder.glob(f"own/mock/T*/{name}/{name}_result.json")
    assert bridge[bridge["headline"]] == pytest.approx(read_json(own)["accuracy"], abs=0.005)


def test_the_prompts_are_those_of_our_own_way(run):
    _, by_bridge, by_us = run
    common = [row["tag"] for name in SCORED if name not in UNLIKE for row in EXPECTED[name]["rows"]]
    assert [tag for tag in common if by_bridge[tag].strip() != by_us[tag].strip()] == []


def test_the_tool_compares_a_file_of_predictions(run):
    folder, _, _ = run
    environment = {**os.environ, "LMUData": str(folder / "home" / "LMUData"), "HOME": str(folder)}
    command = [sys.executable, str(TOOL), "--data", "custom_mcq", "--predictions", "own/mock/mock_custom_mcq.xlsx"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=IMPORTING)
    assert done.returncode == 0, done.stderr
    assert "6 scores, 0 differ" in done.stdout
