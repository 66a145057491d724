"""A task's process.py: its data are there whole or not at all, made once, and where the design says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.folders import choices, files_under, read_json, result_of, write_data, write_picture
from tests.end_to_end.waiting import wait_until

TASK = """
config = dict(
    dataset_path="source", split="test", processed_dataset_path={name!r}, processor={processor!r}, **{more}
)
dataset = dict(type="VqaBaseDataset", config=config, name={name!r})
evaluator = dict(type="BaseEvaluator")
"""
PROCESS = """
import json
import os
import pathlib
import time

from PIL import Image


def process(cfg):
    with open("log.txt", "a") as log:
        log.write("process\\n")
    root = pathlib.Path(cfg.processed_dataset_path, cfg.get("dataset_name", ""), cfg.split)
    archive = pathlib.Path(cfg.processed_dataset_path, "archive.zip")
    if not archive.exists():
        with open("log.txt", "a") as log:
            log.write("download\\n")
        archive.write_text("all the pictures")
    (root / "img").mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8)).save(root / "img" / "1.png")
    time.sleep(float(os.environ.get("SLOW", 0)))
    if os.path.exists("crash"):
        raise RuntimeError("half-way")
    item = {"question_id": 1, "question": "Which?", "question_type": "multiple-choice", "options": ["a", "b"]}
    item |= {"answer": "B", "img_path": IMG_PATH}
    (root / "data.json").write_text(json.dumps([item]))
"""
RUN = ("--tasks", "task/prepared.py", "--model-type", "random", "--output-dir", "out")


@pytest.fixture
def place(tmp_path):
    """A folder with a task whose process.py writes one item with a picture."""
    write_task_folder(tmp_path / "task")
    return tmp_path


def write_task_folder(
    folder: Path, *, name: str = "made", img_path: str = "'img/1.png'", processor: str = "process.py", **more: str
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prepared.py").write_text(TASK.format(name=name, processor=processor, more=more))
    path = (folder / processor).resolve()
    path.parent.mkdir(exist_ok=True)
    path.write_text(PROCESS.replace("IMG_PATH", img_path))


def times_processed(folder: Path) -> int:
    return times_logged(folder, "process")


def times_downloaded(folder: Path) -> int:
    return times_logged(folder, "download")


def times_logged(folder: Path, what: str) -> int:
    log = folder / "log.txt"
    return log.read_text().count(what) if log.exists() else 0


def test_a_crash_half_way_leaves_no_data_set_and_the_next_run_goes_on(run_command, place):
    root = place / "cache/datasets/made/test"
    write_picture(root / "img" / "left_over.png")  # a folder without annotations is not taken for a data set
    (place / "crash").touch()
    crashed = run_command(*RUN)
    assert crashed.status == 1
    [error] = crashed.errors
    assert "process.py: process: RuntimeError: half-way (at " in error
    assert f"the next start goes on with what is in {place / 'cache/datasets/made.partial'}, and --reprocess" in error
    assert files_under(place / "cache/datasets/made") == ["test/img/left_over.png"]
    (place / "crash").unlink()
    done = run_command(*RUN)
    assert (done.status, times_downloaded(place)) == (0, 1)
    assert files_under(place / "cache/datasets") == [
        ".made.lock", ".made.sources.json", "made/archive.zip", "made/test/data.json", "made/test/img/1.png",
    ]  # fmt: skip


def test_a_process_that_was_killed_keeps_its_downloads(run_command, place):
    process = run_command.start(*RUN, SLOW="30")
    wait_until(lambda: times_downloaded(place) == 1 and times_processed(place) == 1, "the download")
    wait_until((place / "cache/datasets/made.partial/test/img/1.png").exists, "the picture")
    process.kill()
    run_command.wait(process)
    assert run_command(*RUN).status == 0
    assert times_downloaded(place) == 1


def test_the_splits_of_a_data_set_share_one_download(run_command, place):
    first, second = place / "task/prepared.py", place / "task/second.py"
    second.write_text(first.read_text().replace('split="test"', 'split="val"').replace("name='made')", "name='val')"))
    done = run_command("--tasks", first, second, *RUN[2:])
    assert (done.status, times_processed(place), times_downloaded(place)) == (0, 2, 1), done.stderr


def test_an_empty_annotation_file_is_a_failed_preparation(run_command, place):
    path = place / "task/process.py"
    path.write_text(path.read_text().replace("json.dumps([item])", "json.dumps([])"))
    done = run_command(*RUN)
    assert done.status == 2
    [error] = done.errors
    assert f"{path}: process wrote no question: test/data.json is an empty list" in error
    assert not (place / "cache/datasets/made").exists()


def test_data_that_are_there_are_used_until_reprocess_is_asked_for(run_command, place):
    by_hand = [{**item, "img_path": "x.png"} for item in choices(3)]
    root = write_data(place / "cache/datasets/made/test", by_hand)
    done = run_command(*RUN)
    assert (done.status, times_processed(place)) == (0, 0)
    assert result_of(place / "out", "made")["counts"]["asked"] == 3
    again = run_command(*RUN, "--reprocess", "--overwrite")
    assert (again.status, times_processed(place)) == (0, 1)
    assert [item["question"] for item in read_json(root / "data.json")] == ["Which?"]
    assert result_of(place / "out", "made")["counts"]["asked"] == 1


def test_a_failed_reprocess_keeps_the_data_that_were_there(run_command, place):
    write_data(place / "cache/datasets/made/test", choices(2))
    (place / "crash").touch()
    before = files_under(place / "cache/datasets/made")
    assert run_command(*RUN, "--reprocess").status == 1
    assert files_under(place / "cache/datasets/made") == before


def test_two_processes_prepare_once(run_command, place):
    runs = {name: [*RUN[:-1], name] for name in ("out_1", "out_2")}
    finished = run_command.together(runs, SLOW="1.5")
    assert [done.status for done in finished.values()] == [0, 0]
    assert times_processed(place) == 1


@pytest.fixture(scope="module")
def run_of_three(module_command):
    """Tasks with absolute paths, a process.py elsewhere, and missing media, in one command from another directory."""
    tasks = module_command.folder / "tasks"
    write_task_folder(tasks / "absolute", name="absolute", img_path="str(root / 'img/1.png')", dataset_name="part")
    write_task_folder(tasks / "dots", name="dots", processor="../common/process.py")
    write_task_folder(tasks / "missing", name="missing", img_path="'img/other.png'")
    names = [f"tasks/{name}/prepared.py" for name in ("absolute", "dots", "missing")]
    done = module_command("--tasks", *names, *RUN[2:])
    return done, module_command.folder


def test_absolute_paths_that_process_wrote_point_to_where_the_data_are(run_of_three):
    _, folder = run_of_three
    root = folder / "cache/datasets/absolute/part/test"
    [item] = read_json(root / "data.json")
    assert item["img_path"] == str(root / "img/1.png")
    assert Path(item["img_path"]).exists()
    assert result_of(folder / "out", "absolute")["counts"]["answered"] == 1


def test_a_process_elsewhere_may_be_named_with_dots(run_of_three):
    _, folder = run_of_three
    assert result_of(folder / "out", "dots")["counts"]["answered"] == 1


def test_missing_media_are_told_before_anything_is_asked(run_of_three):
    done, folder = run_of_three
    assert done.status == 2
    [error] = done.errors
    assert error.startswith("missing: ")
    assert "question_id 1: img_path: img/other.png: no such file (1 missing in all)" in error
    assert not (folder / "cache/datasets/missing").exists()
    assert not (folder / "out/missing").exists()
