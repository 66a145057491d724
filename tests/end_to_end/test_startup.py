"""What is imported when: nothing to show the help, and heavy packages only by a task that needs them."""

from __future__ import annotations

import sys

import pytest

from tests.end_to_end.command import Command
from tests.end_to_end.folders import choices, write_model, write_task
from tests.servers import MockEndpoint

# Runs the command and writes down which top-level packages that are not Python's own it imported.
PROBE = """
import sys
before = set(sys.modules)
from flagmm.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
names = {name.partition(".")[0] for name in set(sys.modules) - before}
foreign = names - set(sys.stdlib_module_names) - {"flagmm", "__mp_main__"}
with open("imported.txt", "w") as file:
    file.write(" ".join(sorted(foreign)))
sys.exit(status)
"""
HEAVY = {
    "datasets",
    "pandas",
    "nltk",
    "openpyxl",
    "pyarrow",
    "requests",
    "rouge_score",
    "av",
    "cv2",
    "rapidocr",
    "torch",
}


@pytest.fixture(scope="module")
def probe(module_command):
    """Runs the command in one process and returns the set of packages it imported."""
    command = Command(module_command.folder, [sys.executable, "-c", PROBE])

    def run(*arguments):
        done = command(*arguments)
        assert done.status == 0, done.stderr
        return set((command.folder / "imported.txt").read_text().split())

    return run


@pytest.fixture(scope="module")
def imports(probe, module_command):
    """The packages that a first run with pictures, the same run again, and scoring import."""
    folder = module_command.folder
    task = write_task(folder / "task", choices(2, img_path="one.jpg"))
    with MockEndpoint() as endpoint:
        model = write_model(folder / "model.json", endpoint.url)
        run = ("--tasks", task, "--cfg", model, "--output-dir", "out")
        return {"first": probe(*run), "again": probe(*run), "scoring": probe(*run, "--without-infer")}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_help_imports_no_third_party_package(probe, flag):
    assert probe(flag) == set()


def test_the_probe_sees_what_is_imported(imports):
    assert {"mmengine", "aiohttp", "PIL"} <= imports["first"]


def test_a_plain_task_imports_no_heavy_package(imports):
    assert imports["first"] & HEAVY == set()


def test_a_finished_run_started_again_loads_no_pictures(imports):
    assert "aiohttp" in imports["again"]  # to learn whether the endpoint still serves the model that answered
    assert imports["again"] & {"PIL", *HEAVY} == set()


def test_scoring_needs_neither_http_client_nor_pictures(imports):
    assert imports["scoring"] & {"aiohttp", "PIL", *HEAVY} == set()
