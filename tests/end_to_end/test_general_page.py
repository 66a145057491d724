"""The page "Evaluate on your own data": its tables, commands and script run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.folders import write_picture
from tests.servers import MockEndpoint, Reply, by_question

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "general.md").read_text(encoding="utf-8")
URL = "http://localhost:8000/v1"
ANSWERS = by_question(
    {
        "What animal": "Dog", "And this": "Cat", "the same animal": "No", "And these": "Yes",
        "shows a dog": "It is the second.\nANSWER: B", "What is this": "ANSWER: B",
    }
)  # fmt: skip


def answer(request):
    return Reply(text="VERDICT: CORRECT") if request.body["model"] == "my-judge" else ANSWERS(request)


def section(heading):
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def commands(heading):
    return re.findall(r"```bash\n(.*?)```", section(heading), re.DOTALL)


@pytest.fixture(scope="module")
def place(module_command):
    """A working directory with every file that the page prints, and the pictures that they name."""
    for name, text in re.findall(r"^`(\S+)`:\n\n```\w*\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE):
        path = module_command.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for picture in re.findall(r"\w+\.jpg", text):
            write_picture(path.parent / picture)
    return module_command


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint(answer) as endpoint:
        yield endpoint


def run(place, endpoint, text):
    """Run a block of the page in a shell; what it printed."""
    text = re.sub(r"^flagevalmm ", f"{sys.executable} -m flagmm ", text, flags=re.MULTILINE)
    text = re.sub(r"^python ", f"{sys.executable} ", text, flags=re.MULTILINE).replace(URL, endpoint.url)
    environment = place.environment | {"JUDGE_KEY": "sk-judge"}
    done = subprocess.run(["bash", "-ec", text], cwd=place.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scores(stdout):
    """Score by metric and subset."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in stdout.splitlines() if line[:1] == "|"]
    return {(row[2], row[3]): row[5] for row in lines}


@pytest.mark.parametrize(
    ("heading", "metric", "subset"),
    [
        ("Free answers: OpenAI messages", "BLEU ↑ · 1", "animals"),
        ("Free answers: texts with placeholders", "ROUGE ↑ · L · F1", "pairs"),
        ("Multiple choice", "Accuracy ↑", "choices"),
        ("A judge", "Accuracy ↑", "animals"),
    ],
)
def test_a_format_is_evaluated_as_printed(place, endpoint, heading, metric, subset):
    [text] = commands(heading)
    assert scores(run(place, endpoint, text))[metric, subset] == "100%"


def test_the_printed_table_is_what_comes_out(place, endpoint):
    [text] = commands("Multiple choice")
    [table] = re.findall(r"```text\n(\+.*?)```", section("Multiple choice"), re.DOTALL)
    assert run(place, endpoint, text).startswith(table)


def test_the_dry_run_takes_every_table_that_fits(place, endpoint):
    before = len(endpoint.requests)
    (place.folder / "only_choices").mkdir()
    for name in ("choices.csv", "dog.jpg", "cat.jpg"):
        (place.folder / "only_choices" / name).write_bytes((place.folder / "my_data" / name).read_bytes())
    [text] = commands("Look before you ask")
    printed = run(place, endpoint, text.replace("my_data", "only_choices"))
    assert "general_vmcq: 2 questions (choices 2)\ngeneral_vmcq: media: 3 image\n" in printed
    assert len(endpoint.requests) == before


def test_the_script_prints_reports(place, endpoint):
    [text] = commands("From Python")
    script = place.folder / "evaluate.py"
    script.write_text(script.read_text(encoding="utf-8").replace(URL, endpoint.url), encoding="utf-8")
    printed = run(place, endpoint, text)
    assert "general_vqa: score=1, num=2" in printed  # half of two rows is one of each subset
    assert printed.splitlines()[-1] == "100.0 1.0"


def test_the_task_file_does_the_same(place, endpoint):
    [text] = commands("Task files")
    assert scores(run(place, endpoint, text))["BLEU ↑ · 1", "OVERALL"] == "100%"


def test_a_run_goes_on_and_is_scored_again(place, endpoint):
    [first] = commands("Multiple choice")
    printed = run(place, endpoint, first)
    folder = re.search(r"^Results: (.+)$", printed, re.MULTILINE)[1]
    before = len(endpoint.requests)
    [text] = commands("Going on, and scoring again")
    again = run(place, endpoint, text.replace("outputs/20260102_030405", folder))
    assert len(endpoint.requests) == before
    assert scores(again)["Accuracy ↑", "choices"] == "100%"
