"""What VLMEvalKit's flags, configs and classes say, as settings of ours."""

from __future__ import annotations

import pytest

from flagmm.config.model import parse_model
from flagmm.config.vlmeval import parse_vlmeval
from flagmm.config.vlmeval_models import judge_values, model_values
from flagmm.config.vlmeval_presets import (
    API_CLASSES,
    AZURE_KEY,
    AZURE_VARIABLES,
    KEYS_OF_MODELS,
    OTHER_API_CLASSES,
    PRESETS,
)
from flagmm.errors import ConfigError

NAMES = {name for api in API_CLASSES.values() for name in (*api.url_variables, *api.key_variables)}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in (*NAMES, *KEYS_OF_MODELS.values(), "LOCAL_LLM", "EVAL_PROXY", "MMEVAL_ROOT", AZURE_KEY):
        monkeypatch.delenv(name, raising=False)


def config(**values):
    return parse_vlmeval({"model": ["m"], "data": ["d"], **values}, source="here")


def values_of(name, entry=None, **given):
    return model_values(name, entry or {}, config(**given), source="here")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"modell": ["m"]}, "here: unknown key 'modell'. Did you mean 'model'?"),
        ({"mode": "score"}, "here: mode: expected one of all, infer, eval, found 'score'"),
        ({"api_nproc": 0}, "here: api_nproc: expected 1 or more, found 0"),
        ({"retry": -1}, "here: retry: expected 0 or more, found -1"),
        ({"api_nproc": "4"}, "here: api_nproc: expected a whole number, found '4'"),
        ({"reuse": "no"}, "here: reuse: expected true or false, found 'no'"),
        ({"key": 12345678}, "here: key: expected a text"),
        ({"data": []}, "here: data: name one or more"),
        ({"data": ["a", "a"]}, "here: data: a: named twice"),
        ({"data": {"a": None}}, "here: data: a: expected an object, {} for a name that is known"),
        ({"model": [5]}, "here: model: expected names, or objects with 'type' and 'name'; found int"),
    ],
)
def test_a_mistake_names_its_key(values, message):
    with pytest.raises(ConfigError) as caught:
        config(**values)
    assert str(caught.value) == message


def test_what_has_no_meaning_is_told_in_one_line(caplog):
    config(use_vllm=True, reuse_aux="all", pack=False, ignore=None)
    assert [record.message for record in caplog.records] == ["here: reuse_aux, use_vllm: no meaning here, left out"]


def test_nproc_is_the_old_name_of_api_nproc():
    assert config(nproc=3).api_nproc == 3


def test_the_work_dir_is_the_flag_s_else_the_variable_s_else_outputs(monkeypatch):
    assert config().work_dir == "outputs"
    monkeypatch.setenv("MMEVAL_ROOT", "root")
    assert config().work_dir == "root"
    assert config(work_dir="w").work_dir == "w"


@pytest.mark.parametrize(
    ("given", "name", "entry"),
    [
        ("GPT4o", "GPT4o", {}),
        ({"GPT4o": {}}, "GPT4o", {}),
        ({"type": "a/b.c:1", "name": "CustomAPIModel"}, "b_c-1", {"class": "CustomAPIModel", "model": "a/b.c:1"}),
        ([{"name": "GPT4V"}], "GPT4V", {"class": "GPT4V", "model": "GPT4V"}),
    ],
)
def test_models_are_named_in_any_of_the_ways(given, name, entry):
    assert dict(config(model=given).models) == {name: entry}


def test_a_class_of_openai_s_protocol_becomes_an_endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    values = values_of("mine", {"class": "GPT4V", "model": "gpt", "temperature": 1.0, "img_size": 512})
    assert values == {
        "model_name": "gpt", "chat_name": "mine", "url": "https://api.openai.com/v1/chat/completions",
        "api_key": "sk-1", "temperature": 1.0, "max_tokens": 2048, "timeout": 300, "retries": 5, "image_detail": "low",
        "max_long_side": 512, "num_workers": 4,
    }  # fmt: skip


def test_a_variable_says_where_and_an_entry_goes_before_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_BASE", "http://variable/v1")
    assert values_of("m", {"class": "GPT4V"})["url"] == "http://variable/v1"
    assert values_of("m", {"class": "GPT4V", "api_base": "http://entry/v1"})["url"] == "http://entry/v1"
    assert values_of("m", {"class": "GPT4V"}, OPENAI_API_BASE="http://config/v1")["url"] == "http://config/v1"


def test_flags_go_before_entries_and_entries_before_classes():
    entry = {"class": "CustomAPIModel", "temperature": 0.5, "max_tokens": 9, "retry": 1, "key": "EMPTY"}
    values = values_of("m", entry, temperature=0.25, retry=2, api_nproc=7)
    assert (values["temperature"], values["max_tokens"], values["retries"]) == (0.25, 9, 2)
    assert (values["num_workers"], values["api_key"]) == (7, "EMPTY")


def test_what_only_some_endpoints_know_goes_into_the_body():
    values = values_of("m", {"class": "LMDeployAPI", "top_k": 5, "extra_body": {"a": 1}, "verbose": True, "wait": 3})
    assert values["extra_body"] == {"top_k": 5, "a": 1}
    assert values["url"] == "http://0.0.0.0:23333/v1/chat/completions"
    assert values["api_key"] == "sk-123456"


def test_a_misspelt_keyword_is_told_with_the_nearest_one():
    with pytest.raises(ConfigError, match=r"unknown keyword 'temprature'. Did you mean 'temperature'\?"):
        values_of("m", {"class": "GPT4V", "temprature": 0})


@pytest.mark.parametrize("name", PRESETS)
def test_every_known_name_can_be_asked(name, monkeypatch):
    for variable in (*NAMES, *KEYS_OF_MODELS.values()):
        monkeypatch.setenv(variable, "http://h/v1" if variable.endswith("BASE") else f"key of {variable}")
    model = parse_model(values_of(name), source="here")
    assert model.shown_name == name
    assert model.api_key is not None


@pytest.mark.parametrize(
    ("kind", "url", "variable"),
    [
        ("QwenVLAPI", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
        ("Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY"),
        ("Claude3V", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ("GLMVisionAPI", "https://open.bigmodel.cn/api/paas/v4", "GLMV_API_KEY"),
        ("TogetherAPI", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
        ("MiniMaxAPI", "https://api.minimax.io/v1", "MINIMAX_API_KEY"),
        ("SenseChatVisionV2API", "https://api.sensenova.cn/compatible-mode/v2", "SENSENOVA_API_KEY"),
        ("SiliconFlowAPI", "https://api.siliconflow.cn/v1", "SiliconFlow_API_KEY"),
        ("KimiVLAPI", "http://localhost:8000/v1/chat/completions", "KIMI_VL_API_KEY"),
    ],
)
def test_a_service_is_asked_with_its_own_key(monkeypatch, kind, url, variable):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv(variable, "its own")
    values = values_of("m", {"class": kind})
    assert (values["url"], values["api_key"]) == (url, "its own")


@pytest.mark.parametrize(
    ("entry", "variable"),
    [
        ({"class": "QwenVLAPI"}, "DASHSCOPE_API_KEY"),
        ({"class": "GPT4V", "model": "step-1v-8k", "api_base": "https://api.stepfun.com/v1"}, "STEPAI_API_KEY"),
        ({"class": "GPT4V", "model": "grok-4", "api_base": "https://api.x.ai/v1"}, "XAI_API_KEY"),
    ],
)
def test_the_key_of_openai_goes_to_no_other_service(monkeypatch, entry, variable):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with pytest.raises(ConfigError, match=f"here: model: m: no key; set {variable}, or give key"):
        values_of("m", entry)
    assert values_of("m", entry, mode="eval")["model_name"] == entry.get("model", "m")
    monkeypatch.setenv(variable, "its own")
    assert values_of("m", entry)["api_key"] == "its own"


def test_azure_is_asked_at_the_place_that_its_variables_name(monkeypatch):
    entry = {"class": "GPT4V", "model": "gpt-4o", "use_azure": True}
    with pytest.raises(ConfigError, match="use_azure: set AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_DEPLOYMENT_NAME, OPENAI"):
        values_of("m", entry)
    given = {"endpoint": "https://x.openai.azure.com/", "deployment": "d", "version": "2024-06-01"}
    for part, name in AZURE_VARIABLES.items():
        monkeypatch.setenv(name, given[part])
    monkeypatch.setenv(AZURE_KEY, "k")
    values = values_of("m", entry)
    url = "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-06-01"
    assert (values["url"], values["api_key"]) == (url, "k")


def test_a_class_of_one_s_own_has_its_keywords_apart(caplog):
    entry = {"class": "models/mine.py:Mine", "temperature": 1, "key": "k"}
    values = values_of("mine", entry, retry=2)
    assert values == {
        "model_type": "models/mine.py:Mine", "model_name": "mine", "chat_name": "mine", "retries": 2,
        "kwargs": {"temperature": 1, "key": "k"}, "num_workers": 4,
    }  # fmt: skip
    assert values_of("models/mine.py:Mine", api_nproc=2) == {
        "model_type": "models/mine.py:Mine", "model_name": "Mine", "chat_name": "Mine", "num_workers": 2,
    }  # fmt: skip
    assert caplog.records == []
    values_of("models/mine.py:Mine", base_url="http://h/v1", temperature=0.5)
    assert "models/mine.py:Mine: base_url, temperature: not handed to a class" in caplog.text


def test_a_model_that_refuses_max_tokens_gets_its_own_limit():
    values = values_of("gpt-5-2025-08-07")
    assert values["extra_body"] == {"max_completion_tokens": 16384}
    assert "max_tokens" not in values
    assert values["temperature"] is None


@pytest.mark.parametrize("kind", sorted(OTHER_API_CLASSES))
def test_a_class_with_a_protocol_of_its_own_says_what_to_write(kind):
    with pytest.raises(ConfigError, match=f"class {kind} speaks a protocol of its own; .*CustomAPIModel"):
        values_of("m", {"class": kind})


@pytest.mark.parametrize("entry", [{}, {"class": "InternVLChat", "model_path": "OpenGVLab/InternVL2-8B"}])
def test_a_model_of_the_zoo_says_how_to_serve_it(entry):
    with pytest.raises(ConfigError) as caught:
        values_of("InternVL2-8B", entry)
    for text in ("vllm serve ORG/InternVL2-8B", "lmdeploy serve api_server", "--base-url", "LMDEPLOY_API_BASE"):
        assert text in str(caught.value)


def test_any_name_is_a_model_where_lmdeploy_or_a_base_url_serves_it(monkeypatch):
    assert values_of("any", base_url="http://h/v1") == {
        "model_name": "any", "chat_name": "any", "url": "http://h/v1", "max_tokens": 32768, "timeout": 1800,
        "retries": 6, "num_workers": 4,
    }  # fmt: skip
    monkeypatch.setenv("LMDEPLOY_API_BASE", "http://l/v1")
    assert values_of("any")["url"] == "http://l/v1"


def test_a_model_file_goes_before_names_and_flags_before_it():
    assert values_of("ocr")["model_type"] == "ocr"
    assert values_of("ocr", temperature=0.5, api_nproc=2)["num_workers"] == 2


@pytest.mark.parametrize(
    ("given", "variables", "expected"),
    [
        ({}, {}, None),
        ({"judge": "exact_matching"}, {"OPENAI_API_KEY": "k"}, None),
        ({}, {"OPENAI_API_KEY": "k"}, ("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1/chat/completions", "k")),
        ({}, {"OPENAI_API_KEY": "k", "LOCAL_LLM": "l", "OPENAI_API_BASE": "http://h/v1"}, ("l", "http://h/v1", "k")),
        ({"judge": "gpt-4o"}, {"OPENAI_API_BASE": "http://h/v1"}, ("gpt-4o", "http://h/v1", None)),
        (
            {"judge": "gpt-4-turbo", "judge_key": "j"},
            {"OPENAI_API_KEY": "k"},
            ("gpt-4-1106-preview", "https://api.openai.com/v1/chat/completions", "j"),
        ),
    ],
)
def test_a_judge_is_asked_where_it_is_named_or_a_key_is_there(monkeypatch, given, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    values = judge_values(config(**given))
    found = values and (values["model_name"], values["url"], values.get("api_key"))
    assert found == expected


def test_a_judge_has_settings_of_its_own_and_else_the_model_s(monkeypatch):
    monkeypatch.setenv("EVAL_PROXY", "http://proxy:1")
    values = judge_values(config(judge="j", judge_retry=0, judge_args={"temperature": 0.5}, api_nproc=9))
    assert (values["retries"], values["temperature"], values["num_workers"]) == (0, 0.5, 9)
    assert (values["timeout"], values["proxy"]) == (600, "http://proxy:1")
