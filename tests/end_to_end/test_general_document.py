"""Every script and command of the general formats' document runs when `evalscope` is replaced.

They are in `tests/data/documents/general`. Only the endpoint's address is another, and the media are small. The
judge's script misses an import, as printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dataset.general.tables import write_media
from tests.end_to_end.folders import read_json
from tests.servers import MockEndpoint, Reply, by_question

BLOCKS = Path(__file__).parents[1] / "data" / "documents" / "general"
DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
KEY = "sk-key-of-the-test"
MEDIA = [f"images/{name}.jpg" for name in ("dog", "AMNH", "tesla", "tokyo", "running", "beach")]
MISSING_IMPORT = "from flagevalmm.config import TaskConfig\n"


def block(name: str) -> str:
    return (BLOCKS / f"{name}.txt").read_text(encoding="utf-8")


def answer(request):
    if request.body["model"] == "qwen-plus":
        return Reply(text="The same animal.\nVERDICT: CORRECT")
    choices = {"Which image shows a dog": "ANSWER: A", "building is this?\n\nA)": "ANSWER: D", "media": "ANSWER: B"}
    return by_question({"animal": "Dog", "building": "A Museum", **choices})(request)


@pytest.fixture(scope="module")
def place(module_command):
    """A working directory with the document's data files."""
    folder = module_command.folder / "custom_eval" / "multimodal"
    write_media(folder, *MEDIA, "videos/sample.mp4", "videos/wave.mp4", "audio/sample.wav")
    files = {"vqa/example_openai": "vqa_openai.jsonl", "mcq/example": "vmcq.jsonl"}
    for path, name in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / f"{path}.jsonl").write_text(block(name), encoding="utf-8")
    return module_command


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint(answer) as endpoint:
        yield endpoint


def run(place, arguments, text, endpoint):
    """Run a block as it is printed; (what it printed, the requests it made)."""
    seen = len(endpoint.requests)
    text = text.replace("evalscope eval", f"{sys.executable} -m flagmm eval").replace("evalscope.", "flagevalmm.")
    done = subprocess.run(
        [*arguments, text.replace(DASHSCOPE, endpoint.url)],
        cwd=place.folder,
        env=place.environment | {"DASHSCOPE_API_KEY": KEY},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, endpoint.requests[seen:]


def rows(stdout: str) -> list[list[str]]:
    """The cells of the table, the header left out."""
    lines = [line for line in stdout.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines][1:]


VQA = ["BLEU ↑ · 1", "BLEU ↑ · 2", "BLEU ↑ · 3", "BLEU ↑ · 4"] + [
    f"ROUGE ↑ · {kind} · {side}" for kind in "12L" for side in ("Recall", "Precision", "F1")
]
VQA_SCORES = ["75%", *["0%"] * 3, "100%", "75%", "83.3%", *["0%"] * 3, "100%", "75%", "83.3%"]
PYTHON, SHELL = [sys.executable, "-c"], ["bash", "-c"]
BOTH_WAYS = pytest.mark.parametrize(("arguments", "suffix"), [(PYTHON, "py"), (SHELL, "sh")], ids=["python", "command"])


@BOTH_WAYS
def test_general_vqa_prints_bleu_and_rouge(place, endpoint, arguments, suffix):
    stdout, requests = run(place, arguments, block(f"run_vqa.{suffix}"), endpoint)
    assert rows(stdout) == [
        ["qwen-vl-plus", "general_vqa", metric, "example_openai", "2", score, "default"]
        for metric, score in zip(VQA, VQA_SCORES, strict=True)
    ]
    assert {request.headers["authorization"] for request in requests} == {f"Bearer {KEY}"}
    assert len(requests) == 2


@BOTH_WAYS
def test_general_vmcq_prints_accuracy(place, endpoint, arguments, suffix):
    stdout, requests = run(place, arguments, block(f"run_vmcq.{suffix}"), endpoint)
    assert rows(stdout) == [["qwen-vl-plus", "general_vmcq", "Accuracy ↑", "example", "3", "66.7%", "default"]]
    assert len(requests) == 3


@BOTH_WAYS
def test_a_judge_gives_accuracy_alone(place, endpoint, arguments, suffix):
    text = block(f"run_judge.{suffix}")
    stdout, requests = run(place, arguments, MISSING_IMPORT + text if suffix == "py" else text, endpoint)
    assert rows(stdout) == [["qwen-vl-plus", "general_vqa", "Accuracy ↑", "example_openai", "2", "100%", "default"]]
    judge = [request for request in requests if request.body.get("model") == "qwen-plus"]
    assert len(judge) == 2
    assert {request.headers["authorization"] for request in requests} == {f"Bearer {KEY}"}
    assert {request.body["max_tokens"] for request in judge} == {4096}


def test_a_script_can_print_its_result(place, endpoint):
    stdout, _ = run(place, PYTHON, block("run_vmcq.py"), endpoint)
    assert re.search(r"^general_vmcq: score=66\.67, num=3 \(accuracy=66\.67", stdout, re.MULTILINE)


def test_each_run_has_a_folder_of_its_own_without_the_key(place, endpoint):
    run(place, SHELL, block("run_judge.sh"), endpoint)
    folders = sorted((place.folder / "outputs").iterdir())
    for folder in folders:
        assert re.fullmatch(r"\d{8}_\d{6}(_\d+)?", folder.name)
        assert {"run.json", "task_config.json", "summary.json"} <= {path.name for path in folder.iterdir()}
        for path in folder.rglob("*"):
            assert not path.is_file() or KEY.encode() not in path.read_bytes()
        assert read_json(folder / "run.json")["state"] == "ended"
