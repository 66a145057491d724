"""Keys and passwords never show."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.config.redaction import RedactingFormatter, redact
from flagmm.config.secrets import MASK, Secret, is_secret_key, mask, mask_command, mask_url
from tests.core_cases import core_cases

OFTEN = settings(max_examples=100, deadline=None)
SECRET_NAMES = (
    "api_key", "API_KEY", "apiKey", "X-Api-Key", "openai_api_key", "access_token", "Authorization", "password",
    "secret", "client_secret", "token", "key", "sig", "Ocp-Apim-Subscription-Key", "Cookie", "credentials",
)  # fmt: skip
PLAIN_NAMES = (
    "max_tokens", "monkey", "keys", "tokenizer", "model_name", "pad_token", "author", "detailed_keys", "key_frames",
    "secretary", "design",
)  # fmt: skip
SECRET_TEXTS = st.text("abcXYZ0123456789.-", min_size=6, max_size=24)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_key_that_holds_a_secret_is_known_by_its_name(name):
    assert is_secret_key(name)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_a_key_that_only_sounds_like_one_is_not(name):
    assert not is_secret_key(name)


@pytest.mark.parametrize(("given", "expected"), core_cases("redact"))
def test_recorded_configs_lose_their_secrets(given, expected):
    text = json.dumps(mask(given["config"]))
    assert [secret for secret in expected["must_not_contain"] if secret in text] == []


@OFTEN
@given(
    st.sampled_from(SECRET_NAMES),
    st.text("vwxyz", min_size=8, max_size=12).map("#{}".format),
    st.recursive(
        st.none() | st.integers() | st.text("ab", max_size=3), lambda inner: st.lists(inner, max_size=2), max_leaves=4
    ),
)
def test_no_secret_survives_masking_however_deep_it_lies(name, secret, other):
    config = {
        "plain": other,
        "list": [{name: secret}, {name: [secret]}],
        "s": Secret(secret),
        "deep": {"er": {name: secret}},
    }
    masked = mask(config)
    assert secret not in repr(masked)
    assert masked["plain"] == other
    assert config["deep"]["er"][name] == secret  # a copy was made


def test_a_mask_stands_where_a_secret_was():
    config = {"api_key": "x", "list": [Secret("y"), {"token": ["z"]}]}
    assert mask(config) == {"api_key": MASK, "list": [MASK, {"token": [MASK]}]}


def test_all_values_of_headers_are_hidden():
    assert mask({"headers": {"X-Team": "vision", "Empty": ""}}) == {"headers": {"X-Team": MASK, "Empty": ""}}


def test_empty_values_and_numbers_stay():
    assert mask({"api_key": None, "token": "", "max_tokens": 5, "on": True}) == {
        "api_key": None,
        "token": "",
        "max_tokens": 5,
        "on": True,
    }


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://host/v1", "https://host/v1"),
        ("https://u:pw@host:8000/v1", "https://***@host:8000/v1"),
        ("https://u:p@w@host/v1", "https://***@host/v1"),
        ("https://key@host/v1", "https://***@host/v1"),
        ("https://h/v1?api-key=abc&api-version=1", "https://h/v1?api-key=***&api-version=1"),
        ("https://h/v1?x=1#part", "https://h/v1?x=1#part"),
        ("https://u:pw@[::1/v1", "https://***"),  # broken, and cannot be taken apart
        ("Look at\nhttp://h/a b\tand answer.\n", "Look at\nhttp://h/a b\tand answer.\n"),  # a prompt, no URL
    ],
)
def test_a_url_loses_its_secrets_and_else_stays_as_it_is(url, masked):
    assert mask_url(url) == masked
    assert mask({"value": url}) == {"value": masked}


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        (["--api-key", "sk-1", "--limit", "2"], ["--api-key", MASK, "--limit", "2"]),
        (["--api_key", "sk-1"], ["--api_key", MASK]),
        (["--api-key=sk-1 x"], [f"--api-key={MASK}"]),
        (["--key", "sk-1", "--judge-key=sk-2"], ["--key", MASK, f"--judge-key={MASK}"]),
        (["--judge_key", "sk-1", "--monkey", "m"], ["--judge_key", MASK, "--monkey", "m"]),
        (["--api_key=sk-1"], [f"--api_key={MASK}"]),
        (["--api-key", "--api-key", "x"], ["--api-key", MASK, "x"]),
        (["--url", "https://u:pw@h/v1?token=t"], ["--url", "https://***@h/v1?token=***"]),
        (["--url=https://u:pw@h/v1"], ["--url=https://***@h/v1"]),
        (["--extra-args", "--port 1 --api-key sk-1"], ["--extra-args", f"--port 1 --api-key {MASK}"]),
        (["--model=a=b", "-c", "x.json"], ["--model=a=b", "-c", "x.json"]),
    ],
)
def test_a_command_is_recorded_without_its_secrets(arguments, masked):
    assert mask_command(arguments) == masked


@pytest.mark.parametrize(
    ("argument", "masked"),
    [
        ('{"models": {"api_key": "sk-1", "model_id": "j"}}', '{"models": {"api_key": "***", "model_id": "j"}}'),
        ('--judge={"models": [{"api_key": "sk-1"}]}', '--judge={"models": [{"api_key": "***"}]}'),
        ('{"extra_headers": {"X-Mine": "sk-1"}}', '{"extra_headers": {"X-Mine": "***"}}'),
        ('{"models": {"api_key": "sk-1"', '{"models": {"api_key": ***'),
        ("api_key=sk-1,top_p=0.5", "api_key=***,top_p=0.5"),
        ("temperature=0,max_tokens=5", "temperature=0,max_tokens=5"),
    ],
)
def test_keys_inside_the_value_of_a_flag_are_masked(argument, masked):
    assert mask_command(["--judge", argument])[-1] == masked


@OFTEN
@given(st.lists(SECRET_TEXTS, min_size=1, max_size=4), st.lists(st.text(max_size=5), min_size=5, max_size=5))
def test_no_secret_is_left_in_a_text(secrets, pieces):
    text = "".join(piece + secret for piece, secret in zip(pieces, secrets, strict=False)) + pieces[-1]
    shown = redact(text, secrets)
    assert [secret for secret in secrets if secret in shown] == []


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("key sk-123456!", ["sk-123456"], "key ***!"),
        ("abcdef", ["abcd", "abcdef"], "***"),  # the rest of the longer one would be left
        ("a cat", ["a", "cat"], "a cat"),  # too short for keys
        ("nothing", [], "nothing"),
    ],
)
def test_secrets_are_replaced_in_a_text(text, secrets, shown):
    assert redact(text, secrets) == shown


def test_a_secret_shows_itself_only_when_asked():
    secret = Secret("sk-123456")
    assert secret.reveal() == "sk-123456"
    assert "sk-123456" not in f"{secret} {secret!r} {[secret]} {secret!s}"
    assert secret == Secret("sk-123456")
    assert secret != Secret("other")
    assert len({secret, Secret("sk-123456")}) == 1


def test_log_records_and_tracebacks_lose_secrets_that_become_known_later():
    formatter = RedactingFormatter("%(message)s")
    try:
        raise ValueError("sk-123456 is no good")
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "f.py", 1, "failed with %s", ("sk-123456",), (ValueError, error, error.__traceback__)
        )
    formatter.secrets += ["sk-123456"]
    shown = formatter.format(record)
    assert "sk-123456" not in shown
    assert "failed with ***" in shown
    assert "ValueError: *** is no good" in shown
