"""A model as a judge: many prompts asked a few at a time, replies kept beside the predictions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from flagmm.config.dump import to_plain
from flagmm.config.model import ModelSpec
from flagmm.config.redaction import LEAST_IN_REPLIES, Redactor
from flagmm.config.secrets import mask_url
from flagmm.errors import JudgeError, ModelError
from flagmm.evaluator.judge_settings import Accepts
from flagmm.inference.bounded import run_bounded
from flagmm.inference.hopeless import HopelessGuard
from flagmm.inference.interrupt import NotStarted
from flagmm.inference.lent_judge import LentJudge, masked, remembering
from flagmm.inference.session import ModelSession, ask_model
from flagmm.models.build import build_client
from flagmm.models.client import ChecksEndpoint, ModelClient
from flagmm.types import CallSettings, Message, ModelOutput, TextPart

logger = logging.getLogger(__name__)

_ALIVE_PER_WORKER = 4


class JudgeModel:
    """Asks a judge. Replies are remembered in `cache`, so that scoring again asks nothing twice.

    Args:
        fixed: settings that the person who runs the judge named, against which scoring code cannot ask for others.

    Raises:
        ConfigError: no client can be made of the settings.
    """

    def __init__(self, spec: ModelSpec, cache: Path, *, fixed: frozenset[str] = frozenset()) -> None:
        build_client(spec)  # a wrong URL is told now, not after the model under test has been paid for
        self.name = spec.shown_name
        self._spec, self._cache, self._fixed = spec, cache, fixed
        self._endpoint = f"judge {mask_url(spec.url) if spec.url else spec.model_name}"

    @property
    def settings(self) -> dict[str, Any]:
        """What decides its replies, secrets left out; what was not given is left out, too."""
        given = {key: value for key, value in self._spec.answer_settings().items() if value not in (None, {}, [])}
        plain: dict[str, Any] = to_plain(given)
        return plain

    def check_usable(self) -> None:
        """See that somebody listens who takes the key, before the model under test is paid for; nothing is asked.

        Raises:
            JudgeError: nobody does.
        """
        try:
            asyncio.run(_check(build_client(self._spec)))
        except ModelError as error:
            advice = "check api_key" if error.kind == "auth" else "check url, and that the server runs"
            raise JudgeError(f"{self._endpoint} does not answer: {error}; {advice}") from None

    def ask(self, prompts: Mapping[str, Accepts]) -> dict[str, ModelOutput | ModelError]:
        """What came of each prompt; a reply that cannot be read is not remembered, and not taken from memory.

        Raises:
            JudgeError: the judge cannot be used at all.
            KeyboardInterrupt: the run was interrupted; replies that were there are kept.
        """
        with ModelSession(replace(self._spec, use_cache=False)) as session:
            client = remembering(
                session.client,
                self._spec,
                self._cache,
                accepts=lambda messages, output: prompts[messages[0].text](output),
            )
            asking = _Asking(session, client, self._endpoint)
            session.run(lambda: session.stop.heeded(asking.run(list(prompts))))
            if session.stop.requested:
                raise KeyboardInterrupt
        return asking.outcomes

    def lend(self, *, hears_interrupts: bool = True) -> LentJudge:
        """The judge for a task's own scoring code, to be used in a `with`; see there."""
        return LentJudge(
            self._spec,
            fixed=self._fixed,
            cache=self._cache,
            endpoint=self._endpoint,
            hears_interrupts=hears_interrupts,
        )


async def _check(client: ModelClient) -> None:
    """What a client of an endpoint can tell of it without asking the model; clients of other kinds tell nothing."""
    if not isinstance(client, ChecksEndpoint):
        return
    await client.check_reachable()
    async with client:
        await client.check_key()


class _Asking:
    """One batch of prompts; `outcomes` are what came of them."""

    def __init__(self, session: ModelSession, client: ModelClient, endpoint: str) -> None:
        self.outcomes: dict[str, ModelOutput | ModelError] = {}
        self._session, self._client, self._endpoint = session, client, endpoint
        self._of_errors = Redactor(session.spec.secrets())
        self._of_replies = Redactor(session.spec.secrets(), least=LEAST_IN_REPLIES)

    async def run(self, prompts: Sequence[str]) -> None:
        workers = self._session.spec.num_workers
        guard = HopelessGuard(endpoint=self._endpoint, workers=workers, raises=JudgeError)
        jobs, limit = self._until_stopped(prompts), workers * _ALIVE_PER_WORKER
        async with aclosing(run_bounded(jobs, self._ask_one, limit=limit)) as outcomes:
            async for prompt, outcome in outcomes:
                if outcome is not None:
                    self.outcomes[prompt] = outcome
                    guard.observe_call(outcome if isinstance(outcome, ModelError) else None)
        guard.close()

    def _until_stopped(self, prompts: Sequence[str]) -> Iterator[tuple[int, str]]:
        for number, prompt in enumerate(prompts):
            if self._session.stop.requested:
                return
            yield number, prompt

    async def _ask_one(self, job: tuple[int, str]) -> tuple[str, ModelOutput | ModelError | None]:
        number, prompt = job
        message = Message(role="user", content=(TextPart(text=prompt),))
        try:
            output = await ask_model(self._client, [message], CallSettings(question_id=str(number)))
        except NotStarted:
            return prompt, None
        except ModelError as error:
            error.args = (self._of_errors(str(error)),)
            logger.debug("%s: %s", self._endpoint, error)
            return prompt, error
        return prompt, masked(output, self._of_replies)  # also one that was kept before it was masked
