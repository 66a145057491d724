"""The chance baseline, and answers written down beforehand."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError, DataError, ModelError
from flagmm.models.offline import RandomClient, ScriptedClient
from flagmm.types import CallSettings, ImagePart, MediaSource, Message, ModelOutput, TextPart

SPEC = ModelSpec(model_name="m")


def user(text):
    return [Message(role="user", content=(TextPart(text=text),))]


def ask(client, question_id="1", text="Which?", **settings):
    return asyncio.run(client.generate(user(text), CallSettings(question_id=question_id, **settings)))


def guesses(count=200, *, seed=None, **settings):
    client = RandomClient(ModelSpec(model_name="m", seed=seed))
    return [ask(client, str(number), **settings).text for number in range(count)]


def test_chance_picks_every_option_about_equally_often():
    counts = Counter(guesses(400, options=("red", "blue", "green", "grey")))
    assert counts.keys() == set("ABCD")
    assert all(60 < count < 140 for count in counts.values())


def test_options_are_read_from_the_prompt_where_the_item_has_none():
    assert set(guesses(60, text="Which?\nA. red\nB. blue\nC. green")) == set("ABC")


@pytest.mark.parametrize(
    ("settings", "answers"),
    [
        pytest.param({"question_type": "yes-no"}, {"yes", "no"}, id="yes-no"),
        pytest.param({"question_type": "open"}, {"(no guess)"}, id="no options"),
        pytest.param({"question_type": "multiple-response", "options": ("a", "b")}, {"A", "B", "AB"}, id="several"),
        pytest.param({"question_type": "open", "text": "A. only one"}, {"(no guess)"}, id="one line is no list"),
        pytest.param({"question_type": "open", "text": "A. x\nC. y"}, {"(no guess)"}, id="letters with a gap are none"),
    ],
)
def test_chance_answers_by_type(settings, answers):
    assert set(guesses(60, **settings)) == answers


def test_chance_is_the_same_each_time_and_differs_by_seed_and_repetition():
    options = ("a", "b", "c", "d")
    first = guesses(options=options)
    assert guesses(options=options) == first
    assert guesses(options=options, seed=1) != first
    assert guesses(options=options, repeat=1) != first


ANSWERS = {"1": "A", "2": {"text": "B", "reason": "r", "finish_reason": "length"}}


def scripted(answers, **settings):
    return ScriptedClient(SPEC, answers=answers, **settings)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("a.json", json.dumps(ANSWERS), id="object"),
        pytest.param(
            "a.json",
            json.dumps([{"question_id": key, "answer": value} for key, value in ANSWERS.items()]),
            id="list by id",
        ),
        pytest.param(
            "a.jsonl",
            "".join(json.dumps({"question_id": int(key), "answer": value}) + "\n" for key, value in ANSWERS.items()),
            id="lines",
        ),
        pytest.param("a.json", json.dumps(list(ANSWERS.values())), id="list in the order of asking"),
    ],
)
def test_answers_may_come_in_a_file(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    client = scripted(str(tmp_path / name))
    assert ask(client, "1") == ModelOutput(text="A", finish_reason="stop")
    assert ask(client, "2") == ModelOutput(text="B", reason="r", finish_reason="length")


@pytest.mark.parametrize(
    ("entry", "output"),
    [
        ("A", ModelOutput(text="A", finish_reason="stop")),
        ("", ModelOutput(text="", finish_reason="stop")),
        ({"text": "<think>r</think>A"}, ModelOutput(text="A", reason="r", finish_reason="stop")),
        ({"text": "", "refused": True}, ModelOutput(text="", finish_reason="stop", refused=True)),
        ({"text": "A", "finish_reason": None}, ModelOutput(text="A")),
        (5, ModelOutput(text="5", finish_reason="stop")),
    ],
)
def test_an_entry_is_a_text_or_an_object(entry, output):
    assert ask(scripted({"1": entry})) == output


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"1": {"error": "out of memory"}}, "out of memory"),
        ({"2": "A"}, "no scripted answer for question_id '1'"),
        ([], "only 0 scripted answers"),
    ],
)
def test_a_missing_answer_is_a_failed_call(answers, message):
    with pytest.raises(ModelError) as caught:
        ask(scripted(answers))
    assert (str(caught.value), caught.value.kind, caught.value.retryable) == (message, "model", False)


@pytest.mark.parametrize(
    ("answers", "error"), [(None, ConfigError), (5, ConfigError), ("gone.json", DataError), ("gone.jsonl", DataError)]
)
def test_answers_that_are_none_are_told(answers, error):
    with pytest.raises(error):
        scripted(answers)


def test_lines_without_an_id_are_told(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"answer": "A"}\n')
    with pytest.raises((ConfigError, DataError), match=r"a\.jsonl:1: "):
        scripted(str(tmp_path / "a.jsonl"))


def test_it_remembers_what_it_was_asked(tmp_path):
    client = scripted(["A", "B"], record=str(tmp_path / "asked.jsonl"))
    picture = ImagePart(source=MediaSource(data=b"12345"))
    messages = [Message(role="user", content=(TextPart(text="图?"), picture))]
    asyncio.run(client.generate(messages, CallSettings(question_id="x", task="t")))
    ask(client, "y")
    assert [question_id for question_id, _ in client.requests] == ["x", "y"]
    assert client.requests[0][1] == messages
    lines = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {
        "task": "t",
        "question_id": "x",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "图?"}, {"type": "image", "image": "<5 bytes>"}]}
        ],
    }
    assert len(lines) == 2
