"""The page "Moving from VLMEvalKit": its files, commands and script run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flagmm.cli.vlmeval import build_parser
from flagmm.config.vlmeval_presets import API_CLASSES
from tests.end_to_end.folders import write_picture
from tests.servers import MockEndpoint, by_question

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "vlmevalkit.md").read_text(encoding="utf-8")
URL = "http://localhost:8000/v1"
MINUTE = 60
ANSWERS = by_question({"legs": "B", "fried": "A", "barks": "Dog", "purrs": "Tiger"}, default="5")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def blocks(heading: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section(heading), re.DOTALL)


@pytest.fixture(scope="module")
def endpoint():
    with MockEndpoint(ANSWERS) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def place(module_command, endpoint):
    """A working directory with every file that the page prints, and a home in it."""
    folder = module_command.folder
    for name, text in re.findall(r"`([~\w/]+\.\w+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        path = folder / name.replace("~", "home")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(URL, endpoint.url), encoding="utf-8")
    return module_command


def run(place, text: str, endpoint) -> str:
    """Run a block of the shell; what it printed."""
    text = text.replace("flagevalmm", f"{sys.executable} -m flagmm")
    text = re.sub(r"\bpython (?=\w+\.py)", f"{sys.executable} ", text)
    done = subprocess.run(
        ["bash", "-ec", text.replace(URL, endpoint.url)],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=MINUTE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_run_prints_its_scores(place, endpoint):
    [command] = blocks("A first run", "bash")
    assert blocks("A first run", "text")[1] in run(place, command, endpoint)
    assert (place.folder / "outputs" / "my-model" / "my-model_custom_mcq.xlsx").is_file()


def test_a_served_model_is_run_and_checked(place, endpoint):
    [commands] = blocks("Flags", "bash")
    assert "Test 2: What is 2 + 3? Answer with a number. -> 5" in run(place, commands, endpoint)


def test_the_config_is_run(place, endpoint):
    [commands] = blocks("Config files", "bash")
    printed = run(place, commands, endpoint)
    assert printed.count("_acc.csv") == 6
    assert {"gpt-4o-2024-08-06", "gpt-4o-2024-11-20"} <= {request.body["model"] for request in endpoint.requests}


def test_files_are_exported_and_scored(place, endpoint):
    run(place, blocks("A first run", "bash")[0], endpoint)
    for command in blocks("Files", "bash"):
        run(place, command, endpoint)
    assert (place.folder / "run" / "my-model_tsv.xlsx").is_file()
    assert (
        (place.folder / "scored" / "my-model_custom_mcq_acc.csv").read_text().splitlines()[1].startswith('"none","1.0"')
    )


def test_a_model_class_is_run_and_a_served_model_is_asked_from_a_script(place, endpoint):
    commands, script = blocks("A model class of one's own", "bash")
    printed = run(place, commands, endpoint)
    assert printed.count("Overall  0.5") == 3
    write_picture(place.folder / "apple.jpg")
    assert run(place, script, endpoint) == "5\n"
    assert len(endpoint.requests[-1].image_urls) == 1


def test_the_class_is_run(place, endpoint):
    [command] = blocks("A data set class of one's own", "bash")
    expected = blocks("A data set class of one's own", "text")[-1].strip()
    assert run(place, command, endpoint).splitlines()[-1] == expected


def test_every_flag_is_on_the_page():
    flags = {flag for action in build_parser()._actions for flag in action.option_strings} - {"-h", "--help", "--nproc"}
    assert {flag for flag in flags if f"`{flag}" not in section("Flags")} == set()


def test_every_class_that_the_page_names_is_known():
    named = set(re.findall(r"`(\w+)`", section("Config files").partition("(`GPT4V`")[2].partition(")")[0])) | {"GPT4V"}
    assert named <= set(API_CLASSES)
