"""What every model is to the rest of flagmm: an async `generate`, inside an `async with`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Protocol, runtime_checkable

from flagmm.errors import ModelError
from flagmm.finish_reasons import ending_of, read_finish_reason
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


@runtime_checkable
class ChecksEndpoint(ModelClient, Protocol):
    """A client that can tell whether its endpoint is of use, before it is asked anything."""

    async def check_reachable(self) -> None:
        """Connect; raises a `ModelError` where nobody listens."""

    async def check_key(self) -> None:
        """See that the key is taken; raises a `ModelError` of kind "auth" where it is not."""


@runtime_checkable
class TellsIdentity(ModelClient, Protocol):
    """A client whose endpoint may tell which model it serves, so that answers are known by it, not by the address."""

    async def model_identity(self) -> str | None:
        """What is served under the model's name; None where the endpoint does not tell, whatever the reason."""


Call = Callable[[], Awaitable[ModelOutput]]


async def prepare(client: ModelClient, messages: Sequence[Message], settings: CallSettings) -> Call:
    """A call made ready before its turn comes: what is returned does the rest, as `generate` would.

    A client with a method `prepare` does there what needs no endpoint, such as reading media.

    Raises:
        ModelError: a medium cannot be sent.
    """
    make_ready = getattr(client, "prepare", None)
    if make_ready is None:
        return partial(client.generate, messages, settings)
    call: Call = await make_ready(messages, settings)
    return call


def settled(output: ModelOutput) -> ModelOutput:
    """The reply with its finish reason in the words that are kept, and refused where that says so.

    Raises:
        ModelError: of kind "server": this broke the generation off, so that its text is no answer.
    """
    reason = read_finish_reason(output.finish_reason)
    ending = ending_of(reason)
    if ending == "broken_off":
        text = f"the server broke the generation off (finish_reason {reason!r})"
        raise ModelError(text, kind="server", retryable=True)
    refused = output.refused or ending == "refused"
    if reason == output.finish_reason and refused == output.refused:
        return output
    return replace(output, finish_reason=reason, refused=refused)


class BaseClient:
    """The parts of a client that need nothing: entering and leaving."""

    needs_sounds_as_data = False
    """Whether a sound behind a URL is to be fetched for it also where the model file does not ask for that."""

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
