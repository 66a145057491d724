"""The cache folders by FlagEvalMM's names."""

from __future__ import annotations

import os

import pytest

from flagmm.common import const

NAMES = ("FLAGEVALMM_CACHE", "FLAGEVALMM_CACHE_DIR", "FLAGEVALMM_DATASETS_CACHE_DIR", "FLAGEVALMM_MODELS_CACHE_DIR")


@pytest.fixture(autouse=True)
def no_folders_set(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def test_the_folders_are_in_the_home_directory_when_nothing_is_set(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    root = os.path.join(tmp_path, ".cache", "flagevalmm")
    expected = [root, root, os.path.join(root, "datasets"), os.path.join(root, "models")]
    assert [getattr(const, name) for name in NAMES] == expected


def test_the_environment_is_read_when_a_folder_is_asked_for(monkeypatch):
    monkeypatch.setenv("FLAGEVALMM_CACHE", "/first")
    assert os.path.dirname(const.FLAGEVALMM_DATASETS_CACHE_DIR) == "/first"
    monkeypatch.setenv("FLAGEVALMM_CACHE", "/second")
    assert os.path.dirname(const.FLAGEVALMM_MODELS_CACHE_DIR) == "/second"


@pytest.mark.parametrize("name", ["FLAGEVALMM_DATASETS_CACHE_DIR", "FLAGEVALMM_MODELS_CACHE_DIR"])
def test_each_folder_has_a_variable_of_its_own(monkeypatch, name):
    monkeypatch.setenv(name, "/elsewhere")
    assert getattr(const, name) == "/elsewhere"


def test_a_name_can_be_imported(monkeypatch):
    monkeypatch.setenv("FLAGEVALMM_CACHE", "/first")
    from flagmm.common.const import FLAGEVALMM_CACHE

    assert FLAGEVALMM_CACHE == "/first"


def test_other_names_are_unknown():
    assert not hasattr(const, "FLAGEVALMM_CHACHE")
