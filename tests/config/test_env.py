"""What flagmm reads from the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flagmm.config import env
from flagmm.errors import ConfigError, DataError

HOME = "/home/someone"


@pytest.fixture(autouse=True)
def no_cache_variables(monkeypatch):
    for name in (
        "FLAGEVALMM_CACHE",
        "FLAGEVALMM_CACHE_DIR",
        "FLAGEVALMM_DATASETS_CACHE_DIR",
        "FLAGEVALMM_MODELS_CACHE_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", HOME)


@pytest.mark.parametrize(
    ("variables", "root", "datasets"),
    [
        pytest.param({}, f"{HOME}/.cache/flagevalmm", f"{HOME}/.cache/flagevalmm/datasets", id="none"),
        pytest.param({"FLAGEVALMM_CACHE": "/c"}, "/c", "/c/datasets", id="cache"),
        pytest.param({"FLAGEVALMM_CACHE_DIR": "/d"}, "/d", "/d/datasets", id="its other name"),
        pytest.param({"FLAGEVALMM_CACHE": "/c", "FLAGEVALMM_CACHE_DIR": "/d"}, "/c", "/c/datasets", id="both"),
        pytest.param({"FLAGEVALMM_DATASETS_CACHE_DIR": "/s"}, f"{HOME}/.cache/flagevalmm", "/s", id="data sets"),
        pytest.param({"FLAGEVALMM_CACHE": "/c", "FLAGEVALMM_DATASETS_CACHE_DIR": "~/s"}, "/c", f"{HOME}/s", id="home"),
        pytest.param(
            {"FLAGEVALMM_CACHE": ""}, f"{HOME}/.cache/flagevalmm", f"{HOME}/.cache/flagevalmm/datasets", id="empty"
        ),
    ],
)
def test_the_places_of_caches(monkeypatch, variables, root, datasets):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert env.cache_root() == Path(root)
    assert env.datasets_cache_dir() == Path(datasets)
    assert env.models_cache_dir() == Path(root) / "models"
    assert env.replies_cache_file() == Path(root) / "replies.sqlite"


def test_model_weights_may_live_elsewhere(monkeypatch):
    monkeypatch.setenv("FLAGEVALMM_MODELS_CACHE_DIR", "/weights")
    assert env.models_cache_dir() == Path("/weights")


@pytest.mark.parametrize(
    ("value", "variables", "key"),
    [
        pytest.param("sk-literal", {}, "sk-literal", id="literal"),
        pytest.param("$NAME", {"NAME": "sk-1"}, "sk-1", id="variable"),
        pytest.param("${NAME}", {"NAME": "sk-1"}, "sk-1", id="variable in braces"),
        pytest.param(None, {"FLAGEVAL_API_KEY": "sk-1", "OPENAI_API_KEY": "sk-2"}, "sk-1", id="ours first"),
        pytest.param(None, {"FLAGEVAL_API_KEY": "", "OPENAI_API_KEY": "sk-2"}, "sk-2", id="empty is not set"),
        pytest.param(None, {}, None, id="none"),
        # A key read from a file ends in a line break, which no HTTP header may hold.
        pytest.param("sk-literal\n", {}, "sk-literal", id="literal with line break"),
        pytest.param("$NAME", {"NAME": "sk-1\n"}, "sk-1", id="variable with line break"),
        pytest.param(None, {"OPENAI_API_KEY": "sk-2\r\n"}, "sk-2", id="default with line break"),
    ],
)
def test_the_key_that_a_model_file_means(monkeypatch, value, variables, key):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert env.resolve_key(value, where="m.json") == key


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_named_variable_that_holds_nothing_is_an_error(monkeypatch, text):
    if text is not None:
        monkeypatch.setenv("NAME", text)
    with pytest.raises(ConfigError, match=r"^m\.json: api_key: the environment variable NAME is not set"):
        env.resolve_key("$NAME", where="m.json")


def test_a_dotenv_file_fills_in_what_is_not_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLAGEVAL_API_KEY", "from the shell")
    monkeypatch.setenv("OPENAI_API_KEY", "x")  # so that it is taken away again after the test
    monkeypatch.delenv("OPENAI_API_KEY")
    env.load_dotenv_file()
    assert "OPENAI_API_KEY" not in os.environ
    (tmp_path / ".env").write_text("FLAGEVAL_API_KEY=from the file\nOPENAI_API_KEY=sk-file\n")
    env.load_dotenv_file()
    assert (os.environ["FLAGEVAL_API_KEY"], os.environ["OPENAI_API_KEY"]) == ("from the shell", "sk-file")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"OPENAI_API_KEY=a\0b\n", "a NUL character"),
        ("OPENAI_API_KEY=sk-1\n".encode("utf-16"), "not UTF-8 text"),
        (None, "no regular file"),
    ],
)
def test_a_spoilt_file_of_variables_is_named_and_not_shown(monkeypatch, tmp_path, data, message):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / ".env") if data is None else (tmp_path / ".env").write_bytes(data)
    with pytest.raises((ConfigError, DataError), match=rf"^\.env: {message}") as caught:
        env.load_dotenv_file()
    assert "OPENAI" not in str(caught.value)


def test_a_virtual_environment_called_as_the_file_of_variables_is_none(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").mkdir()
    env.load_dotenv_file()


def test_a_byte_order_mark_hides_no_variable(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOME_NAME", raising=False)
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfSOME_NAME=x\n")
    env.load_dotenv_file()
    assert os.environ.pop("SOME_NAME") == "x"
