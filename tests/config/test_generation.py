"""generation_config and the model's other settings become keys of a model file."""

from __future__ import annotations

import pytest

from flagmm.config.generation import endpoint_values, generation_values
from flagmm.config.task_config import TaskConfig
from flagmm.errors import ConfigError

URL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"temperature": 0.0, "max_tokens": 4096}, {"temperature": 0.0, "max_tokens": 4096}),
        ({"top_p": None, "seed": 1, "stream": True}, {"seed": 1, "stream": True}),
        ({"timeout": 3, "retries": 0}, {"timeout": 3, "retries": 0}),
        ({"top_k": 5, "stop_seqs": ["\n"]}, {"extra_body": {"top_k": 5, "stop": ["\n"]}}),
        ({"top_k": 5, "extra_body": {"top_k": 9, "x": 1}}, {"extra_body": {"top_k": 9, "x": 1}}),
        ({"extra_headers": {"A": "b"}}, {"headers": {"A": "b"}}),
        ({"n": 4}, {"num_infers": 4}),
        (
            {"temperature": None, "max_tokens_key": "max_completion_tokens"},
            {"temperature": None, "max_tokens_key": "max_completion_tokens"},
        ),
    ],
)
def test_each_setting_has_its_place(given, expected):
    assert generation_values(given, where="x") == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temprature": 1}, "x: unknown key 'temprature'. Did you mean 'temperature'"),
        ({"enable_thinking": False}, "x: unknown key 'enable_thinking'. What only your endpoint knows .*extra_body"),
        ({"extra_query": {"a": 1}}, "x: extra_query is not taken; put the parameters into api_url"),
    ],
)
def test_an_unknown_setting_is_an_error(given, message):
    with pytest.raises(ConfigError, match=message):
        generation_values(given, where="x")


def test_settings_without_a_meaning_are_warned_of_once(caplog):
    assert generation_values({"do_sample": True, "height": 3}, where="x") == {}
    assert [record.message for record in caplog.records] == ["x: do_sample, height: no meaning here, left out"]


def test_all_that_is_said_of_the_model_is_there():
    config = TaskConfig(
        model="m",
        model_id="shown",
        api_url=URL,
        api_key="$KEY",
        generation_config={"temperature": 0.5, "timeout": 9},
        timeout=3,
        eval_batch_size=5,
        repeats=2,
        model_args={"max_image_size": 1000},
    )
    assert endpoint_values(config, source="x") == {
        "model_name": "m",
        "model_type": "http",
        "chat_name": "shown",
        "url": URL,
        "api_key": "$KEY",
        "temperature": 0.5,
        "timeout": 3,
        "num_workers": 5,
        "num_infers": 2,
        "max_image_size": 1000,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"api_url": URL}, "x: model is missing"),
        ({"model": "m"}, "x: api_url is missing"),
        ({"model": "m", "api_url": URL, "eval_type": "llm_ckpt"}, "x: eval_type: 'llm_ckpt' is not run here"),
    ],
)
def test_what_no_endpoint_can_be_made_of_is_an_error(given, message):
    with pytest.raises(ConfigError, match=message):
        endpoint_values(TaskConfig(**given), source="x")


@pytest.mark.parametrize("name", ["openai_api", "server", None])
def test_old_names_of_the_endpoint_are_known(name):
    assert endpoint_values(TaskConfig(model="m", api_url=URL, eval_type=name), source="x")["model_type"] == "http"


def test_the_mock_model_needs_no_endpoint():
    assert endpoint_values(TaskConfig(model="m", eval_type="mock_llm"), source="x")["model_type"] == "random"


def test_a_temperature_of_null_is_another_thing_than_none_given():
    config = TaskConfig(model="m", api_url=URL, generation_config={"temperature": None, "top_p": None})
    values = endpoint_values(config, source="x")
    assert values["temperature"] is None
    assert "top_p" not in values
    assert "temperature" not in endpoint_values(TaskConfig(model="m", api_url=URL), source="x")
