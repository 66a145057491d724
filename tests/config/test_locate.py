"""Names on the command line -> files."""

from __future__ import annotations

from pathlib import Path

import pytest

from flagmm.config.locate import find_model_file, find_tasks
from flagmm.errors import ConfigError
from flagmm.paths import installed_model_configs, installed_tasks

TASK = "dataset = dict(type='VqaBaseDataset', name='{name}')\n"
DEMO = installed_tasks() / "demo" / "ocr.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two task folders under the working directory, with the files that lie beside tasks."""
    monkeypatch.chdir(tmp_path)
    for name in ("a/a.py", "a/b.py", "c/c.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(TASK.format(name=path.stem))
    (tmp_path / "a" / "process.py").write_text("def process(cfg): ...\n")
    (tmp_path / "a" / "post_prompt.py").write_text("dataset = dict(type='VqaBaseDataset')\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "pets.jsonl").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("names", "found"),
    [
        pytest.param(["a/a.py"], ["a/a.py"], id="file"),
        pytest.param(["a"], ["a/a.py", "a/b.py"], id="folder"),
        pytest.param(["*/*.py"], ["a/a.py", "a/b.py", "c/c.py"], id="glob"),
        pytest.param(["**/c.py"], ["c/c.py"], id="glob through folders"),
        pytest.param(["[ac]"], ["a/a.py", "a/b.py", "c/c.py"], id="glob of folders"),
        pytest.param(["c", "a/b.py", "a"], ["c/c.py", "a/b.py", "a/a.py"], id="in the order given, each once"),
        pytest.param(["a/a.py", "./a/../a/a.py"], ["a/a.py"], id="one file under two names"),
        pytest.param([], [], id="none"),
    ],
)
def test_names_stand_for_task_files(folder, names, found):
    here = [path for path in find_tasks(names) if path.is_relative_to(folder)]
    assert here == [folder / name for name in found]


@pytest.mark.parametrize("name", ["demo/ocr", "demo", str(DEMO), "demo/o*.py"])
def test_an_installed_task_is_found_from_any_folder(folder, name):
    assert DEMO.resolve() in find_tasks([name])


def test_a_folder_here_goes_before_an_installed_name(folder):
    (folder / "demo").mkdir()
    (folder / "demo" / "mine.py").write_text(TASK.format(name="mine"))
    assert find_tasks(["demo"]) == [folder / "demo" / "mine.py"]


def test_an_absolute_glob_is_taken_as_it_is(folder):
    assert find_tasks([f"{folder}/c/*.py"]) == [folder / "c" / "c.py"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("a/gone.py", r"^a/gone\.py: no such task file$", id="file"),
        pytest.param("/gone/x", r"^/gone/x: no such task file$", id="absolute"),
        pytest.param(
            "empty", r"^empty: holds no task file; a task file is a \.py file that", id="folder without tasks"
        ),
        pytest.param(
            "tables",
            r"^tables: holds no task file; give tables .*: --tasks general_vqa .*--data-root tables$",
            id="tables",
        ),
        pytest.param("gone.jsonl", r"^gone\.jsonl: no such file$", id="table"),
        pytest.param("gone.json", r"^gone\.json: no such task file$", id="json"),
        pytest.param("z*.py", r"^--tasks: 'z\*\.py' matches no task file$", id="glob"),
        pytest.param("a/process*", r"matches no task file$", id="glob that fits other files only"),
        pytest.param(
            "demo/ocrr", r"no task of this name is installed\. Did you mean 'demo/ocr'\?$", id="misspelt name"
        ),
    ],
)
def test_a_name_that_fits_nothing_is_told(folder, name, message):
    with pytest.raises(ConfigError, match=message):
        find_tasks(["a/a.py", name])


def test_a_broken_task_file_in_a_folder_is_told_rather_than_left_out(folder):
    (folder / "a" / "broken.py").write_text("dataset = dict(\n")
    with pytest.raises(ConfigError, match=r"broken\.py:1: syntax error"):
        find_tasks(["a"])


def test_model_files_are_found_by_path_and_by_installed_name(folder):
    (folder / "ocr").write_text("{}")
    assert find_model_file("./ocr") == Path("ocr")
    (folder / "ocr").unlink()
    assert find_model_file("ocr") == find_model_file("ocr.json") == installed_model_configs() / "ocr.json"


def test_a_missing_model_file_is_told_with_the_nearest_name(folder):
    with pytest.raises(ConfigError, match=r"^ocrr: no such model file\. Did you mean 'ocr'\?$"):
        find_model_file("ocrr")
