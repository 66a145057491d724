"""BaseAPI: a model behind a service, of which `generate_inner` makes one call."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flagmm.errors import ModelError
from flagmm.vlmeval.messages import MessageList, MessageModel

__all__ = ["BaseAPI"]

logger = logging.getLogger(__name__)

Reply = tuple[int, str | None, Any]
"""Return code (0 is success), answer, and what a log may say of it."""


class BaseAPI(MessageModel):
    """Write `generate_inner`; with `is_api = True` the class says that several threads may call it at once.

    Args:
        retry: calls at most.
        wait: seconds between two, about.
        system_prompt: for `generate_inner` to use.
        verbose: for `generate_inner` to use.
        fail_msg: what marks an answer as a failed call.
        kwargs: keywords of every `generate_inner`.
    """

    def __init__(
        self,
        retry: int = 10,
        wait: float = 1,
        system_prompt: str | None = None,
        verbose: bool = True,
        fail_msg: str = "Failed to obtain answer via API.",
        **kwargs: Any,
    ) -> None:
        self.retry = retry
        self.wait = wait
        self.system_prompt = system_prompt
        self.verbose = verbose
        self.fail_msg = fail_msg
        self.default_kwargs = kwargs

    def generate_inner(self, inputs: MessageList, **kwargs: Any) -> Reply:
        """One call for one message."""
        raise NotImplementedError(f"{type(self).__name__}: write generate_inner")

    def generate(self, message: Any, **kwargs: Any) -> str:
        """The reply to a message in any form that `message_list` takes.

        Raises:
            ModelError: no call was successful; VLMEvalKit's class returns `fail_msg` instead.
        """
        inputs = self._checked(message)
        return self._called(lambda: self.generate_inner(inputs, **self.default_kwargs, **kwargs))

    def chat_inner(self, inputs: list[dict[str, Any]], **kwargs: Any) -> Reply:
        """One call for a conversation."""
        return self.generate_inner(inputs, **kwargs)

    def chat(self, messages: Sequence[Mapping[str, Any]], **kwargs: Any) -> str:
        """The reply to a conversation; raises as `generate`."""
        inputs = self._checked_turns(messages)
        return self._called(lambda: self.chat_inner(inputs, **self.default_kwargs, **kwargs))

    def _called(self, call: Callable[[], Reply]) -> str:
        failure = ""
        for attempt in range(max(1, self.retry)):
            if attempt:
                time.sleep(random.uniform(0, 2 * self.wait))
            try:
                code, answer, log = call()
            except Exception as error:  # the boundary around a person's own call, which may be tried again
                logger.debug("the model's code raised", exc_info=True)
                failure = f"{type(error).__name__}: {error}"
                continue
            if code == 0 and answer and self.fail_msg.strip() not in answer:
                return answer
            failure = f"return code {code}: {log or answer or 'no answer'}"
        raise ModelError(f"{self.fail_msg.strip()} {failure}", kind="model")
