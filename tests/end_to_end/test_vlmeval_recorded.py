"""The tables recorded from VLMEvalKit, run by `flagevalmm vlmeval` and scored again from its files by `score`."""

from __future__ import annotations

import csv
import json
import re

import openpyxl
import pytest

from tests.end_to_end.folders import read_json
from tests.end_to_end.recorded_tables import EXPECTED, REPLIES, tag_of, write_tables
from tests.servers import MockEndpoint, Reply

TABLES = tuple(EXPECTED)
SCORED = [name for name, expected in EXPECTED.items() if expected["tables"] and name != "odd_options"]


@pytest.fixture(scope="module")
def run(module_command):
    """All tables asked in one run by one model, read as VLMEvalKit reads."""
    folder = module_command.folder
    write_tables(folder, folder / "home" / "LMUData")
    with MockEndpoint(lambda request: Reply(text=REPLIES[tag_of(request.text)])) as endpoint:
        done = module_command(
            "vlmeval", "--data", *TABLES, "--model", "mock", "--base-url", endpoint.url, "--rule", "reference",
            "--work-dir", "out",
        )  # fmt: skip
        texts = {tag_of(request.text): request.text for request in endpoint.requests}
    assert done.status == 0, done.stderr
    return module_command, texts


def accuracy(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file), key=lambda record: record.get("split", ""))


def recorded(name: str) -> list[dict[str, str]]:
    [table] = EXPECTED[name]["tables"].values()
    shown = [{key: "" if value is None else str(value) for key, value in record.items()} for record in table]
    return sorted(shown, key=lambda record: record["split"])


def test_every_prompt_is_the_recorded_one(run):
    _, texts = run
    rows = [row for expected in EXPECTED.values() for row in expected["rows"]]
    wrong = [
        row["tag"]
        for row in rows
        if texts[row["tag"]].rstrip() != row.get("want_text", row["messages"][-1]["text"]).rstrip()
    ]
    assert wrong == []
    assert len(texts) == len(rows)


@pytest.mark.parametrize("name", SCORED)
def test_the_accuracy_file_has_the_recorded_name_and_rows(run, name):
    command, _ = run
    [file] = EXPECTED[name]["tables"]
    assert accuracy(command.folder / "out" / "mock" / file) == recorded(name)


@pytest.mark.parametrize("name", TABLES)
def test_the_sheet_has_the_cells_of_the_table_and_the_replies(run, name):
    command, _ = run
    sheet = openpyxl.load_workbook(command.folder / "out" / "mock" / f"mock_{name}.xlsx").active
    header, *lines = sheet.iter_rows(values_only=True)
    with (command.folder / "home" / "LMUData" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    assert list(header) == [*(column for column in table[0] if column != "image"), "prediction"]
    rows = {str(line[header.index("index")]): dict(zip(header, line, strict=True)) for line in lines}
    replies = {str(row["index"]): row["reply"] for row in EXPECTED[name]["rows"]}
    for record in table:
        row = rows[record["index"]]
        assert (row.pop("prediction") or "") == replies[record["index"]]
        assert {key: str(value or "") for key, value in row.items()} == {
            key: value for key, value in record.items() if key != "image"
        }


@pytest.mark.parametrize("kind", ["xlsx", "tsv", "json"])
def test_files_of_predictions_give_the_same_scores_again(run, kind):
    command, _ = run
    flags = ("--data", *TABLES, "--model", "mock", "--rule", "reference", "--work-dir", "out", "--mode", "eval")
    exported = command("vlmeval", *flags, "--base-url", "http://localhost:9/v1", PRED_FORMAT=kind)
    assert exported.status == 0, exported.stderr
    runs = {
        name: (
            "score", "--predictions", f"out/mock/mock_{name}.{kind}", "--data", name, "--rule", "reference",
            "--output-dir", f"again/{kind}/{name}",
        )
        for name in TABLES
    }  # fmt: skip
    for name, done in command.in_one_process(runs).items():
        has_failed = any("Failed to obtain answer" in row["reply"] for row in EXPECTED[name]["rows"])
        assert done.status == int(has_failed), (name, done.stderr)
        scored = command.folder / "again" / kind / name
        assert accuracy(scored / f"mock_{name}_acc.csv") == accuracy(command.folder / f"out/mock/mock_{name}_acc.csv")
        [first] = (command.folder / "out" / "mock").glob(f"T*/{name}/{name}_evaluated.json")
        found = {
            entry["question_id"]: entry["correct"] for entry in read_json(scored / name / f"{name}_evaluated.json")
        }
        assert found == {entry["question_id"]: entry["correct"] for entry in read_json(first)}


def test_the_run_s_own_files_are_beside_them(run):
    command, _ = run
    [folder] = (command.folder / "out" / "mock").glob("T*")
    assert re.fullmatch(r"T\d{8}-\d{6}", folder.name)
    assert {"run.json", "summary.json", "my_mcq"} <= {path.name for path in folder.iterdir()}
    assert json.loads((folder / "run.json").read_text())["model"]["chat_name"] == "mock"
