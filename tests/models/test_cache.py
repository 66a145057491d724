"""The reply cache: what is kept, and for which call."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from flagmm.errors import ModelError
from flagmm.models.cache import Cached, ReplyCache, is_cacheable
from flagmm.models.client import BaseClient
from flagmm.types import CallSettings, Message, ModelOutput, TextPart, Usage
from tests.core_cases import core_cases

WHOLE = ModelOutput(
    text="图 \ud800",
    reason="r",
    usage=Usage(prompt_tokens=1, total_tokens=2),
    finish_reason="stop",
    attempts=3,
    latency=0.5,
)


class Counting(BaseClient):
    """Gives its replies in turn and counts the calls."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.calls = 0

    async def generate(self, messages, settings):
        reply = self.replies[self.calls]
        self.calls += 1
        if isinstance(reply, Exception):
            raise reply
        return reply


def ask(client, text="Q?", repeat=0):
    messages = [Message(role="user", content=(TextPart(text=text),))]
    return asyncio.run(client.generate(messages, CallSettings(question_id="1", repeat=repeat)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "replies.sqlite"


def test_a_call_that_was_answered_before_is_not_made_again(path):
    inner = Counting(WHOLE)
    client = Cached(inner, path, "f")
    first, second = ask(client), ask(client)
    assert (inner.calls, first) == (1, WHOLE)
    assert second == ModelOutput(text=WHOLE.text, reason="r", usage=WHOLE.usage, finish_reason="stop", cached=True)


def test_another_run_finds_the_reply(path):
    ask(Cached(Counting(ModelOutput(text="A")), path, "f"))
    assert ask(Cached(Counting(), path, "f")) == ModelOutput(text="A", cached=True)


@pytest.mark.parametrize(
    ("fingerprint", "asked"),
    [("g", {}), ("f", {"text": "Other?"}), ("f", {"repeat": 1})],
    ids=["settings", "question", "repetition"],
)
def test_another_call_is_made(path, fingerprint, asked):
    ask(Cached(Counting(ModelOutput(text="A")), path, "f"))
    assert ask(Cached(Counting(ModelOutput(text="B")), path, fingerprint), **asked).text == "B"


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        pytest.param(ModelOutput(text="A", finish_reason="stop"), True, id="whole"),
        pytest.param(ModelOutput(text="A"), True, id="no finish reason"),
        pytest.param(ModelOutput(text="A", finish_reason="length"), False, id="truncated"),
        pytest.param(ModelOutput(text=" \n", finish_reason="stop"), False, id="empty"),
        pytest.param(ModelOutput(text="A", refused=True), False, id="refused"),
    ],
)
def test_only_whole_replies_are_kept(path, output, kept):
    inner = Counting(output, ModelOutput(text="again"))
    client = Cached(inner, path, "f")
    ask(client)
    assert (ask(client).text, inner.calls) == ((output.text, 1) if kept else ("again", 2))
    assert is_cacheable(output) is kept


@pytest.mark.parametrize(("given", "expected"), core_cases("cache_accept"))
def test_recorded_replies_are_kept_or_not(given, expected):
    assert is_cacheable(ModelOutput(text=given["content"] or "", finish_reason=given["finish_reason"])) is expected


def test_a_failure_is_not_kept(path):
    client = Cached(Counting(ModelError("x", kind="server"), ModelOutput(text="A")), path, "f")
    with pytest.raises(ModelError):
        ask(client)
    assert ask(client).text == "A"


def test_several_threads_and_connections_may_write_at_once(path):
    caches = [ReplyCache(path) for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: caches[n % 3].put(str(n % 5), ModelOutput(text=str(n % 5))), range(30)))
    assert [caches[0].get(str(n)).text for n in range(5)] == ["0", "1", "2", "3", "4"]
    assert caches[0].get("5") is None


@pytest.mark.parametrize("attempt", range(20))
def test_several_runs_may_make_the_file_at_once(path, attempt):
    barrier = Barrier(8)

    def keep(number):
        barrier.wait()
        ReplyCache(path).put(str(number), ModelOutput(text=str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(8)))
    assert [ReplyCache(path).get(str(number)).text for number in range(8)] == [str(number) for number in range(8)]


@pytest.mark.parametrize("reason", ["abort", "timeout", "RECITATION", "model_context_window_exceeded"])
def test_what_an_older_version_kept_of_a_reply_that_is_not_whole_is_asked_again(path, reason):
    client = Cached(Counting(WHOLE), path, "f")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("flagmm.models.cache.is_cacheable", lambda output: True)
        ask(Cached(Counting(replace(WHOLE, finish_reason=reason)), path, "f"))
        assert ask(Cached(Counting(), path, "f")).finish_reason == reason
    assert ask(client).finish_reason == "stop"
    assert client.inner.calls == 1


@pytest.mark.parametrize(
    "row",
    ["no JSON", "[1]", "5", '{"text": 5, "usage": null}', '{"text": "B", "usage": {"total_tokens": "x"}}', b"\xff"],
)
def test_a_row_that_another_program_spoilt_is_asked_again_and_mended(path, row):
    inner = Counting(WHOLE, WHOLE)
    ask(Cached(inner, path, "f"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE replies SET reply = ?", (row,))
    connection.close()
    assert ask(Cached(inner, path, "f")) == WHOLE
    assert ask(Cached(inner, path, "f")).cached
    assert inner.calls == 2


@pytest.mark.parametrize("name", ["replies.sqlite", "replies.sqlite-wal", "replies.sqlite-journal"])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "folder", "pipe"])
def test_what_is_no_plain_file_is_neither_followed_nor_waited_for(path, tmp_path, caplog, kind, name):
    place, outside = path.with_name(name), tmp_path / "outside"
    place.parent.mkdir()
    if kind == "link":
        outside.touch()
    make = {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place)}.get(kind, lambda: place.symlink_to(outside))
    make()
    assert ask(Cached(Counting(WHOLE), path, "f")) == WHOLE
    assert "replies are neither kept nor looked up" in caplog.text
    assert not outside.exists() or outside.stat().st_size == 0
