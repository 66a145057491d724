"""The page "Benchmarks in VLMEvalKit's table format": its files, commands and script run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.folders import read_json, write_picture
from tests.servers import MockEndpoint, by_question

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tsv.md").read_text(encoding="utf-8")
URL = "http://localhost:8000/v1"
ANSWERS = by_question({"What animal": "Dog", "What does it say": "I would say A", "How many": "(B)"})


def blocks(heading, language):
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint(ANSWERS) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def place(module_command, endpoint):
    """A working directory with every file that the page prints, and the pictures that they name."""
    folder = module_command.folder
    for name, text in re.findall(r"^`(\S+)`[^\n]*:\n\n```\w*\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.replace(URL, endpoint.url), encoding="utf-8")
    for picture in ("dog.jpg", "cat.jpg"):
        write_picture(folder / "my_data" / picture)
    (folder / "tools").symlink_to(ROOT / "tools")
    return module_command


def run(place, program, text):
    text = re.sub(r"^flagevalmm ", f"{sys.executable} -m flagmm ", text, flags=re.MULTILINE)
    text = re.sub(r"^python ", f"{sys.executable} ", text, flags=re.MULTILINE)
    done = subprocess.run([*program, text], cwd=place.folder, env=place.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


BASH, PYTHON = ["bash", "-ec"], [sys.executable, "-c"]


def test_a_table_by_its_path_is_asked_and_scored_as_printed(place, endpoint):
    seen = len(endpoint.requests)
    run(place, BASH, *blocks("A table by its path", "bash"))
    texts = [request.body["messages"][0]["content"][-1]["text"] for request in endpoint.requests[seen:]]
    assert blocks("A table by its path", "text")[1].strip() in [text.strip() for text in texts]
    run(place, PYTHON, *blocks("Scores", "python"))
    written = (place.folder / "my-model_animals_acc.csv").read_text(encoding="utf-8")
    assert blocks("Scores", "text") == [written]


def test_a_table_by_its_name_is_found_in_lmudata(place):
    run(place, BASH, *blocks("A table by its name", "bash"))
    assert read_json(place.folder / "results/pets/pets/pets_result.json")["accuracy"] == 66.67


def test_the_tools_make_the_tables_that_they_say(place):
    run(place, BASH, *blocks("Making tables", "bash"))
    rows = (place.folder / "my_data" / "rotated.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 3 * 3
