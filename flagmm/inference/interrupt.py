"""The first Ctrl-C or SIGTERM lets nothing new start and keeps what is finished; the second stops at once.

In a process that is not the command's own the second drops the calls under way, and the third is a KeyboardInterrupt
wherever it may come.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from flagmm.errors import ModelError
from flagmm.inference.interruptible import hearing_interrupts
from flagmm.models.client import Call, ModelClient, Wrapper, prepare
from flagmm.process import is_own_process
from flagmm.types import CallSettings, Message, ModelOutput

logger = logging.getLogger(__name__)

INTERRUPTED = 130
GRACE_SECONDS = 10.0
"""How long calls that are under way may go on after the first signal."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class NotStarted(Exception):  # noqa: N818  # not an error: the call was not made
    """A call that was not made because the run is stopping."""


class Stop:
    """Whether the run is stopping."""

    def __init__(self) -> None:
        self.requested = False
        self.is_closed = False
        """Whether no further call of the present task is made, as its endpoint turns them down."""
        self._is_urgent = False
        self._is_own_process = is_own_process()
        self._event: asyncio.Event | None = None
        self._at_once: asyncio.Event | None = None

    def request(self) -> None:
        """Called for each signal, in the event loop."""
        if self.requested:
            self._end_at_once()
            return
        self.requested = True
        logger.warning("stopping: waiting up to %g s for calls under way; once more to stop at once", GRACE_SECONDS)
        if self._event is not None:
            self._event.set()

    def _end_at_once(self) -> None:
        if self._is_own_process:
            os._exit(INTERRUPTED)  # threads may be busy for long; every finished answer is on disk already
        if self._is_urgent:
            raise KeyboardInterrupt
        self._is_urgent = True
        if self._at_once is not None:
            self._at_once.set()

    def request_once(self) -> None:
        """As the first signal, also where there was one already."""
        if not self.requested:
            self.request()

    async def grace_over(self) -> None:
        """Return some time after the stop was requested; never, if it is not."""
        self._event, self._at_once = asyncio.Event(), asyncio.Event()
        if self.requested:
            self._event.set()
        if self._is_urgent:
            self._at_once.set()
        await self._event.wait()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._at_once.wait(), GRACE_SECONDS)

    async def heeded(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work`, and cancel what is left of it some time after the stop was requested."""
        working = asyncio.ensure_future(work)
        grace = asyncio.ensure_future(self.grace_over())
        try:
            await asyncio.wait({working, grace}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (working, grace):
                task.cancel()
            await asyncio.gather(working, grace, return_exceptions=True)
        if not working.cancelled():
            working.result()

    @contextmanager
    def listening(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Let signals reach this object while the loop runs."""
        if threading.current_thread() is not threading.main_thread():
            with hearing_interrupts(lambda: loop.call_soon_threadsafe(self.request)):
                yield  # signals belong to the main thread, and so to whoever runs it
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        wakeup = signal.set_wakeup_fd(-1)  # of another event loop, which ours would turn off for good
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.request)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)  # which sets the system's own handler
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)


class Gate(Wrapper):
    """Lets no call through once the run is stopping."""

    def __init__(self, inner: ModelClient, stop: Stop) -> None:
        super().__init__(inner)
        self._stop = stop

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        return await self._through(partial(self.inner.generate, messages, settings))

    async def prepare(self, messages: Sequence[Message], settings: CallSettings) -> Call:
        if self._stop.requested or self._stop.is_closed:
            raise NotStarted
        return partial(self._through, await prepare(self.inner, messages, settings))

    async def _through(self, call: Call) -> ModelOutput:
        if self._stop.requested or self._stop.is_closed:
            raise NotStarted
        try:
            return await call()
        except KeyboardInterrupt:  # of a person's own model class: signals reach the event loop instead
            self._stop.request_once()
            raise NotStarted from None
        except asyncio.CancelledError as error:  # its own, or ours: whoever cancels a call drops what comes of it
            raise ModelError("the call was cancelled", kind="model") from error
