"""Requests recorded from EvalScope 1.14.1, and what the formats' document demands where that fails.

`tests/data/general` holds the data files, `requests.jsonl` what was sent for each row, `demands.jsonl` the rest. Blanks
at the ends of texts do not matter; the order of parts does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.end_to_end.folders import answers_by_id, read_lines, write_model
from tests.servers import MockEndpoint, Reply

RECORDED = Path(__file__).parents[1] / "data" / "general"
REQUESTS = read_lines(RECORDED / "requests.jsonl")
DEMANDS = read_lines(RECORDED / "demands.jsonl")
REPLIES = {line["tag"]: line["reply"] for line in [*REQUESTS, *DEMANDS]}
ARGUMENTS = {run: values["args"] for run, values in json.loads((RECORDED / "tables.json").read_text()).items()}
VQA_FILES = ["placeholder", "tab", "com", "pq", "hf"]
TASKS = {
    "openai": ("GeneralVqaDataset", {"data_root": "vqa", "subset_list": ["openai", "judged", "no_answer"]}),
    "placeholder": ("GeneralVqaDataset", {"data_root": "vqa", "subset_list": VQA_FILES}),
    "system": ("GeneralVqaDataset", ARGUMENTS["system"]),
    "vmcq": ("GeneralVmcqDataset", {"data_root": "mcq", "subset_list": ["basic", "replies", "tab", "com"]}),
    "template": ("GeneralVmcqDataset", ARGUMENTS["template"]),
    "bad_vqa": (
        "GeneralVqaDataset",
        {
            "data_root": "vqa",
            "subset_list": [
                "bad_beside", "bad_messages_number", "bad_missing_file", "bad_not_json", "bad_plural_tsv",
                "bad_raw_audio", "bad_unknown_part",
            ],
        },
    ),
    "bad_vmcq": (
        "GeneralVmcqDataset",
        {
            "data_root": "mcq",
            "subset_list": ["bad_no_answer", "bad_options_text", "bad_plural_tsv", "bad_unused_malformed"],
        },
    ),
}  # fmt: skip
_TAG = re.compile(r"#([vm]\d+)#")


@pytest.fixture(scope="module")
def run(module_command):
    """All data files asked in one run: the command's end, the requests by tag, the answers by task."""
    folder = module_command.folder
    for name in ("vqa", "mcq"):
        shutil.copytree(RECORDED / name, folder / name)
    with zipfile.ZipFile(RECORDED / "media.zip") as archive:
        archive.extractall(folder)
    for name, (kind, settings) in TASKS.items():
        text = f"dataset = dict(type={kind!r}, name={name!r}, **{settings!r})\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    with MockEndpoint(lambda request: Reply(text=REPLIES[_tag(request)])) as endpoint:
        model = write_model(folder / "model.json", endpoint.url)
        done = module_command("--tasks", *(f"{name}.py" for name in TASKS), "--cfg", model, "--output-dir", "out")
        requests = {_tag(request): request.body["messages"] for request in endpoint.requests}
    answers = {name: answers_by_id(folder / "out", name) for name in TASKS}
    return done, requests, answers


def _tag(request):
    return _TAG.search(json.dumps(request.body["messages"]))[1]


def normal(messages):
    """Messages as the recordings have them."""
    return [{"role": message["role"], "content": _content(message["content"])} for message in messages]


def _content(content):
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [part for part in map(_part, parts) if part != {"text": ""}]


def _part(part):
    if part["type"] == "text":
        return {"text": part["text"].strip()}
    if part["type"] == "input_audio":
        data = base64.b64decode(part["input_audio"]["data"], validate=True)
        return _medium("audio", data, wire="raw", format=part["input_audio"]["format"], mime=None)
    kind = part["type"].removesuffix("_url")
    fields = dict(part[part["type"]])
    url = fields.pop("url")
    if not url.startswith("data:"):
        return {"media": kind, "url": url, **fields}
    head, _, text = url.partition(";base64,")
    return _medium(kind, base64.b64decode(text, validate=True), wire="data-uri", mime=head[5:], **fields)


def _medium(kind, data, **fields):
    return {"media": kind, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), **fields}


def recorded(messages):
    """Recorded messages with their texts stripped."""
    listed = []
    for message in messages:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        stripped = [{"text": part["text"].strip()} if "text" in part else part for part in parts]
        listed.append({"role": message["role"], "content": [part for part in stripped if part != {"text": ""}]})
    return listed


def without_wire(messages):
    """What a demand says of a message: for media only their content."""
    kept = ("text", "media", "sha256", "bytes")
    return [
        {**message, "content": [{key: part[key] for key in kept if key in part} for part in message["content"]]}
        for message in messages
    ]


@pytest.mark.parametrize("line", REQUESTS, ids=[line["tag"] for line in REQUESTS])
def test_a_request_is_the_recorded_one(run, line):
    _, requests, _ = run
    assert normal(requests[line["tag"]]) == recorded(line["messages"])


@pytest.mark.parametrize("line", DEMANDS, ids=[line["tag"] for line in DEMANDS])
def test_a_demand_of_the_document_holds(run, line):
    _, requests, answers = run
    demand, tag = line["demand"], line["tag"]
    if demand.get("status") == "failed":
        entry = _entry(answers, line)
        assert entry["status"] == "failed"
        assert Path(line["file"]).name in entry["error"]["message"]
        assert tag not in requests
        return
    sent = normal(requests[tag])
    assert _entry(answers, line)["answer"] == line["reply"]
    if "messages" in demand:
        assert without_wire(sent) == without_wire(recorded(demand["messages"]))
    for medium in demand.get("has", ()):
        digests = [part.get("sha256") for message in sent for part in message["content"]]
        assert medium["sha256"] in digests


def _entry(answers, line):
    stem = Path(line["file"]).stem
    for task, (kind, settings) in TASKS.items():
        if stem in settings["subset_list"] and ("Vmcq" in kind) == line["file"].startswith("mcq"):
            return answers[task][f"{stem}/{line['row']}"]
    raise AssertionError(line["file"])


def test_every_row_is_one_item_whatever_it_holds(run):
    done, requests, answers = run
    rows = len(REQUESTS) + len({(line["file"], line["row"]) for line in DEMANDS})
    assert sum(len(entries) for entries in answers.values()) == rows
    failed = [entry for entries in answers.values() for entry in entries.values() if entry["status"] == "failed"]
    assert len(failed) == sum(line["demand"].get("status") == "failed" for line in DEMANDS)
    assert len(requests) == rows - len(failed)
    assert done.status == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("bad_messages_number", " messages: expected a list of messages, found int '7'"),
        ("bad_missing_file", " messages[0].content[1].image_url: 'media/nowhere.png': no such file"),
        ("bad_not_json", "71: not valid JSON: Expecting value"),
        ("bad_unknown_part", " messages[0].content[0]: unknown part type 'smell'"),
        ("bad_options_text", " options: expected a list"),
        ("bad_unused_malformed", " image_5:"),
    ],
)
def test_the_error_of_a_bad_row_names_file_line_and_column(run, entry, message):
    _, _, answers = run
    entries = answers["bad_vqa"] | answers["bad_vmcq"]
    assert f"/{entry}.jsonl:1:{message}" in entries[f"{entry}/0"]["error"]["message"]


def test_a_missing_medium_is_told_once(run):
    done, _, _ = run
    told = [line for line in done.warnings if "no medium for the placeholder <image 2>" in line]
    assert len(told) == 1
