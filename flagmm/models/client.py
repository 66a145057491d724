"""What every model is to the rest of flagmm: an async `generate`, inside an `async with`."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from flagmm.types import CallSettings, Message, ModelOutput


class ModelClient(Protocol):
    """A model under test, a judge, or a wrapper around one (cache, retry, rate limit)."""

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        """Answer one conversation.

        Raises:
            ModelError: the call failed; its `kind` and `retryable` say how.
        """
        ...

    async def __aenter__(self) -> ModelClient: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class BaseClient:
    """The parts of a client that need nothing: entering and leaving."""

    async def __aenter__(self) -> ModelClient:
        return self  # type: ignore[return-value]  # subclasses add generate()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Wrapper:
    """A client around a client: entering and leaving reach the inner one."""

    def __init__(self, inner: ModelClient) -> None:
        self.inner = inner

    async def __aenter__(self) -> ModelClient:
        await self.inner.__aenter__()
        return self  # type: ignore[return-value]  # subclasses add generate()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.inner.__aexit__(kind, error, trace)
