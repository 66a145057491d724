"""Retries and the limit around a client."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest

from flagmm.config.model import ModelSpec
from flagmm.errors import ModelError
from flagmm.inference.interrupt import Gate, Stop
from flagmm.models.cache import Cached
from flagmm.models.client import BaseClient
from flagmm.models.fetching import with_media
from flagmm.models.stack import Hiding, Limited, Retrying, build_stack
from flagmm.types import CallSettings, ModelOutput

SETTINGS = CallSettings(question_id="1")


class Fake(BaseClient):
    """Gives its replies in turn, the last one for ever; counts calls, entries and leavings."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.calls = self.entered = self.left = 0

    async def __aenter__(self):
        self.entered += 1
        return self

    async def __aexit__(self, kind, error, trace):
        self.left += 1

    async def generate(self, messages, settings):
        reply = self.replies[min(self.calls, len(self.replies) - 1)]
        self.calls += 1
        if isinstance(reply, Exception):
            raise reply
        return reply


class Waits(list):
    """Stands in for asyncio.sleep and notes the seconds."""

    async def __call__(self, seconds):
        self.append(seconds)


def error(kind="server", *, retryable=True, retry_after=None):
    return ModelError(kind, kind=kind, retryable=retryable, retry_after=retry_after)


ANSWER = ModelOutput(text="A")


def retrying(*replies, retries=5, total_seconds=1e9):
    inner, waits = Fake(*replies), Waits()
    return Retrying(inner, retries=retries, total_seconds=total_seconds, sleep=waits), inner, waits


def ask(client):
    return asyncio.run(client.generate([], SETTINGS))


def test_a_call_that_fails_in_passing_is_made_again():
    client, inner, waits = retrying(error(), error("rate_limit"), ANSWER)
    assert ask(client) == ModelOutput(text="A", attempts=3)
    assert (inner.calls, len(waits)) == (3, 2)


def test_a_call_that_works_at_once_waits_for_nothing():
    client, _, waits = retrying(ANSWER)
    assert ask(client).attempts == 1
    assert waits == []


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_attempts_are_bounded(retries):
    client, inner, _ = retrying(error(), retries=retries)
    with pytest.raises(ModelError) as caught:
        ask(client)
    assert inner.calls == caught.value.attempts == retries + 1


def test_an_error_that_cannot_pass_is_not_tried_again():
    client, inner, waits = retrying(error("auth", retryable=False))
    with pytest.raises(ModelError) as caught:
        ask(client)
    assert (inner.calls, caught.value.attempts, waits) == (1, 1, [])


def test_waits_double_with_jitter_up_to_a_minute():
    client, _, waits = retrying(error(), retries=10)
    with pytest.raises(ModelError):
        ask(client)
    longest = [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert len(waits) == len(longest)
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(waits, longest, strict=True))
    again, _, other_waits = retrying(error(), retries=10)
    with pytest.raises(ModelError):
        ask(again)
    assert waits != other_waits, "no jitter: all workers would come back at once"


def test_the_endpoint_s_own_wait_goes_before_ours():
    client, _, waits = retrying(error(retry_after=7), error(retry_after=0), ANSWER)
    ask(client)
    assert 7 <= waits[0] <= 7.7
    assert waits[1] == 0


@pytest.mark.parametrize(("retry_after", "calls"), [(90, 2), (101, 1), (float("inf"), 1)])
def test_a_wait_beyond_the_total_time_is_not_begun(retry_after, calls):
    client, inner, _ = retrying(error(retry_after=retry_after), ANSWER, total_seconds=100)
    with nullcontext() if calls == 2 else pytest.raises(ModelError):
        ask(client)
    assert inner.calls == calls


def test_an_endpoint_that_was_never_reached_is_given_up_after_two_more_tries():
    client, inner, _ = retrying(error("connection"))
    with pytest.raises(ModelError):
        ask(client)
    assert inner.calls == 3


@pytest.mark.parametrize("sign_of_life", [ANSWER, error("auth", retryable=False), error("server", retryable=False)])
def test_an_endpoint_that_was_reached_once_gets_all_retries(sign_of_life):
    client, inner, _ = retrying(sign_of_life, error("connection"))

    async def run():
        results = []
        for _ in range(2):
            try:
                results.append(await client.generate([], SETTINGS))
            except ModelError as caught:
                results.append(caught)
        return results

    assert asyncio.run(run())[1].attempts == 6
    assert inner.calls == 7


def test_what_is_no_failed_call_passes_through():
    client, inner, _ = retrying(KeyError("x"))
    with pytest.raises(KeyError):
        ask(client)
    assert inner.calls == 1


class Slow(BaseClient):
    """Counts the calls that are under way at once."""

    def __init__(self):
        self.now = self.most = 0

    async def generate(self, messages, settings):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return ANSWER


def test_no_more_calls_than_allowed_are_under_way_and_latency_leaves_out_the_waiting():
    inner = Slow()

    async def run():
        client = Limited(inner, 2)
        return await asyncio.gather(*(client.generate([], SETTINGS) for _ in range(6)))

    outputs = asyncio.run(run())
    assert inner.most == 2
    assert all(0.009 < output.latency < 0.025 for output in outputs[:2])
    assert sum(output.latency for output in outputs) < 0.25


def test_a_call_that_waits_to_be_tried_again_holds_no_place():
    async def run():
        other_done = asyncio.Event()
        stack = Retrying(
            Limited(Fake(error(), ANSWER), 1), retries=1, total_seconds=1e9, sleep=lambda _: other_done.wait()
        )
        waiting = asyncio.ensure_future(stack.generate([], SETTINGS))
        await asyncio.sleep(0)
        await asyncio.wait_for(stack.generate([], SETTINGS), timeout=5)
        other_done.set()
        return (await waiting).attempts

    assert asyncio.run(run()) == 2


def test_entering_and_leaving_reach_the_client_through_all_wrappers():
    async def run(client):
        async with client:
            return await client.generate([], SETTINGS)

    inner = Fake(ANSWER)
    assert asyncio.run(run(build_stack(inner, ModelSpec(model_name="m")))).text == "A"
    assert (inner.entered, inner.left) == (1, 1)


@pytest.mark.parametrize("use_cache", [False, True])
def test_the_stack_is_cache_around_retries_around_the_limit(tmp_path, monkeypatch, use_cache):
    monkeypatch.setenv("FLAGEVALMM_CACHE", str(tmp_path))
    inner = Fake(ANSWER)
    stack = build_stack(inner, ModelSpec(model_name="m", use_cache=use_cache))
    kinds = []
    while stack is not inner:
        kinds.append(type(stack))
        stack = stack.inner
    assert kinds == [Cached, Retrying, Limited, Hiding][0 if use_cache else 1 :]


def test_the_total_time_follows_from_timeout_and_retries():
    inner = Fake(error(retry_after=21), ANSWER)
    with pytest.raises(ModelError):
        ask(build_stack(inner, ModelSpec(model_name="m", timeout=10, retries=1)))
    assert inner.calls == 1


class Preparing(Fake):
    """Notes when a call is made ready, and when it is made."""

    needs_sounds_as_data = True  # so that the wrapper that fetches stands in between, as for a real endpoint

    def __init__(self):
        super().__init__()
        self.ready, self.made, self.go_on = 0, 0, asyncio.Event()

    async def prepare(self, messages, settings):
        self.ready += 1

        async def call():
            self.made += 1
            await self.go_on.wait()
            return ANSWER

        return call


def test_calls_are_made_ready_while_all_places_are_taken_but_not_without_end():
    async def run():
        client = Preparing()
        stack = Gate(with_media(client, ModelSpec(model_name="m")), Stop())
        limited = Limited(stack, 4)
        calls = [asyncio.ensure_future(limited.generate([], SETTINGS)) for _ in range(40)]
        await asyncio.sleep(0.01)
        seen = client.made, client.ready
        client.go_on.set()
        await asyncio.gather(*calls)
        return seen, (client.made, client.ready)

    assert asyncio.run(run()) == ((4, 9), (40, 40))
