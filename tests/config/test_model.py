"""A model file with flags put over it -> ModelSpec, and its mistakes."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import pytest

from flagmm.config.model import ModelSpec, parse_model
from flagmm.config.secrets import Secret
from flagmm.errors import ConfigError

# The example of the document that task writers follow.
DOCUMENTED = {
    "model_name": "openai/gpt-5-mini",
    "api_key": "<your-api-key>",
    "url": "https://openrouter.ai/api/v1/chat/completions",
    "use_cache": False,
    "num_workers": 3,
    "max_image_size": 4718592,
    "max_tokens": 28000,
    "max_long_side": 1000,
    "output_dir": "results/openai/gpt-5-mini",
}


def parse(values=None, flags=None, **more):
    return parse_model({"model_name": "m", **(values or {})}, flags, source="m.json", **more)


def test_the_documented_example_is_understood():
    spec = parse_model(DOCUMENTED, source="m.json")
    assert spec == ModelSpec(
        model_name="openai/gpt-5-mini",
        url="https://openrouter.ai/api/v1/chat/completions",
        api_key=Secret("<your-api-key>"),
        temperature=0,
        num_workers=3,
        max_image_size=4718592,
        max_tokens=28000,
        max_long_side=1000,
        output_dir="results/openai/gpt-5-mini",
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_name", "m"), ("model_type", "http"), ("chat_name", "Shown"), ("url", "http://h/v1"), ("max_tokens", 5),
        ("temperature", 0.5), ("top_p", 0.9), ("seed", 7), ("stream", True), ("system_prompt", "Be brief."),
        ("num_workers", 2), ("num_infers", 1), ("use_cache", True), ("max_image_size", 1000), ("max_long_side", 800),
        ("min_short_side", 28), ("max_num_frames", 8), ("timeout", 1.5), ("retries", 0),
        ("reasoning", {"effort": "low"}), ("thinking", {"type": "enabled"}), ("provider", {"order": ["x"]}),
        ("extra_body", {"top_k": 1}), ("headers", {"X": "y"}), ("backend", "vllm"), ("extra_args", "--x 1"),
        ("server_port", 8000), ("output_dir", "out"),
    ],
)  # fmt: skip
def test_every_key_of_the_contract_reaches_the_field_of_its_name(key, value):
    assert getattr(parse({key: value}), key) == value


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [("retry_time", "timeout", 30), ("base_url", "url", "http://h/v1")],
)
def test_an_old_name_of_a_key_works_and_the_new_one_wins(old, new, value):
    assert getattr(parse({old: value}), new) == value
    other = 99 if new == "timeout" else "http://other/v1"
    assert getattr(parse({old: value, new: other}), new) == other


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({"num_worker": 8}, "unknown key 'num_worker'. Did you mean 'num_workers'?", id="misspelt"),
        pytest.param({"num_workers": "8x"}, "num_workers: expected a whole number above 0, found '8x'", id="text"),
        pytest.param({"num_workers": "8"}, "num_workers: expected a whole number above 0, found '8'", id="digits"),
        pytest.param({"num_workers": 0}, "num_workers: expected a whole number above 0, found 0", id="zero"),
        pytest.param({"num_workers": 2.5}, "num_workers: expected a whole number above 0, found 2.5", id="half"),
        pytest.param({"num_workers": True}, "num_workers: expected a whole number above 0, found True", id="flag"),
        pytest.param({"retries": -1}, "retries: expected a whole number, 0 or more, found -1", id="negative"),
        pytest.param({"seed": 1.5}, "seed: expected a whole number, found 1.5", id="seed"),
        pytest.param({"temperature": -0.1}, "temperature: expected a number, 0 or more, found -0.1", id="cold"),
        pytest.param({"temperature": float("nan")}, "temperature: expected a number, 0 or more, found nan", id="nan"),
        pytest.param({"top_p": 1.1}, "top_p: expected a number from 0 to 1, found 1.1", id="fraction"),
        pytest.param({"timeout": 0}, "timeout: expected a number of seconds above 0, found 0", id="timeout"),
        pytest.param(
            {"timeout": float("inf")}, "timeout: expected a number of seconds above 0, found inf", id="endless"
        ),
        pytest.param({"stream": "true"}, "stream: expected true or false, found 'true'", id="flag as text"),
        pytest.param({"use_cache": 1}, "use_cache: expected true or false, found 1", id="flag as number"),
        pytest.param({"url": 5}, "url: expected a text, found 5", id="url"),
        pytest.param({"extra_body": []}, "extra_body: expected an object, found []", id="object"),
        pytest.param({"model_name": ""}, "model_name: expected a text, found ''", id="empty name"),
        pytest.param({"model_type": ["http"]}, "model_type: expected a text, found ['http']", id="type"),
        pytest.param({"retry_time": "x"}, "timeout: expected a number of seconds above 0, found 'x'", id="old name"),
        pytest.param({"api_key": 12345}, "api_key: expected a text, found ***", id="key is not shown"),
        pytest.param(
            {"headers": {"a": 12345}}, "headers: expected an object of texts, found ***", id="headers neither"
        ),
    ],
)
def test_a_mistake_is_told_with_file_key_and_what_was_expected(values, message):
    with pytest.raises(ConfigError) as caught:
        parse(values)
    assert str(caught.value) == f"m.json: {message}"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({"headers": {"X": "a\r\nY: b"}}, "headers: X: holds a line break", id="line break"),
        pytest.param({"headers": {"X": "schlüssel-ключ"}}, "headers: X: its character 11 is not of", id="no Latin-1"),
        pytest.param({"headers": {"X Y": "a"}}, "headers: 'X Y' is no name of a header", id="name"),
        pytest.param({"headers": {"": "a"}}, "headers: '' is no name of a header", id="no name"),
        pytest.param({"api_key": "sk-12\n34"}, "api_key: holds a line break", id="key with a line break"),
        pytest.param({"api_key": "sk-1234…"}, "api_key: its character 8 is not of Latin-1", id="shortened key"),
        pytest.param(
            {"api_key": "sk-12", "url": "http://u:p@h/v1"}, "url holds a user, and there is an API key", id="both"
        ),
        pytest.param(
            {"headers": {"authorization": "x"}, "url": "http://u:p@h/v1"},
            "url holds a user, and headers an Authorization",
            id="both, by a header",
        ),
        pytest.param({"url": "http://u:%D0%BF@h/v1"}, "url: user and password: its character 1 is", id="password"),
        pytest.param({"url": "http://u%3Ax:p@h/v1"}, "url: the user's name holds a colon", id="colon"),
    ],
)
def test_what_no_request_can_carry_is_told_without_being_shown(values, message):
    with pytest.raises(ConfigError) as caught:
        parse(values)
    assert str(caught.value).startswith(f"m.json: {message}")
    assert not any(secret in str(caught.value) for secret in ("sk-12", "ключ", "u:p"))


@pytest.mark.parametrize(
    "values",
    [
        {"headers": {"X-Tab": "a\tb", "X-Latin": "é"}},
        {"url": "http://u:p@h/v1"},
        {"url": "https://u:p@h.openai.azure.com/v1", "api_key": "sk-1234"},
        {"model_type": "scripted", "headers": {"X Y": "no one sends it"}},
    ],
)
def test_what_a_request_can_carry_is_fine(values):
    parse(values)


def test_a_model_without_a_name_is_refused_unless_its_type_names_it():
    with pytest.raises(ConfigError, match=r"^m\.json: model_name is missing$"):
        parse_model({}, source="m.json")
    assert parse_model({"model_type": "ocr"}, source="m.json").model_name == "ocr"


@pytest.mark.parametrize(
    ("model_type", "name"), [("random", "random"), ("clients/mine.py:Client", "mine.Client"), ("m.py:C", "m.C")]
)
def test_a_model_without_a_name_is_called_by_its_type(model_type, name):
    assert parse_model({"model_type": model_type}, source="m.json").model_name == name


def test_null_is_as_good_as_not_given():
    no_keys = {"model_name", "options", "identity"}
    keys = [field.name for field in dataclasses.fields(ModelSpec) if field.name not in no_keys]
    spec = parse(dict.fromkeys(keys) | {"temperature": 0})
    assert spec == parse()


@pytest.mark.parametrize(
    ("values", "flags", "temperature"),
    [
        pytest.param({}, {}, 0, id="nothing said: the same answer each time"),
        pytest.param({"num_infers": 3}, {}, 1, id="repeats need chance"),
        pytest.param({"num_infers": 3, "temperature": 0.7}, {}, 0.7, id="given"),
        pytest.param({"temperature": None}, {}, None, id="null: none is sent"),
        pytest.param({"temperature": None, "num_infers": 3}, {}, None, id="null with repeats"),
        pytest.param({"temperature": 0.7}, {"temperature": 0}, 0, id="the flag 0 is a value"),
        pytest.param({"temperature": 0}, {"num_infers": 2, "temperature": 0.5}, 0.5, id="flags mend the file"),
    ],
)
def test_the_temperature_that_is_meant(values, flags, temperature):
    assert parse(values, flags).temperature == temperature


@pytest.mark.parametrize(
    ("values", "flags"), [({"num_infers": 2, "temperature": 0}, {}), ({"temperature": 0.0}, {"num_infers": 2})]
)
def test_repeats_at_temperature_0_are_refused(values, flags):
    with pytest.raises(ConfigError, match="num_infers 2 with temperature 0 would ask for the same answer 2 times"):
        parse(values, flags)


def test_flags_go_before_the_file_and_the_file_before_defaults():
    spec = parse({"num_workers": 3, "retries": 0}, {"num_workers": 9, "model_name": "other"})
    assert (spec.num_workers, spec.retries, spec.model_name, spec.num_infers) == (9, 0, "other", 1)
    assert parse({"retry_time": 5}, {"timeout": 7}).timeout == 7


def test_keys_that_only_one_type_takes_are_kept_apart():
    own = {"scripted": {"answers": Any, "record": str | None}}
    spec = parse({"model_type": "scripted", "answers": ["A"]}, own_keys=lambda kind: own.get(kind, {}))
    assert spec.options == {"answers": ["A"]}
    with pytest.raises(ConfigError, match=r"unknown key 'answer'\. Did you mean 'answers'"):
        parse({"model_type": "scripted", "answer": 1}, own_keys=lambda kind: own.get(kind, {}))
    with pytest.raises(ConfigError, match=r"record: expected a text, found 5$"):
        parse({"model_type": "scripted", "record": 5}, own_keys=lambda kind: own.get(kind, {}))
    with pytest.raises(ConfigError, match="unknown key 'answers'"):
        parse({"answers": ["A"]}, own_keys=lambda kind: own.get(kind, {}))


def test_keys_of_other_runners_are_left_out_with_a_warning(caplog):
    caplog.set_level(logging.WARNING)
    assert parse({"model_path": "/m", "width": 5}) == parse()
    assert [record.getMessage() for record in caplog.records] == [
        "m.json: model_path means nothing to an endpoint and is left out",
        "m.json: width means nothing to an endpoint and is left out",
    ]


@pytest.mark.parametrize(
    ("value", "variables", "key"),
    [
        pytest.param("sk-1", {"FLAGEVAL_API_KEY": "sk-2"}, "sk-1", id="literal"),
        pytest.param("$MY_KEY", {"MY_KEY": "sk-3"}, "sk-3", id="variable"),
        pytest.param(None, {"FLAGEVAL_API_KEY": "sk-2", "OPENAI_API_KEY": "sk-4"}, "sk-2", id="default variable"),
        pytest.param("", {"OPENAI_API_KEY": "sk-4"}, "sk-4", id="second default variable"),
        pytest.param(None, {}, None, id="none"),
    ],
)
def test_the_key_is_found_and_wrapped(monkeypatch, value, variables, key):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    spec = parse({"api_key": value})
    assert (spec.api_key.reveal() if spec.api_key else None) == key
    assert key is None or key not in repr(spec)


def test_all_secrets_of_a_model_are_known():
    spec = parse(
        {"api_key": "sk-1234", "headers": {"Authorization": "Bearer abc.def", "X-Api-Key": "xyz1", "X-Team": "vision"}}
    )
    assert set(spec.secrets()) == {"sk-1234", "Bearer abc.def", "abc.def", "xyz1"}


CHANGES = {
    "model_name": "n", "model_type": "other", "url": "http://other/v1", "max_tokens": 6, "temperature": 0.5,
    "top_p": 0.5, "seed": 1, "system_prompt": "Be brief.", "reasoning": {"a": 1}, "thinking": {"a": 1},
    "provider": {"a": 1}, "extra_body": {"a": 1}, "max_image_size": 5, "max_long_side": 5, "min_short_side": 5,
    "max_num_frames": 5, "options": {"a": 1}, "video_mode": "file", "fetch_media": True,
    "image_detail": "low", "max_tokens_key": "max_completion_tokens",
}  # fmt: skip
NO_CHANGES = {
    "chat_name": "n", "api_key": Secret("x"), "stream": True, "num_workers": 1, "num_infers": 3, "use_cache": True,
    "timeout": 1.0, "retries": 1, "headers": {"a": "b"}, "backend": "b", "extra_args": "e", "server_port": 1,
    "output_dir": "o", "fetch_media_max_bytes": 5, "fetch_timeout": 1.0, "allow_private_media": True,
    "proxy": "http://p",
}  # fmt: skip


def test_every_field_either_decides_answers_or_does_not():
    known = {*CHANGES, *NO_CHANGES, "identity"}  # which stands in the fingerprint for the address
    assert {field.name for field in dataclasses.fields(ModelSpec)} == known


@pytest.mark.parametrize("name", [*CHANGES, *NO_CHANGES])
def test_only_what_decides_an_answer_changes_the_answer_settings(name):
    spec = parse({"url": "http://h/v1"})
    changed = dataclasses.replace(spec, **{name: {**CHANGES, **NO_CHANGES}[name]})
    assert (changed.answer_settings() != spec.answer_settings()) is (name in CHANGES)


def test_answer_settings_hold_no_password():
    settings = parse({"url": "https://user:pass@h/v1?api-key=abc"}).answer_settings()
    assert settings["url"] == "https://***@h/v1?api-key=***"
    assert "sk-1234" not in str(parse({"api_key": "sk-1234"}).answer_settings())


def test_a_model_is_shown_by_its_chat_name():
    assert parse().shown_name == "m"
    assert parse({"chat_name": "My model"}).shown_name == "My model"


def test_the_name_of_the_token_limit_is_one_of_two():
    assert parse({"max_tokens_key": "max_completion_tokens"}).max_tokens_key == "max_completion_tokens"
    assert parse({"max_tokens_key": "max_tokens"}) == parse()
    with pytest.raises(ConfigError, match='max_tokens_key: expected "max_tokens" or "max_completion_tokens", found'):
        parse({"max_tokens_key": "max_completion"})


def test_an_identity_is_learned_and_not_given():
    with pytest.raises(ConfigError, match="unknown key 'identity'"):
        parse({"identity": "/a"})


def test_what_may_hold_a_key_is_not_printed_with_a_spec():
    values = {
        "model_name": "m",
        "url": "http://h/v1?key=hidden-1",
        "api_key": "hidden-2",
        "headers": {"X": "hidden-3"},
        "extra_body": {"auth": "hidden-4"},
        "proxy": "u:hidden-5@h:1",
    }
    assert "hidden" not in repr(parse_model(values, source="m.json"))
