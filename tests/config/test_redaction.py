"""Known secrets are found in a text in whatever form they come back."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.cli.score import build_parser as score_parser
from flagmm.config.model import parse_model
from flagmm.config.redaction import LEAST_IN_REPLIES, Redactor, hide_arguments
from flagmm.config.secrets import is_secret_key, mask, mask_command, mask_url, secrets_in, url_secrets

KEY = 'sk/9+a b"c-π7'
OFTEN = st.text("abXY09+/=-", min_size=8, max_size=20)


@pytest.mark.parametrize("encode", [str, quote, lambda text: json.dumps(text)[1:-1], lambda text: text.encode().hex()])
def test_every_spelling_of_a_secret_is_masked(encode):
    assert Redactor([KEY])(f"<{encode(KEY)}>") == "<***>"


@given(OFTEN, st.binary(max_size=4), st.binary(max_size=4))
def test_base64_of_more_than_the_secret_shows_none_of_it(secret, before, after):
    text = base64.b64encode(before + secret.encode() + after).decode()
    shown = Redactor([secret])(text)
    assert "***" in shown
    assert len(shown) <= len(text) - len(secret) + 5


def test_user_and_password_of_a_url_are_masked_as_they_go_over_the_wire():
    basic = base64.b64encode(b"user:pw12").decode()
    assert Redactor(url_secrets("http://user:pw12@host/v1"))(f"Basic {basic}") == "Basic ***"


def test_a_short_word_used_as_a_key_changes_no_answer():
    hide = Redactor(["test", "1", "EMPTY"], least=LEAST_IN_REPLIES)
    assert hide("the test gives 1, EMPTY") == "the test gives 1, EMPTY"


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("u:PASS@host:1", "***@host:1"),
        ("//u:PASS@host/v1", "//***@host/v1"),
        ("http://u:pa/ss@host/v1", "http://***@host/v1"),
        ("host/v1?auth=abc&x=1", "host/v1?auth=***&x=1"),
        ("https://h/v1#access_token=abc", "https://h/v1#access_token=***"),
        ("https://h/@user:name", "https://h/@user:name"),
    ],
)
def test_urls_with_and_without_a_scheme_lose_their_secrets(url, masked):
    assert mask_url(url) == masked


@pytest.mark.parametrize("key", ["auth", "pwd", "my_key", "tokens", "userToken", "x-sig", "keys", "session"])
def test_keys_of_a_service_in_a_request_s_body_are_secrets(key):
    body = {"extra_body": {key: "hunter2-secret", "nested": [{key: "hunter2-secret"}]}}
    assert "hunter2" not in json.dumps(mask(body))
    assert set(secrets_in(body)) == {"hunter2-secret"}


@pytest.mark.parametrize("key", ["max_tokens", "stop_tokens", "pad_token", "monkey", "answer_key", "budget_tokens"])
def test_settings_of_a_request_that_sound_alike_are_none(key):
    assert not is_secret_key(key, of_request=True)
    assert mask({"extra_body": {key: "a", "n_tokens": 4096}}) == {"extra_body": {key: "a", "n_tokens": 4096}}


def test_all_that_stands_under_a_secret_s_name_is_hidden():
    assert mask({"auth": {"type": "x", "value": ["y"]}}) == {"auth": {"type": "***", "value": ["***"]}}


def test_a_proxy_without_a_scheme_is_masked_in_a_copy_and_known_as_a_secret():
    spec = parse_model({"model_name": "m", "url": "http://h/v1", "proxy": "u:PASSWORD@host:1"}, source="m.json")
    assert "PASSWORD" in spec.secrets()
    assert mask({"proxy": spec.proxy}) == {"proxy": "***@host:1"}


@pytest.mark.parametrize(
    "argument",
    [
        "proxy=u:HIDDEN@h:1",
        'extra_body={"auth":"HIDDEN","x":1}',
        "api_key=HIDDEN,more",
        '{"extra_body": {"pwd": "HIDDEN"}}',
    ],
)
def test_secrets_inside_settings_of_a_flag_are_not_recorded(argument):
    assert "HIDDEN" not in mask_command(["--model-args", argument])[-1]
    assert "more" not in mask_command(["--model-args", argument])[-1]


@pytest.mark.parametrize(
    "argv",
    [
        ["--apikey=HIDDEN"], ["--apikey", "HIDDEN"], ["--api-kye", "HIDDEN"], ["--judge-key", "HIDDEN"],
        ["--api-key=", "HIDDEN"], ["api_key=HIDDEN"], ["apikey", "HIDDEN"], ["--token", "HIDDEN", "HIDDEN"],
        ["-k", "HIDDEN"], ["--auth-token=HIDDEN"], ["http://u:HIDDEN@h"],
    ],
)  # fmt: skip
def test_a_complaint_about_arguments_repeats_no_key(argv):
    message = f"unrecognized arguments: {' '.join(argv)}"
    assert "HIDDEN" not in hide_arguments(message, argv, known_flags=["--api-key", "--data"])


def test_the_parser_of_a_command_repeats_no_key(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with pytest.raises(SystemExit):
        score_parser().parse_args(
            ["--predictions", "p", "--data", "d", "--judge-key", "HIDDEN", "sk-of-the-environment"]
        )
    shown = capsys.readouterr().err
    assert "--judge-key" in shown
    assert "HIDDEN" not in shown
    assert "environment" not in shown
