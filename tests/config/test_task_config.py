"""TaskConfig: every key of EvalScope's scripts is known, and what is wrong is told by name."""

from __future__ import annotations

import copy
import json

import pytest

from flagmm.config.task_config import TaskConfig, make_task_config, read_config_file, read_task_config
from flagmm.errors import ConfigError, DataError

GIVEN = {"model": "m", "api_url": "http://localhost:8000/v1", "datasets": ["general_vqa"], "limit": 5}


def test_an_unknown_key_is_an_error_with_the_nearest_name():
    with pytest.raises(ConfigError, match=r"unknown key 'modle'\. Did you mean 'model'"):
        TaskConfig(modle="m")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("datasets", "general_vqa", "a list of texts"),
        ("dataset_args", {"general_vqa": []}, "an object of objects"),
        ("limit", "5", "a whole number, or a fraction below 1"),
        ("limit", 1.5, "a whole number, or a fraction below 1"),
        ("limit", -1, "a whole number, or a fraction below 1"),
        ("limit", float("nan"), "a whole number, or a fraction below 1"),
        ("repeats", 0, "a whole number above 0"),
        ("repeats", True, "a whole number above 0"),
        ("timeout", 0, "a number of seconds above 0"),
        ("judge", "llm", "an object"),
        ("stream", "yes", "true or false"),
        ("seed", 0.5, "a whole number"),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_with_key_and_value(key, value, expected):
    with pytest.raises(ConfigError, match=f"TaskConfig: {key}: expected {expected}, found"):
        TaskConfig(**{key: value})


@pytest.mark.parametrize("limit", [0, 1, 5, 0.1, 1.0, 7.0])
def test_counts_and_fractions_are_limits(limit):
    assert TaskConfig(limit=limit).limit == limit


def test_a_value_that_was_changed_later_is_checked_again():
    config = TaskConfig(**GIVEN)
    config.limit = "many"
    with pytest.raises(ConfigError, match="limit"):
        read_task_config(config)


def test_the_key_of_an_old_version_is_refused_with_its_reason():
    with pytest.raises(ConfigError, match=r"judge_worker_num: .*eval_batch_size"):
        TaskConfig(judge_worker_num=4)


def test_another_backend_is_refused():
    with pytest.raises(ConfigError, match="eval_backend: 'RAGEval' is not run here; 'Native' and 'VLMEvalKit' are"):
        TaskConfig(eval_backend="RAGEval")


def test_keys_without_a_meaning_are_listed_only_where_they_say_something():
    config = TaskConfig(**GIVEN, chat_template="x", sandbox_manager_config={}, analysis_report=True, use_sandbox=None)
    assert config.meaningless() == ["analysis_report", "chat_template"]


def test_nothing_that_a_person_reads_shows_a_key():
    config = TaskConfig(
        api_key="sk-model",
        judge={"models": [{"model_id": "j", "api_key": "sk-judge"}]},
        generation_config={"extra_headers": {"X-Mine": "sk-header"}},
    )
    shown = f"{config}{config!r}{json.dumps(config.to_dict())}"
    assert "sk-" not in shown
    assert "api_key='***'" in shown
    with pytest.raises(ConfigError, match=r"api_key: expected a text, found \*\*\*"):
        TaskConfig(api_key=["sk-model"])


def test_the_name_of_an_environment_variable_is_no_secret():
    assert TaskConfig(judge={"models": {"api_key": "$MY_KEY"}}).to_dict()["judge"]["models"] == {"api_key": "$MY_KEY"}


def test_a_configuration_can_be_copied():
    config = TaskConfig(**GIVEN)
    assert copy.deepcopy(config) == config


def test_a_dict_becomes_a_configuration():
    assert read_task_config(GIVEN) == TaskConfig(**GIVEN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(GIVEN)),
        ("a.yaml", "model: m\napi_url: http://localhost:8000/v1\ndatasets: [general_vqa]\nlimit: 5\n"),
        ("a.yml", "model: m\napi_url: http://localhost:8000/v1\ndatasets:\n  - general_vqa\nlimit: 5\n"),
    ],
)
def test_a_file_becomes_a_configuration(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_task_config(tmp_path / name) == TaskConfig(**GIVEN)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "a.json:1:2: not valid JSON"),
        ("a.yaml", "a: [1\n", r"a.yaml:2:1: not valid YAML"),
        ("a.yaml", "- 1\n", "a.yaml: expected an object"),
        ("a.toml", "", "a.toml: expected a .yaml, .yml or .json file"),
        ("a.json", '{"modle": 1}', "a.json: unknown key 'modle'"),
        ("a.json", '{"limit": "x"}', 'a.json: limit: expected .*found "x"'),
        ("a.yaml", "1: x\n", "a.yaml: unknown key 1"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_the_file(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises((ConfigError, DataError), match=message):
        read_task_config(tmp_path / name)


def test_anything_else_is_no_configuration():
    with pytest.raises(ConfigError, match="expected a TaskConfig, a dict or the path of a file, found int"):
        read_task_config(3)


def test_a_masked_key_of_a_saved_configuration_is_not_taken_for_a_key(tmp_path):
    saved = make_task_config({**GIVEN, "api_key": "sk-model"}, source="x").to_dict()
    (tmp_path / "task_config.json").write_text(json.dumps(saved), encoding="utf-8")
    assert "api_key" not in read_config_file(tmp_path / "task_config.json")


@pytest.mark.parametrize("key", ["work_dir", "use_cache", "model", "api_key"])
def test_a_text_with_a_nul_is_told_with_its_key_and_not_shown(key):
    with pytest.raises(ConfigError, match=rf"^TaskConfig: {key}: a text with a NUL") as caught:
        TaskConfig(**{"model": "m", "datasets": ["general_vqa"], key: "hid\0den"})
    assert "hid" not in str(caught.value)
