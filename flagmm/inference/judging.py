"""A model as a judge: many prompts asked a few at a time, replies kept beside the predictions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path

from flagmm.config.model import ModelSpec
from flagmm.config.secrets import mask_url
from flagmm.errors import EndpointError, ModelError
from flagmm.inference.bounded import run_bounded
from flagmm.inference.hopeless import HopelessGuard
from flagmm.inference.interrupt import NotStarted
from flagmm.inference.session import ModelSession
from flagmm.models.cache import Cached
from flagmm.types import CallSettings, ItemError, Message, ModelOutput, Prediction, TextPart

logger = logging.getLogger(__name__)

_ALIVE_PER_WORKER = 4


class JudgeModel:
    """Asks a judge. Replies are remembered in `cache`, so that scoring again asks nothing twice."""

    def __init__(self, spec: ModelSpec, cache: Path) -> None:
        self.name = spec.shown_name
        self._session = ModelSession(spec)
        self._client = Cached(self._session.client, cache, self._session.fingerprint)
        self._endpoint = f"judge {mask_url(spec.url) if spec.url else spec.model_name}"
        self._replies: dict[int, ModelOutput | None] = {}

    def ask(self, prompts: Sequence[str]) -> list[ModelOutput | None]:
        """The replies in the order of the prompts; None for one that failed.

        Raises:
            EndpointError: the judge cannot be reached, or the run was interrupted.
        """
        self._replies = {}
        if prompts:
            with self._session:
                self._session.run(lambda: self._ask_all(prompts))
        if self._session.stop.requested:
            raise EndpointError("interrupted while judging; nothing was written")
        return [self._replies.get(number) for number in range(len(prompts))]

    async def _ask_all(self, prompts: Sequence[str]) -> None:
        workers = self._session.spec.num_workers
        guard = HopelessGuard(endpoint=self._endpoint, workers=workers)
        limit = workers * _ALIVE_PER_WORKER
        async with aclosing(run_bounded(self._numbered(prompts), self._ask_one, limit=limit)) as outcomes:
            async for number, reply, error in outcomes:
                self._replies[number] = reply
                if reply is not None or error is not None:
                    guard.observe(_as_prediction(reply, error))
        guard.close()

    def _numbered(self, prompts: Sequence[str]) -> Iterator[tuple[int, str]]:
        for number, prompt in enumerate(prompts):
            if self._session.stop.requested:
                return
            yield number, prompt

    async def _ask_one(self, job: tuple[int, str]) -> tuple[int, ModelOutput | None, ModelError | None]:
        number, prompt = job
        message = Message(role="user", content=(TextPart(text=prompt),))
        try:
            return number, await self._client.generate([message], CallSettings(question_id=str(number))), None
        except NotStarted:
            return number, None, None
        except ModelError as error:
            logger.debug("%s: %s", self._endpoint, error)
            return number, None, error


def _as_prediction(reply: ModelOutput | None, error: ModelError | None) -> Prediction:
    """An outcome in the form that the guard watches."""
    item_error = ItemError(kind=error.kind, message=str(error)) if error else None
    text = reply.text if reply else ""
    return Prediction(question_id="", question="", answer=text, status="failed" if error else "ok", error=item_error)
