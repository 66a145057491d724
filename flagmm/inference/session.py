"""One model for all tasks of a run: one event loop, one HTTP session, opened when first asked and closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any

from flagmm.config.dump import fingerprint
from flagmm.config.model import ModelSpec
from flagmm.inference.interrupt import Gate, Stop
from flagmm.models.build import build_client
from flagmm.models.client import ModelClient
from flagmm.models.stack import build_stack


class ModelSession:
    """The model under test. Use it in a `with`; plain code calls `run` with what is to be awaited."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.stop = Stop()
        self.fingerprint = fingerprint(spec)
        self.client: ModelClient = build_stack(Gate(build_client(spec), self.stop), spec)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> ModelSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is None:
            return
        try:
            self._loop.run_until_complete(self.client.__aexit__(kind, error, trace))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
            self._loop = None

    def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work` to its end, signals heeded meanwhile."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.run_until_complete(self.client.__aenter__())
        with self.stop.listening(self._loop):
            self._loop.run_until_complete(work())
