"""One model for all tasks of a run: one event loop, one HTTP session, opened when first asked and closed at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from flagmm.config.dump import fingerprint
from flagmm.config.model import ModelSpec
from flagmm.config.secrets import mask_url
from flagmm.errors import FlagMMError, ModelError, UserCodeError
from flagmm.inference.hopeless import HopelessGuard
from flagmm.inference.interrupt import Gate, NotStarted, Stop
from flagmm.memory import give_back
from flagmm.models.build import build_client
from flagmm.models.cache import Cached
from flagmm.models.client import ModelClient, TellsIdentity
from flagmm.models.fetching import with_media
from flagmm.models.stack import build_stack
from flagmm.plugin import describe, user_code
from flagmm.process import room_for_calls
from flagmm.types import CallSettings, Message, ModelOutput

logger = logging.getLogger(__name__)


def within_open_files(spec: ModelSpec) -> ModelSpec:
    """The settings with no more workers than this process can open connections."""
    workers = room_for_calls(spec.num_workers)
    if workers == spec.num_workers:
        return spec
    text = "%s: num_workers %d is more than the limit of open files allows (ulimit -n); %d calls are made at once"
    logger.warning(text, spec.shown_name, spec.num_workers, workers)
    return replace(spec, num_workers=workers)


class ModelSession:
    """The model under test. Use it in a `with`; plain code calls `run` with what is to be awaited.

    Attributes:
        model: the bare client, which may word the questions of a data set itself.
        client: what is asked: the model with cache, retries and limit around it.
        guard: watches the calls of all tasks, as an endpoint may stop answering from one task to the next.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec = within_open_files(spec)
        self.stop = Stop()
        self.fingerprint = fingerprint(spec)
        self.model = build_client(spec)
        self.client: ModelClient = build_stack(Gate(with_media(self.model, spec), self.stop), spec)
        endpoint = mask_url(spec.url) if spec.url else spec.model_name
        self.guard = HopelessGuard(endpoint=endpoint, workers=spec.num_workers)
        self._is_identified = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> ModelSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is None:
            return
        try:
            self._close(self._loop, kind, error, trace)
            self._loop.run_until_complete(_drop_tasks())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
            self._loop = None

    def _close(
        self,
        loop: asyncio.AbstractEventLoop,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the client; where that fails, everything is answered already and the results must not be lost."""
        try:
            with user_code(f"model_type {self.spec.model_type}: closing"):
                loop.run_until_complete(self.client.__aexit__(kind, error, trace))
        except UserCodeError as failure:
            logger.warning("%s", failure)

    def identify(self) -> None:
        """Learn which model the endpoint serves, once for all tasks, where it tells; nothing is asked of the model."""
        model = self.model
        if self._is_identified or not isinstance(model, TellsIdentity):
            return
        self._is_identified = True
        self.run(lambda: self.stop.heeded(self._learn_identity(model)))

    async def _learn_identity(self, model: TellsIdentity) -> None:
        self.spec = replace(self.spec, identity=await model.model_identity())
        self.fingerprint = fingerprint(self.spec)
        if isinstance(self.client, Cached):
            self.client.fingerprint = self.fingerprint

    def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work` to its end, signals heeded meanwhile."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            with user_code(f"model_type {self.spec.model_type}: opening"):
                self._loop.run_until_complete(self.client.__aenter__())
        with self.stop.listening(self._loop):
            self._loop.run_until_complete(work())
        give_back()  # the room of the media, which scoring needs for answers


async def _drop_tasks() -> None:
    """End what an exception left alive in the loop."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def ask_model(client: ModelClient, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
    """One call; whatever a person's own model class raises is a `ModelError`."""
    try:
        return await client.generate(messages, settings)
    except (FlagMMError, NotStarted, GeneratorExit, asyncio.CancelledError):
        raise
    except BaseException as error:  # the boundary around code of a person's own
        logger.debug("the model's code raised", exc_info=True)
        raise ModelError(describe(error), kind="model") from error
