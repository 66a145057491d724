"""Ask the questions of one task and keep the answers."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from dataclasses import replace

from flagmm.chat_tokens import is_blank
from flagmm.config.redaction import redact_error
from flagmm.errors import DataError, EndpointError, ModelError
from flagmm.inference.bounded import run_bounded
from flagmm.inference.hopeless import HopelessGuard
from flagmm.inference.interrupt import GRACE_SECONDS, NotStarted
from flagmm.inference.plan import Call, Plan, identified, media_identities
from flagmm.inference.progress import Progress
from flagmm.inference.session import ModelSession, ask_model
from flagmm.inference.store import PredictionStore
from flagmm.models.request import request_hash
from flagmm.types import CallSettings, ItemError, ModelOutput, Prediction, Sample, Status, TextPart

logger = logging.getLogger(__name__)

_IDENTIFIED_AT_ONCE = 4
"""Questions whose media are read at once to know them; more would hold up the threads that make calls ready."""
_TURNED_DOWN_AT_ONCE = {"auth", "not_found", "bad_request"}
"""Kinds of errors that come at once and are not tried again, while other calls may be answered still."""
ALIVE_PER_WORKER = 4
"""Questions alive at once for each call under way: those beyond wait for a retry, and hold no media."""


class Inference:
    """The asking of one task's plan."""

    def __init__(self, plan: Plan, store: PredictionStore, session: ModelSession, *, progress: Progress) -> None:
        self._plan = plan
        self._store = store
        self._session = session
        self._workers = session.spec.num_workers
        self._progress = progress
        self._errors: Counter[str] = Counter()
        self._identifying = asyncio.Semaphore(_IDENTIFIED_AT_ONCE)
        self._name = ""

    async def run(self, name: str) -> None:
        """Ask whatever the plan wants.

        Raises:
            EndpointError: the endpoint cannot answer; what it did answer is kept.
        """
        self._name = name
        guard = self._session.guard
        guard.start_task(patient=self._plan.is_patient)
        self._progress.start(name, self._plan.total_calls, done=self._plan.total_calls - len(self._plan.open_calls))
        try:
            await self._session.stop.heeded(self._ask_each(guard))
            guard.close()
        finally:
            self._session.stop.is_closed = False
            self._progress.finish()
            self._log_errors(name)

    async def _ask_each(self, guard: HopelessGuard) -> None:
        limit = self._workers * ALIVE_PER_WORKER
        async with aclosing(run_bounded(self._calls(), self._ask, limit=limit)) as predictions:
            async for prediction in predictions:
                if prediction is None:
                    continue
                self._keep(prediction)
                try:
                    guard.observe(prediction)
                except EndpointError:
                    if prediction.error is not None and prediction.error.kind in _TURNED_DOWN_AT_ONCE:
                        await self._wait_for_the_rest(predictions)
                    raise

    def _keep(self, prediction: Prediction) -> None:
        self._store.append(prediction)
        self._progress.advance(prediction)
        if prediction.error is not None:
            self._errors[f"{prediction.error.kind}: {prediction.error.message}"] += 1

    async def _wait_for_the_rest(self, predictions: AsyncGenerator[Prediction | None, None]) -> None:
        """Keep what calls under way are answered: an endpoint that turns new ones down has taken these, and is paid."""
        self._session.stop.is_closed = True
        end = asyncio.get_running_loop().time() + GRACE_SECONDS
        with suppress(asyncio.TimeoutError, StopAsyncIteration):
            while True:
                left = end - asyncio.get_running_loop().time()
                prediction = await asyncio.wait_for(anext(predictions), left)
                if prediction is not None:
                    self._keep(prediction)

    def _calls(self) -> Iterator[Call]:
        try:
            for call in self._plan.calls():
                if self._session.stop.requested or self._session.stop.is_closed:
                    return
                yield call
        except KeyboardInterrupt:  # raised by a task's own code: signals reach the event loop instead
            self._session.stop.request_once()

    async def _ask(self, call: Call) -> Prediction | None:
        """The outcome of one call, whatever it is; None where the run stopped before it was made."""
        sample = call.sample
        if sample is None:
            return _failed(call, "data", str(call.error))
        try:
            sample = await self._identify(sample, call)
        except DataError as error:
            return _failed(call, "media", str(error))
        request = request_hash(self._plan.fingerprint, sample.messages, call.inference)
        try:
            output = await ask_model(self._session.client, sample.messages, self._settings(sample, call))
        except NotStarted:
            return None
        except ModelError as error:
            return _unanswered(call, sample, request, error)
        return _answered(call, sample, request, output)

    async def _identify(self, sample: Sample, call: Call) -> Sample:
        if all(isinstance(part, TextPart) for message in sample.messages for part in message.content):
            return sample
        async with self._identifying:
            messages = await asyncio.to_thread(identified, sample.messages, call.known)
        return replace(sample, messages=messages)

    def _settings(self, sample: Sample, call: Call) -> CallSettings:
        return CallSettings(
            question_id=sample.question_id,
            repeat=call.inference,
            question_type=sample.question_type,
            options=sample.options,
            task=self._name,
        )

    def _log_errors(self, name: str) -> None:
        for message, count in self._errors.most_common(10):
            logger.warning("%s: ×%d %s", name, count, message)


def _answered(call: Call, sample: Sample, request: str, output: ModelOutput) -> Prediction:
    status: Status = "refused" if output.refused else "empty" if is_blank(output.text) else "ok"
    return Prediction(
        question_id=call.question_id,
        question=sample.question,
        answer=output.text,
        status=status,
        reason=output.reason,
        usage=output.usage,
        finish_reason=output.finish_reason,
        attempts=output.attempts,
        latency=output.latency,
        request=request,
        inference=call.inference,
        media=media_identities(sample.messages),
    )


def _unanswered(call: Call, sample: Sample, request: str, error: ModelError) -> Prediction:
    return Prediction(
        question_id=call.question_id,
        question=sample.question,
        answer="",
        status="refused" if error.kind == "refused" else "failed",
        error=ItemError(kind=error.kind, message=str(error), status=error.status),
        attempts=error.attempts,
        request=request,
        inference=call.inference,
        media=media_identities(sample.messages),
    )


def _failed(call: Call, kind: str, message: str) -> Prediction:
    return Prediction(
        question_id=call.question_id,
        question=call.sample.question if call.sample else "",
        answer="",
        status="failed",
        error=ItemError(kind=kind, message=redact_error(message)),
        attempts=0,
        inference=call.inference,
    )
