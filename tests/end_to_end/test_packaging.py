"""A wheel built from this checkout, installed elsewhere, has everything the command needs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import flagmm
from tests.end_to_end.command import Command
from tests.end_to_end.folders import choices, counts_of, write_task

ROOT = Path(__file__).parents[2]
SOURCES = ("setup.py", "pyproject.toml", "requirements.txt", "README.md", "LICENSE")
FOLDERS = ("flagmm", "tasks", "model_configs")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built in a copy, since building leaves files behind."""
    copy, target = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", target, copy)
    [path] = target.glob("*.whl")
    return path


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that the wheel is installed in, without the packages it needs."""
    folder = tmp_path_factory.mktemp("site")
    pip("install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


@pytest.fixture
def command(installed, tmp_path):
    """The installed command, in a directory that has nothing to do with the checkout."""
    return Command(tmp_path, [sys.executable, str(installed / "bin" / "flagevalmm")])


def test_the_wheel_holds_tasks_and_model_files_inside_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {"flagmm/tasks/demo/ocr.py", "flagmm/tasks/demo/process.py", "flagmm/model_configs/ocr.json"}
    assert inside | {"flagevalmm/__init__.py", "flagmm/py.typed", "flagmm/cli/run.py"} <= names
    top = {name.partition("/")[0] for name in names}
    assert top == {"flagmm", "flagevalmm", f"flagmm-{flagmm.__version__}.dist-info"}


def test_every_module_of_the_checkout_is_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "flagmm").rglob("*.py")}
    assert {name for name in ours if not name.startswith("flagmm/_flagevalmm/")} - names == set()
    tasks = {f"flagmm/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "tasks").rglob("*.py")}
    assert tasks - names == set()


def test_the_installed_command_runs_an_installed_task_from_any_directory(command, installed, tmp_path):
    pytest.importorskip("sklearn", reason="the demo's handwritten digits are scikit-learn's")
    flags = ("--model-type", "random", "--limit", 3, "--output-dir", "out")
    done = command("--tasks", "demo/ocr", *flags, PYTHONPATH=str(installed))
    assert done.status == 0, done.stderr
    assert counts_of(tmp_path / "out", "demo_ocr")["asked"] == 3
    assert str(installed / "flagmm" / "tasks" / "demo" / "process.py") in done.stderr
    assert (tmp_path / "cache/datasets/flagmm_demo_ocr/test/data.json").exists()


def test_the_old_name_can_be_imported_and_is_the_same_package(command, installed, tmp_path):
    (tmp_path / "model.py").write_text(
        "import flagevalmm.registry\nimport flagmm.registry\n"
        "from flagevalmm.evaluator import BaseEvaluator\n"
        f"assert flagmm.__file__.startswith({str(installed)!r})\n"
        "assert flagevalmm.registry is flagmm.registry\n"
        "assert flagmm.registry.EVALUATORS.lookup('BaseEvaluator') is BaseEvaluator\n"
    )
    plain = Command(tmp_path, [sys.executable])
    done = plain("model.py", PYTHONPATH=str(installed))
    assert (done.status, done.stderr) == (0, "")


def test_the_commands_of_this_environment_are_the_same_program(tmp_path):
    scripts = [Path(sys.executable).with_name(name) for name in ("flagevalmm", "flagmm")]
    if not all(script.exists() for script in scripts):
        pytest.skip(f"{scripts[0]} is not installed")
    first, second = (Command(tmp_path, [str(script)]) for script in scripts)
    task = write_task(tmp_path / "task", choices(1))
    assert first("--tasks", task, "--model-type", "random").status == 0
    assert second("--version").stdout == f"flagmm {flagmm.__version__}\n"
