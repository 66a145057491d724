"""A judge lent to a task's own scoring code: plain calls from any thread, answered by an event loop in a thread."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, TimeoutError  # noqa: A004  # another class than Python 3.10's own
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm.config.dump import fingerprint
from flagmm.config.env import replies_cache_file
from flagmm.config.model import ModelSpec
from flagmm.config.redaction import LEAST_IN_REPLIES, Redactor
from flagmm.errors import ConfigError, EndpointError, FlagMMError, JudgeError, ModelError
from flagmm.evaluator.judge_settings import JudgeCall, about_call
from flagmm.inference.hopeless import HopelessGuard
from flagmm.inference.interruptible import ended_by_interrupts
from flagmm.inference.plan import identified
from flagmm.inference.session import ask_model, within_open_files
from flagmm.models.build import build_client
from flagmm.models.cache import Accepts, Cached, is_cacheable
from flagmm.models.client import ModelClient, Wrapper
from flagmm.models.gpt import GPT
from flagmm.models.request import request_hash
from flagmm.models.stack import build_stack
from flagmm.types import CallSettings, Message, ModelOutput, TextPart, Usage

_OF_A_SPEC = ("temperature", "top_p", "seed", "max_tokens")
_LOOK_EVERY = 1.0  # seconds, at which a waiting thread sees whether the judge is still there


class LentJudge(GPT):
    """Use it in a `with`, from the thread that runs the scoring code.

    Args:
        fixed: settings that the person who runs the judge named; the scoring code cannot change them.
        hears_interrupts: False where whoever holds it calls `end` when Ctrl-C comes.

    Attributes:
        asked: calls that the code made, those answered from the cache included.
        failed: calls of these without a reply.
        usages: token counts of the replies.
        calls: what came of each of them.
        asked_about: gives the id of the question that the code is at, where it does not say so itself.
    """

    def __init__(
        self, spec: ModelSpec, *, fixed: frozenset[str], cache: Path, endpoint: str, hears_interrupts: bool = True
    ) -> None:
        self.model_name, self.chat_name = spec.model_name, spec.shown_name
        self.asked = 0
        self.failed = 0
        self.usages: list[Usage | None] = []
        self.calls: list[JudgeCall] = []
        self.asked_about: Callable[[], str | None] = lambda: None
        self._last: dict[int, Callable[[], None]] = {}  # by thread, how to forget the reply that it got last
        self._of_errors = Redactor(spec.secrets())
        self._of_replies = Redactor(spec.secrets(), least=LEAST_IN_REPLIES)
        spec = within_open_files(spec)
        self._spec, self._fixed, self._cache, self._endpoint = spec, fixed, cache, endpoint
        self._guard = HopelessGuard(endpoint=endpoint, workers=spec.num_workers, raises=JudgeError)
        self._gone: EndpointError | None = None
        self._is_over = False
        self._pid = os.getpid()
        self._clients: dict[str, Cached] = {}
        self._seen: Counter[str] = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="judge")
        self._hears_interrupts = hears_interrupts
        self._heard = ExitStack()

    def __enter__(self) -> LentJudge:
        self._thread.start()
        self._ready.wait()
        if self._hears_interrupts:  # no call may hold up the end: threads that wait for one would be waited for
            self._heard.enter_context(ended_by_interrupts(self.end))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heard.close()
        self.end()
        self._thread.join()
        if kind is not None and issubclass(kind, Exception) and not issubclass(kind, FlagMMError):
            for forget in self._last.values():  # the code may have stumbled over it, and would do so for ever
                forget()
        if kind is None or issubclass(kind, Exception):  # the code may have caught what its calls raised
            if self._gone is not None:
                raise JudgeError(str(self._gone), of_task=self._gone.of_task) from error
            self._guard.close()

    def end(self) -> None:
        """Let every call under way fail, and any that follows."""
        if not self._is_over:
            self._is_over = True
            self._loop.call_soon_threadsafe(self._closing.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._making = asyncio.Lock()  # two calls with the same new settings must not make a client each
        self._places = asyncio.Semaphore(self._spec.num_workers)
        async with AsyncExitStack() as self._entered:
            self._ready.set()
            await self._closing.wait()
            calls = asyncio.all_tasks() - {asyncio.current_task()}
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    def _ask(
        self, messages: tuple[Message, ...], settings: Mapping[str, Any], *, question_id: str | None = None
    ) -> ModelOutput:
        question_id = self.asked_about() if question_id is None else question_id
        try:
            output = self._waited_for(messages, settings)
        except (ModelError, EndpointError) as error:
            attempts = error.attempts if isinstance(error, ModelError) else 0
            about = about_call(words=None, attempts=attempts, error=self._of_errors(str(error)))
            self.calls.append(JudgeCall(question_id, about))
            raise
        self.calls.append(JudgeCall(question_id, about_call(words=output.text, attempts=output.attempts, error=None)))
        return output

    def _waited_for(self, messages: tuple[Message, ...], settings: Mapping[str, Any]) -> ModelOutput:
        if os.getpid() != self._pid:
            raise JudgeError(f"{self._endpoint}: can be asked from threads, not from another process")
        if self._is_over:
            raise ModelError(f"{self._endpoint}: the scoring is over", kind="model")
        thread = threading.get_ident()
        call = asyncio.run_coroutine_threadsafe(self._call(messages, settings, thread), self._loop)
        while True:
            try:
                return call.result(timeout=_LOOK_EVERY)
            except CancelledError:
                raise ModelError(f"{self._endpoint}: interrupted", kind="model") from None
            except TimeoutError:
                if not self._thread.is_alive():
                    raise ModelError(f"{self._endpoint}: the scoring is over", kind="model") from None

    async def _call(self, messages: tuple[Message, ...], settings: Mapping[str, Any], thread: int) -> ModelOutput:
        if self._gone is not None:
            raise JudgeError(str(self._gone), of_task=self._gone.of_task)
        has_media = any(not isinstance(part, TextPart) for message in messages for part in message.content)
        identifiable = await asyncio.to_thread(identified, messages) if has_media else messages
        spec = with_settings(self._spec, settings, fixed=self._fixed)
        client = await self._client(spec)
        call = CallSettings(question_id="", repeat=self._repeat(spec, identifiable))
        self.asked += 1
        try:
            output = await ask_model(client, identifiable, call)
        except ModelError as error:
            self._observe(error)
            told = ModelError(f"{self._endpoint}: {error}", kind=error.kind, status=error.status)
            told.attempts = error.attempts
            raise told from error
        self._observe(None)
        self.usages.append(output.usage)
        if not output.text.strip():
            self.failed += 1
            raise ModelError(f"{self._endpoint}: the reply is empty", kind="bad_reply")
        self._last[thread] = partial(client.forget, identifiable, call)
        return masked(output, self._of_replies)

    def _observe(self, error: ModelError | None) -> None:
        self.failed += error is not None
        try:
            self._guard.observe_call(error)
        except EndpointError as hopeless:
            self._gone = hopeless
            raise

    async def _client(self, spec: ModelSpec) -> Cached:
        """The client for these settings; code has few, and each keeps its connections."""
        key = fingerprint(spec)
        async with self._making:
            if key not in self._clients:
                stack = build_stack(_Sharing(build_client(spec), self._places), replace(spec, use_cache=False))
                client = remembering(stack, spec, self._cache)
                await self._entered.enter_async_context(client)
                self._clients[key] = client
        return self._clients[key]

    def _repeat(self, spec: ModelSpec, messages: Sequence[Message]) -> int:
        """The number of a repetition: code that asks the same again wants another reply, unless there can be none."""
        if spec.temperature == 0:
            return 0
        key = request_hash(fingerprint(spec), messages, 0)
        self._seen[key] += 1
        return self._seen[key] - 1


def remembering(client: ModelClient, spec: ModelSpec, path: Path, *, accepts: Accepts | None = None) -> Cached:
    """A judge's client whose replies are kept beside the predictions, and with `use_cache` for all runs, too.

    Args:
        accepts: which replies are kept; by default all that are whole.
    """
    key, accepts = fingerprint(spec), accepts or (lambda _, output: is_cacheable(output))
    client = _Masking(client, spec.secrets())
    if spec.use_cache:
        client = Cached(client, replies_cache_file(), key, accepts=accepts)
    return Cached(client, path, key, accepts=accepts)


def masked(output: ModelOutput, hide: Redactor) -> ModelOutput:
    """A reply without the judge's key, should it say it back."""
    return replace(output, text=hide(output.text), reason=hide(output.reason))


class _Masking(Wrapper):
    """Lets no key into what is kept."""

    def __init__(self, inner: ModelClient, secrets: Sequence[str]) -> None:
        super().__init__(inner)
        self._hide = Redactor(secrets, least=LEAST_IN_REPLIES)

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        return masked(await self.inner.generate(messages, settings), self._hide)


class _Sharing(Wrapper):
    """Takes one of the places that all clients of a judge share."""

    def __init__(self, inner: ModelClient, places: asyncio.Semaphore) -> None:
        super().__init__(inner)
        self._places = places

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        async with self._places:
            return await self.inner.generate(messages, settings)


def with_settings(spec: ModelSpec, settings: Mapping[str, Any], *, fixed: frozenset[str]) -> ModelSpec:
    """The judge with what scoring code asks for, save what is `fixed`; None asks for nothing."""
    wanted = {name: value for name, value in settings.items() if value is not None and name not in fixed}
    known = {name: wanted.pop(name) for name in _OF_A_SPEC if name in wanted}
    if "messages" in wanted:
        raise ConfigError("messages: the conversation is the first argument; leave it out of the settings")
    json.dumps(wanted)  # what no request can hold is told to the code that gave it
    return replace(spec, **known, extra_body={**wanted, **spec.extra_body})
