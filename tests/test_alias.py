"""`flagevalmm` is a second name of `flagmm`: one set of modules under two names."""

from __future__ import annotations

import importlib
import operator
import subprocess
import sys
from pathlib import Path

import pytest

import flagmm
from flagmm import alias

_LINES = (Path(__file__).parent / "data/flagevalmm_names.txt").read_text(encoding="utf-8").splitlines()
IMPORTED = {line.split()[0]: line.split()[1:] for line in _LINES}
"""FlagEvalMM's modules with the public names that task folders may use, methods by class."""


@pytest.mark.parametrize("name", IMPORTED)
def test_what_task_folders_import_is_there(name):
    module = importlib.import_module(name)
    for wanted in IMPORTED[name]:
        assert operator.attrgetter(wanted)(module) is not None


@pytest.mark.parametrize("name", ["flagevalmm.evaluator", "flagevalmm.registry", "flagevalmm.dataset.utils"])
def test_a_module_is_our_own_under_another_name(name):
    assert importlib.import_module(name) is importlib.import_module(name.replace("flagevalmm", "flagmm"))


def test_a_class_registered_under_one_name_is_known_under_the_other():
    from flagevalmm.registry import EVALUATORS as BY_ALIAS

    from flagmm.registry import EVALUATORS

    assert BY_ALIAS is EVALUATORS


def test_a_shared_module_keeps_its_own_name():
    module = importlib.import_module("flagevalmm.thinking")
    assert (module.__name__, module.__spec__.name) == ("flagmm.thinking", "flagmm.thinking")


def test_an_unknown_module_is_missing_as_any_other():
    with pytest.raises(ModuleNotFoundError, match=r"flagevalmm\.nothing"):
        importlib.import_module("flagevalmm.nothing")


@pytest.mark.parametrize("name", ["flagevalmm", "flagmm"])
def test_either_name_may_be_run_as_a_module(name):
    done = subprocess.run([sys.executable, "-m", name, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[-1]) == (0, flagmm.__version__), done.stderr


def test_installing_twice_leaves_one_finder():
    alias.install()
    alias.install()
    assert sum(isinstance(finder, alias._AliasFinder) for finder in sys.meta_path) == 1


@pytest.mark.parametrize("first", ["flagmm", "flagevalmm"])
def test_either_name_may_be_imported_first(first):
    code = (
        f"import {first}, importlib; "
        "a = importlib.import_module('flagevalmm.registry'); b = importlib.import_module('flagmm.registry'); "
        "import flagevalmm, flagmm; print(a is b, flagevalmm.DATASETS is flagmm.DATASETS)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (["True", "True"], "")


def test_the_package_offers_its_public_names_and_no_others():
    assert flagmm.DATASETS.lookup("VqaBaseDataset").__name__ == "VqaBaseDataset"
    assert [name for name in flagmm.__all__ if not hasattr(flagmm, name)] == []
    with pytest.raises(AttributeError, match="nothing"):
        flagmm.nothing  # noqa: B018  # the look-up itself is tested
