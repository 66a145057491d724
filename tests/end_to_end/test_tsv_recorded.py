"""Tables whose prompts, hits and accuracy files were recorded from VLMEvalKit, asked and scored by the real command.

`tests/data/vlmevalkit/tables` are the tables; `expected` has a row's `messages`, `reply` and `hit`, and where that is a
fault, what a careful reader wants (`want_text`, `want_images`, `want_hit`). Wanted texts come without the blanks at
their end. The rows of an accuracy file are in no order there.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json

import pytest

from flagmm.report.results import read_result
from flagmm.report.vlmevalkit import score_records, score_suffix, write_acc_csv
from tests.end_to_end.folders import read_json, write_model
from tests.end_to_end.recorded_tables import EXPECTED, REPLIES, ROWS, tag_of, write_tables
from tests.servers import MockEndpoint, Reply

CHOICES = [name for name, expected in EXPECTED.items() if expected["tables"]]


@pytest.fixture(scope="module")
def run(module_command):
    """All tables asked in one run: the requests by tag, and the output folder."""
    folder = module_command.folder
    write_tables(folder, folder / "LMUData")
    for name in EXPECTED:
        for rule in ("careful", "reference"):
            settings = f"dataset = dict(type='TsvDataset', name='{name}_{rule}', dataset='{name}')\n"
            _write(folder / f"{name}_{rule}.py", settings + f"evaluator = dict(type='TsvEvaluator', rule='{rule}')\n")
    tasks = [f"{name}_{rule}.py" for name in EXPECTED for rule in ("careful", "reference")]
    with MockEndpoint(lambda request: Reply(text=REPLIES[_tag(request)])) as endpoint:
        model = write_model(folder / "model.json", endpoint.url)
        done = module_command("--tasks", *tasks, "--cfg", model, "--output-dir", "out", LMUData=str(folder / "LMUData"))
        assert done.status == 0, done.stderr
        requests = {_tag(request): request.body["messages"] for request in endpoint.requests}
    return requests, folder


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _tag(request):
    return tag_of(json.dumps(request.body["messages"]))


def _sent(messages):
    """What the only message holds: SHA-256 of pictures, and texts."""
    [message] = messages
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [part["text"] if part["type"] == "text" else _digest(part["image_url"]["url"]) for part in content]


def _digest(url):
    return hashlib.sha256(base64.b64decode(url.partition(";base64,")[2], validate=True)).hexdigest()


def _wanted(row, media):
    pictures = [message.get("sha256") for message in row["messages"][:-1]]
    if "want_images" in row:
        pictures = [hashlib.sha256((media / name).read_bytes()).hexdigest() for name in row["want_images"]]
    return [*pictures, row.get("want_text", row["messages"][-1]["text"])]


def _correct(folder, name, rule):
    path = folder / "out" / f"{name}_{rule}" / f"{name}_{rule}_evaluated.json"
    return {entry["question_id"]: entry["correct"] for entry in read_json(path)}


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[row["tag"] for _, row in ROWS])
def test_a_request_has_the_recorded_pictures_and_text_in_order(run, name, row):
    requests, folder = run
    sent, wanted = _sent(requests[row["tag"]]), _wanted(row, folder / "media")
    if "want_text" in row:
        sent[-1] = sent[-1].rstrip()
    assert sent == wanted


HITS = [(name, row) for name, row in ROWS if "hit" in row and name != "my_circular"]


@pytest.mark.parametrize(("name", "row"), HITS, ids=[row["tag"] for _, row in HITS])
def test_a_reply_is_as_right_as_a_careful_reader_wants(run, name, row):
    allowed = row.get("want_hit", row["hit"])
    correct = _correct(run[1], name, "careful")[str(row["index"])]
    assert correct in (allowed if isinstance(allowed, list) else [allowed])


FAULTLESS = [(name, row) for name, row in HITS if name != "odd_options"]


@pytest.mark.parametrize(("name", "row"), FAULTLESS, ids=[row["tag"] for _, row in FAULTLESS])
def test_the_reference_rule_reads_as_vlmevalkit_does(run, name, row):
    assert _correct(run[1], name, "reference")[str(row["index"])] == row["hit"]


def test_free_answers_are_right_where_they_equal_the_reference_but_for_case(run):
    for rule in ("careful", "reference"):
        correct = _correct(run[1], "custom_vqa", rule)
        assert correct == {"1": 1.0, "2": 1.0, "3": 1.0, "4": 0.0, "5": 0.0}


def _accuracy_file(folder, name, rule, path):
    task = f"{name}_{rule}"
    result = read_result(folder / "out" / task / f"{task}_result.json")
    write_acc_csv(path, score_records(result))
    assert score_suffix(result) == "acc.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(csv.DictReader(file), key=lambda record: record["split"])


# Cells that pandas drops are there for us, so this table's accuracy is another; see the next test.
@pytest.mark.parametrize("name", [name for name in CHOICES if name != "odd_options"])
def test_the_accuracy_file_is_the_recorded_one(run, name, tmp_path):
    [recorded] = EXPECTED[name]["tables"].values()
    wanted = [{key: "" if value is None else str(value) for key, value in record.items()} for record in recorded]
    found = _accuracy_file(run[1], name, "reference", tmp_path / "acc.csv")
    assert found == sorted(wanted, key=lambda record: record["split"])
    assert list(found[0]) == list(recorded[0])


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("odd_options", 1, 1),  # options called None, NA, null, nan and N/A are there
        ("messy_replies", 12 / 24, 16 / 24),  # four of the replies may be read or not
        ("my_circular", 0.5, 0.5),
        ("my_mcq", 1, 1),
    ],
)
def test_the_accuracy_with_careful_reading(run, name, least, most, tmp_path):
    [record] = _accuracy_file(run[1], name, "careful", tmp_path / "acc.csv")
    assert least <= float(record["Overall"]) <= most


def test_pictures_are_kept_byte_for_byte_under_the_names_that_vlmevalkit_gives_them(run):
    _, folder = run
    images = folder / "LMUData" / "images"
    assert (images / "my_mcq" / "10.png").read_bytes() == (folder / "media" / "p10.png").read_bytes()
    assert (images / "my_mcq" / "13_1.png").read_bytes() == (folder / "media" / "p14.png").read_bytes()
    assert not (images / "my_mcq" / "14.png").exists()  # it shares the picture of row 10
    assert not list(images.glob("*/*.tmp"))
