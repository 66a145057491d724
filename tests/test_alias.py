"""`flagevalmm` is a second name of `flagmm`: one set of modules under two names."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import flagmm
from flagmm import alias

# Imports found in task folders in the wild.
IMPORTED = {
    "flagevalmm.evaluator": ["BaseEvaluator"],
    "flagevalmm.registry": ["DATASETS", "EVALUATORS", "PROMPTS"],
    "flagevalmm.evaluator.pre_process": ["normalize_string", "process_multiple_choice"],
    "flagevalmm.evaluator.common_types": ["evaluate_multiple_choice"],
    "flagevalmm.common.logger": ["get_logger"],
    "flagevalmm.common.image_utils": ["concat_images"],
    "flagevalmm.dataset.vqa_base_dataset": ["VqaBaseDataset"],
    "flagevalmm.dataset.utils": ["get_data_root"],
    "flagevalmm.common.const": ["FLAGEVALMM_DATASETS_CACHE_DIR"],
    "flagevalmm.evaluator.point_utils": [],
}


@pytest.mark.parametrize("name", IMPORTED)
def test_what_task_folders_import_is_there_and_is_our_own_module(name):
    module = importlib.import_module(name)
    assert module is importlib.import_module(name.replace("flagevalmm", "flagmm"))
    assert [wanted for wanted in IMPORTED[name] if not hasattr(module, wanted)] == []


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
