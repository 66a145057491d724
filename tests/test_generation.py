"""FlagEvalMM's classes of generation and retrieval: they can be named, and making one is one line."""

from __future__ import annotations

import importlib
import pickle

import pytest

from flagmm import generation
from flagmm.errors import ConfigError
from flagmm.registry import DATASETS, EVALUATORS

NAMED = [
    (package, module, name) for package, classes in generation.PACKAGES.items() for name, module in classes.items()
]


@pytest.mark.parametrize(("package", "module", "name"), NAMED)
def test_a_class_is_the_same_wherever_it_is_imported_from(package, module, name):
    found = getattr(importlib.import_module(f"flagevalmm.{package}.{module}"), name)
    assert getattr(importlib.import_module(f"flagmm.{package}"), name) is found
    assert pickle.loads(pickle.dumps(found)) is found
    with pytest.raises(ConfigError, match=f"^{name}: flagmm does not score generation or retrieval"):
        found(model="x", base_dir="y")


@pytest.mark.parametrize(("registry", "names"), [(EVALUATORS, generation.EVALUATORS), (DATASETS, generation.DATASETS)])
def test_task_files_may_name_them(registry, names):
    assert {registry.lookup(name).__name__ for name in names} == set(names)


def test_a_class_may_be_derived_from():
    class Mine(generation.class_named("Text2ImageBaseDataset", "dataset")):
        def __init__(self, **settings):
            super().__init__(**settings)

    with pytest.raises(ConfigError, match=r"^Mine: flagmm does not score"):
        Mine()


@pytest.mark.parametrize("package", [*generation.PACKAGES, "generation"])
def test_another_name_is_missing_as_from_any_module(package):
    with pytest.raises(AttributeError, match="Text2TextDataset"):
        _ = importlib.import_module(f"flagmm.{package}").Text2TextDataset
