"""What stands around a model: Cached(Retrying(Limited(client))), each with the interface of a client."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from flagmm.config.dump import fingerprint
from flagmm.config.env import replies_cache_file
from flagmm.config.model import ModelSpec
from flagmm.config.redaction import LEAST_IN_REPLIES, Redactor
from flagmm.config.secrets import mask_urls
from flagmm.errors import ModelError
from flagmm.models.cache import Cached
from flagmm.models.client import Call, ModelClient, Wrapper, prepare, settled
from flagmm.types import CallSettings, Message, ModelOutput

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_UNREACHED_RETRIES = 2
_READY_SHARE = 4
"""For so many places one call more is made ready, so that a place that falls free is not waiting for a picture."""


def build_stack(client: ModelClient, spec: ModelSpec) -> ModelClient:
    """The client with everything its settings ask for around it."""
    stack: ModelClient = Limited(Hiding(client, spec.secrets()), spec.num_workers)
    stack = Retrying(stack, retries=spec.retries, total_seconds=spec.timeout * (spec.retries + 1))
    return Cached(stack, replies_cache_file(), fingerprint(spec)) if spec.use_cache else stack


class Hiding(Wrapper):
    """Takes a model's own secrets out of what comes back, be it a reply that repeats one, or an error.

    Stands inside the cache, so that none is kept there either.
    """

    def __init__(self, inner: ModelClient, secrets: Sequence[str]) -> None:
        super().__init__(inner)
        self._of_errors = Redactor(secrets)
        self._of_replies = Redactor(secrets, least=LEAST_IN_REPLIES)

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        with self._hidden_errors():
            return self._hidden(await self.inner.generate(messages, settings))

    async def prepare(self, messages: Sequence[Message], settings: CallSettings) -> Call:
        with self._hidden_errors():
            call = await prepare(self.inner, messages, settings)

        async def send() -> ModelOutput:
            with self._hidden_errors():
                return self._hidden(await call())

        return send

    @contextmanager
    def _hidden_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever it is, it goes on as it is but for its texts
            texts = (mask_urls(self._of_errors(each)) if isinstance(each, str) else each for each in error.args)
            error.args = tuple(texts)
            raise

    def _hidden(self, output: ModelOutput) -> ModelOutput:
        text, reason = self._of_replies(output.text), self._of_replies(output.reason)
        ended = output.finish_reason and self._of_replies(output.finish_reason)
        if (text, reason, ended) == (output.text, output.reason, output.finish_reason):
            return output
        return replace(output, text=text, reason=reason, finish_reason=ended)


class Limited(Wrapper):
    """At most `limit` calls at once. Stands inside Retrying: a call that waits to be tried again holds no place."""

    def __init__(self, inner: ModelClient, limit: int) -> None:
        super().__init__(inner)
        self._places = asyncio.Semaphore(limit)
        self._alive = asyncio.Semaphore(limit + limit // _READY_SHARE + 4)

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        async with self._alive:
            call = await prepare(self.inner, messages, settings)
            async with self._places:
                started = time.monotonic()
                output = settled(await call())
                return replace(output, latency=round(time.monotonic() - started, 4))


class Retrying(Wrapper):
    """Tries a call again where its error may pass: bounded in attempts and in total time, with jitter.

    An endpoint that no call has reached yet is given up after two more tries: it is not there.
    """

    def __init__(
        self,
        inner: ModelClient,
        *,
        retries: int,
        total_seconds: float,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(inner)
        self._retries = retries
        self._total_seconds = total_seconds
        self._sleep = sleep
        self._reached = False

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        started = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                output = await self.inner.generate(messages, settings)
            except ModelError as error:
                error.attempts = attempt
                wait = self._wait(error, attempt)
                if wait is None or time.monotonic() - started + wait > self._total_seconds:
                    raise
                await self._sleep(wait)
            else:
                self._reached = True
                return replace(output, attempts=attempt)

    def _wait(self, error: ModelError, attempt: int) -> float | None:
        """Seconds until the next try, or None for no further one."""
        if error.kind != "connection":
            self._reached = True
        allowed = self._retries if self._reached else min(self._retries, _UNREACHED_RETRIES)
        if not error.retryable or attempt > allowed:
            return None
        if error.retry_after is not None:
            return error.retry_after * random.uniform(1.0, 1.1)
        longest: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)
