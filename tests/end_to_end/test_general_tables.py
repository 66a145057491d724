"""`flagevalmm eval` on the files recorded from EvalScope 1.14.1: the same tables and the same scores of each row."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.end_to_end.folders import read_json, read_lines
from tests.servers import MockEndpoint, Reply

RECORDED = Path(__file__).parents[1] / "data" / "general"
RUNS = read_json(RECORDED / "tables.json")
REPLIES = {line["tag"]: line["reply"] for line in read_lines(RECORDED / "requests.jsonl")}
SCORES = read_lines(RECORDED / "scores.jsonl")
JUDGE = "mock-judge"
_TAG = re.compile(r"#([vm]\d+)#")


def answer(request):
    if request.body["model"] == JUDGE:
        return Reply(text="VERDICT: CORRECT")
    return Reply(text=REPLIES[_TAG.search(json.dumps(request.body["messages"]))[1]])


@pytest.fixture(scope="module")
def runs(module_command):
    """Every recorded run; (the finished command, its results folder) by name."""
    folder = module_command.folder
    for name in ("vqa", "mcq"):
        shutil.copytree(RECORDED / name, folder / name)
    with zipfile.ZipFile(RECORDED / "media.zip") as archive:
        archive.extractall(folder)
    with MockEndpoint(answer) as endpoint:
        commands = {name: arguments(name, run, endpoint.url) for name, run in RUNS.items()}
        done = module_command.together(commands, JUDGE_KEY="sk-judge")
    return {name: (done[name], folder / "out" / name) for name in RUNS}


def arguments(name, run, url):
    judge = {"strategy": "llm", "models": {"model_id": JUDGE, "api_url": url, "api_key": "$JUDGE_KEY"}}
    return [
        "eval", "--model", "mock", "--api-url", url, "--eval-type", "openai_api", "--datasets", run["dataset"],
        "--dataset-args", json.dumps({run["dataset"]: run["args"]}), "--work-dir", f"out/{name}", "--no-timestamp",
        *(["--judge", json.dumps(judge)] if run["task"].get("judge") else []),
    ]  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_the_table_is_the_recorded_one(runs, name):
    done, _ = runs[name]
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines][1:]
    assert [row[2:6] for row in cells] == RUNS[name]["rows"]
    assert {tuple(row[:2]) for row in cells} == {("mock", RUNS[name]["dataset"])}
    assert done.status == 0


@pytest.mark.parametrize("line", SCORES, ids=[line["tag"] for line in SCORES])
def test_the_score_of_a_row_is_the_recorded_one(runs, line):
    _, folder = runs[line["run"]]
    run = RUNS[line["run"]]
    subset = Path(line["file"]).stem
    several = len(run["args"]["subset_list"]) > 1
    question_id = f"{subset}/{line['row']}" if several else str(line["row"])
    entries = read_json(folder / run["dataset"] / f"{run['dataset']}_evaluated.json")
    [entry] = [entry for entry in entries if entry["question_id"] == question_id]
    for metric, score in line["scores"].items():
        found = entry["correct"] if metric in ("acc", "accuracy") else entry["scores"][metric]
        assert found == pytest.approx(score, abs=1e-4), metric
