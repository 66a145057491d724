"""Configs as JSON for the results directory, and the fingerprint of a model's settings."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path

import pytest

from flagmm.config.dump import dump_model, dump_task, fingerprint, to_plain
from flagmm.config.model import ModelSpec
from flagmm.config.secrets import Secret
from flagmm.config.task import load_task
from tests.core_cases import core_cases

TASK = """
def hook(annotation, **kwargs):
    return {text!r}
dataset = dict(type="VqaBaseDataset", name="t", prompt_template=dict(type="PromptTemplate", post_prompt=hook))
"""


def dumped_hook(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "t.py").write_text(TASK.format(text=text))
    return dump_task(load_task(folder / "t.py"))["dataset"]["prompt_template"]["post_prompt"]


def test_a_hook_is_dumped_by_name_and_by_a_hash_of_its_source(tmp_path):
    first, same, changed = (dumped_hook(tmp_path / name, text) for name, text in (("a", "x"), ("b", "x"), ("c", "y")))
    assert first == same
    assert first["function"] == "hook"
    assert len(first["sha256"]) == 64
    assert changed["sha256"] != first["sha256"]


@pytest.mark.parametrize(("given", "expected"), core_cases("config_dump"))
def test_recorded_configs_with_functions_are_dumped(tmp_path, given, expected):
    path = tmp_path / "t.py"
    path.write_text(given["config"] + "dataset = dict(type='VqaBaseDataset', name='t')\n")
    dumped = dump_task(load_task(path))
    assert json.loads(json.dumps(dumped)) == dumped
    assert dumped["evaluator"]["type"] == "BaseEvaluator"
    assert dumped["evaluator"]["eval_func"]["function"] == "pick"


def test_a_task_is_dumped_with_its_name_and_file(tmp_path):
    (tmp_path / "t.py").write_text("dataset = dict(type='T', name='t')\nregister_evaluator = {'e.py': 'E'}\n")
    assert dump_task(load_task(tmp_path / "t.py")) == {
        "name": "t",
        "file": str(tmp_path / "t.py"),
        "dataset": {"type": "T", "name": "t"},
        "evaluator": None,
        "register_dataset": {},
        "register_evaluator": {"e.py": "E"},
    }


def top_level(x):
    return x


@pytest.mark.parametrize(
    "value",
    [
        top_level, lambda x: x, functools.partial(top_level, 1), len, Path, Path("a"), {1, 2}, (1, (2,)), {1: "a"},
        b"x", 1j, "".join, object(), float("inf"), Secret("x"), None,
    ],
)  # fmt: skip
def test_any_value_of_a_config_becomes_json(value):
    dumped = to_plain({"value": [value]})
    assert json.loads(json.dumps(dumped)) == dumped


def test_plain_values_stay_what_they_are():
    value = {"a": [1, 2.5, True, None, "x"], "b": {"c": []}}
    assert to_plain(value) == value
    assert to_plain((1, Path("a/b"))) == [1, "a/b"]


def test_a_function_without_source_has_a_hash_of_what_it_does():
    made = [eval(f"lambda x: x + {number}") for number in (1, 1, 2)]  # noqa: S307  # there is no other way to lack a file
    hashes = [to_plain(function)["sha256"] for function in made]
    assert hashes[0] == hashes[1] != hashes[2]


def test_secrets_are_masked():
    spec = ModelSpec(
        model_name="m",
        api_key=Secret("sk-1234"),
        headers={"X": "abc1"},
        url="https://u:pw12@h/v1",
        extra_body={"token": "tok1"},
    )
    text = json.dumps(dump_model(spec))
    assert [secret for secret in ("sk-1234", "abc1", "pw12", "tok1") if secret in text] == []


def test_a_model_is_dumped_without_what_was_not_given():
    assert dump_model(ModelSpec(model_name="m", temperature=0, max_tokens=5)) == {
        "model_name": "m", "model_type": "http", "max_tokens": 5, "temperature": 0, "stream": False, "num_workers": 8,
        "num_infers": 1, "use_cache": False, "max_num_frames": 16, "timeout": 600.0, "retries": 5,
        "fetch_media": False, "fetch_media_max_bytes": 104857600, "fetch_timeout": 60.0, "allow_private_media": False,
    }  # fmt: skip


def test_a_fingerprint_is_the_same_for_the_same_settings_whatever_the_order():
    first = ModelSpec(model_name="m", extra_body={"a": 1, "b": 2})
    second = ModelSpec(model_name="m", extra_body={"b": 2, "a": 1}, num_workers=1, api_key=Secret("x"))
    assert fingerprint(first) == fingerprint(second)


def test_the_fingerprint_is_the_same_in_every_version():
    # Results folders carry it: with another one, no saved answer of an older version is taken any more.
    spec = ModelSpec(model_name="图", url="http://h/v1", temperature=0, extra_body={"top_k": 1})
    assert fingerprint(spec) == "dd52a0962505e7983f5932e415b219df0f920b558c839e71fe085465fc9e3821"


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.1},
        {"model_name": "n"},
        {"url": "http://h/v1"},
        {"extra_body": {"a": 1}},
        {"options": {"a": 1}},
        {"system_prompt": "\ud800"},
    ],
)
def test_a_fingerprint_changes_with_what_decides_an_answer(change):
    spec = ModelSpec(model_name="m")
    assert fingerprint(dataclasses.replace(spec, **change)) != fingerprint(spec)


def test_a_model_is_known_by_its_identity_where_that_is_known_and_else_by_its_address():
    here, there = (ModelSpec(model_name="m", url=f"http://{host}/v1") for host in ("a", "b"))
    assert fingerprint(here) != fingerprint(there)
    known = [dataclasses.replace(spec, identity="/ckpt") for spec in (here, there)]
    assert fingerprint(known[0]) == fingerprint(known[1])
    assert fingerprint(known[0]) not in (fingerprint(here), fingerprint(dataclasses.replace(here, identity="/other")))
    assert fingerprint(known[0]) != fingerprint(dataclasses.replace(known[0], model_name="n"))
