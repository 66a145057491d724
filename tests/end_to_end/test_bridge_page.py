"""The page "Scoring with VLMEvalKit itself": its task and command run as they are printed, with a stand-in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.end_to_end.folders import files_under, read_json, write_picture
from tests.end_to_end.test_vlmeval_bridge import STAND_IN
from tests.servers import MockEndpoint, by_question

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bridge.md").read_text(encoding="utf-8")


def blocks(heading, language):
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def write_pictures(folder):
    for name in ("dog.jpg", "cat.jpg", "ball.jpg"):
        write_picture(folder / name)


def test_the_run_is_as_printed(run_command):
    folder = run_command.folder
    task, _ = blocks("A run", "python")
    table, printed = blocks("A run", "text")
    (folder / "pets.py").write_text(task)
    write_pictures(folder / "lmu" / "images" / "Pets")
    (folder / "lmu" / "Pets.tsv").write_text(table)
    [line] = blocks("A run", "bash")
    with MockEndpoint(by_question({"barks": "A", "purrs": "B", "round": "A"})) as endpoint:
        words = line.replace("http://localhost:8000/v1", endpoint.url).split()
        done = run_command(*words[1:], PYTHONPATH=str(STAND_IN))
    assert done.status == 0, done.stderr
    assert printed in "\n".join(text.rstrip() for text in done.stdout.splitlines())
    named = re.findall(r"^\| `(\S+?)`", "".join(PAGE.partition("| file | |")[2].partition("\n\n")[0]), re.MULTILINE)
    assert len(named) == 4
    assert {f"Pets/Pets/{name}" for name in named} <= set(files_under(folder / "run"))


NAMES = {
    "mmbench_dev_en": ("MMBench_DEV_EN", "MMBENCH_SAMPLE_LIMIT"),
    "mmmu_pro_10c": ("MMMU_Pro_10c", "MMMU_PRO_SAMPLE_LIMIT"),
}


@pytest.mark.parametrize("task", NAMES)
def test_the_installed_tasks_take_their_limit_and_lmudata_from_the_environment(run_command, task):
    name, limit = NAMES[task]
    table, _ = blocks("A run", "text")
    write_pictures(run_command.folder / "cache" / "images" / name)
    (run_command.folder / "cache" / f"{name}.tsv").write_text(table)
    with MockEndpoint() as endpoint:
        done = run_command(
            "--tasks", f"vlmevalkit/{task}", "--model", "m", "--url", endpoint.url, "--output-dir", "run",
            PYTHONPATH=str(STAND_IN), LMUData="cache", **{limit: "2"},
        )  # fmt: skip
    assert done.status == 0, done.stderr
    assert len(endpoint.requests) == 2
    told = read_json(run_command.folder / "run" / name / name / "vlmevalkit_evaluation.json")
    assert (told["sample_limit"], told["data_root"]) == (2, str(run_command.folder / "cache"))


def test_a_table_that_is_not_there_is_looked_for_in_the_working_directory(run_command):
    with MockEndpoint() as endpoint:
        done = run_command(
            "--tasks", "vlmevalkit/mmmu_pro_10c", "--model", "m", "--url", endpoint.url, PYTHONPATH=str(STAND_IN)
        )
    assert done.status == 2
    assert f"{run_command.folder}/data/vlmevalkit/MMMU_Pro_10c.tsv" in done.errors[0]
