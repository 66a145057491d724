"""Settings in one flag: JSON, a file, or pairs."""

from __future__ import annotations

import pytest

from flagmm.config.settings_text import parse_settings_text
from flagmm.errors import ConfigError, FlagMMError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"temperature": 0.5}', {"temperature": 0.5}),
        ("temperature=0.5,max_tokens=16", {"temperature": 0.5, "max_tokens": 16}),
        ("stream=True, seed=7", {"stream": True, "seed": 7}),
        ("stream=false,top_p=None", {"stream": False, "top_p": None}),
        ('stop_seqs=["a", "b=c"],x=y', {"stop_seqs": ["a", "b=c"], "x": "y"}),
        ("stop_seqs=['a'],name=a b", {"stop_seqs": ["a"], "name": "a b"}),
        ('extra_body={"a": {"b": 1}}', {"extra_body": {"a": {"b": 1}}}),
        ("url=http://h/v1?a=b", {"url": "http://h/v1?a=b"}),
        ("", {}),
    ],
)
def test_pairs_and_json_say_the_same(text, expected):
    assert parse_settings_text(text, flag="--x", pairs=True) == expected


def test_a_file_is_read(tmp_path):
    (tmp_path / "a.yaml").write_text("general_vqa:\n  local_path: x\n")
    values = parse_settings_text(str(tmp_path / "a.yaml"), flag="--x", pairs=False)
    assert values == {"general_vqa": {"local_path": "x"}}


@pytest.mark.parametrize(
    ("text", "pairs", "message"),
    [
        ('{"api_key": "sk-1",}', False, "--x: not valid JSON: .* at character"),
        ("[1]", False, "--x: expected a JSON object"),
        ("a=1", False, "--x: not valid JSON"),
        ("temperature", True, "--x: expected a JSON object, or pairs"),
        ("[" * 100_000, False, "--x: nested too deeply"),
        ('{"a": {"b": 1, "c": "sk-1", "b": 2}}', False, "--x: 'b' is given twice"),
        ("temperature=0,seed=1,temperature=1", True, "--x: 'temperature' is given twice"),
        ('{"seed": ' + "9" * 5000 + "}", True, "--x: a number of thousands of digits"),
        ("nowhere.json", False, "nowhere.json: no such file"),
    ],
)
def test_anything_else_is_told_without_repeating_it(text, pairs, message):
    with pytest.raises((ConfigError, FlagMMError), match=message) as caught:
        parse_settings_text(text, flag="--x", pairs=pairs)
    assert "sk-1" not in str(caught.value)
