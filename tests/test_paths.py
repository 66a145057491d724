"""File names of a run: fit for any file system, and different for different tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm import paths
from flagmm.output_files import temporary_path
from flagmm.paths import RunPaths, TaskPaths, default_output_dir, safe_name, unused_folder

OFTEN = settings(max_examples=100, deadline=None)
ANY_TEXT = st.text(st.characters(), max_size=400)  # lone surrogates included
AWKWARD = [
    "",
    ".",
    "..",
    "...",
    " ",
    "/",
    "\\",
    "a/b",
    "a\\b",
    "../../etc/passwd",
    "C:x",
    "a\0b",
    "x.",
    " x",
    "\ud800",
    "é" * 300,
]
AWKWARD_TEXT = ANY_TEXT | st.sampled_from(AWKWARD) | st.text("./\\ a", max_size=8)


@OFTEN
@given(AWKWARD_TEXT)
def test_a_safe_name_is_one_file_name_that_every_file_system_takes(text):
    name = safe_name(text)
    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert not name.endswith((".", " "))
    assert len(name.encode("utf-8")) <= 200  # raises for a lone surrogate


@OFTEN
@given(AWKWARD_TEXT, AWKWARD_TEXT)
def test_different_texts_have_different_names(first, second):
    assert (safe_name(first) == safe_name(second)) == (first == second)


@OFTEN
@given(AWKWARD_TEXT)
def test_a_safe_name_is_fit_and_so_its_own_safe_name(text):
    assert safe_name(safe_name(text)) == safe_name(text)


@pytest.mark.parametrize("text", ["mmmu_val", "MMMU-val.v1", "图表问答", "a b", "x" * 180, ".5 scale".strip(".")])
def test_a_fit_name_stays_as_it_is(text):
    assert safe_name(text) == text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("a/b", "a_b-", id="folder"),
        pytest.param("..", "", id="parent folder"),
        pytest.param("../x", "_x-", id="way up"),
        pytest.param("x" * 300, "x" * 171 + "-", id="300 characters"),
        pytest.param("图" * 300, "图" * 57 + "-", id="cut between characters"),
        pytest.param("a\ud800b", "a_b-", id="lone surrogate"),
        pytest.param(".hidden", "hidden-", id="hidden file"),
    ],
)
def test_an_unfit_name_keeps_what_can_be_read_and_gets_a_hash(text, start):
    name = safe_name(text)
    assert name.startswith(start)
    assert len(name) == len(start) + 8
    assert set(name[-8:]) <= set("0123456789abcdef")


@pytest.mark.parametrize("text", AWKWARD)
def test_the_longest_file_of_a_task_can_be_made(tmp_path, text):
    files = RunPaths(tmp_path).task(text)
    files.folder.mkdir()
    temporary = temporary_path(files.evaluated)
    for path in (files.config, files.predictions, files.answers, files.evaluated, files.result, files.lock, temporary):
        path.write_text("x")
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {files.folder}
    assert len(list(files.folder.iterdir())) == 7  # none is the same as another


def test_the_files_of_a_task_bear_its_name():
    files = RunPaths(Path("out")).task("my_task")
    assert files.answers == Path("out/my_task/my_task.json")
    assert files.evaluated == Path("out/my_task/my_task_evaluated.json")
    assert files.result == Path("out/my_task/my_task_result.json")
    assert files.config == Path("out/my_task/my_task_config.json")
    assert files.predictions == Path("out/my_task/predictions.jsonl")
    assert RunPaths(Path("out")).manifest == Path("out/run.json")
    assert RunPaths(Path("out")).summary("csv") == Path("out/summary.csv")


def test_only_the_result_that_a_folder_is_named_after_counts(tmp_path):
    for name in ("b/b_result.json", "a/a_result.json", "a/old_result.json", "c/c.json", "d_result.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert RunPaths(tmp_path).results() == [tmp_path / "a/a_result.json", tmp_path / "b/b_result.json"]


def test_results_go_under_the_model_s_name_in_one_folder():
    assert default_output_dir("openai/gpt-5-mini") == Path("results/openai--gpt-5-mini")
    assert default_output_dir("../up").parent == Path("results")


def test_the_task_and_model_files_that_come_with_the_package_are_found():
    assert (paths.installed_tasks() / "demo" / "ocr.py").is_file()
    assert (paths.installed_model_configs() / "ocr.json").is_file()


def test_a_folder_that_is_there_is_not_used_again(tmp_path):
    made = []
    for _ in range(3):
        folder = unused_folder(tmp_path / "T1.2")
        folder.mkdir()
        made.append(folder.name)
    assert made == ["T1.2", "T1.2_2", "T1.2_3"]


def test_a_task_whose_answers_lie_in_the_directory_itself_is_found_there(tmp_path):
    (tmp_path / "flat.json").write_text("[]")
    (tmp_path / "both.json").write_text("[]")
    (tmp_path / "both").mkdir()
    (tmp_path / "both/both.json").write_text("[]")
    run = RunPaths(tmp_path)
    assert run.saved_task("flat") == TaskPaths(tmp_path, "flat")
    assert run.saved_task("both") == run.task("both")
    assert run.saved_task("none") == run.task("none")


def test_results_of_both_layouts_are_listed_once_each_by_task(tmp_path):
    for name in ("a/a_result.json", "b_result.json", "b.json", "c_result.json", "a_result.json", "a.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    names = [path.relative_to(tmp_path).as_posix() for path in RunPaths(tmp_path).results()]
    assert names == ["a/a_result.json", "b_result.json"]  # nobody's answers are beside c_result.json


@pytest.mark.parametrize("mark", ["\x1b", "\x9b", "\u202e", "\u2066", "\u2028", "\n"])
def test_no_mark_that_meddles_with_a_terminal_is_in_a_file_s_name(mark):
    assert mark not in safe_name(f"a{mark}b")
    assert safe_name(f"a{mark}b") != safe_name("a_b")
