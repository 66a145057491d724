"""Server-sent events, and the chat completion that a stream of them makes up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flagmm.config.redaction import Hide
from flagmm.errors import ModelError
from flagmm.finish_reasons import read_finish_reason
from flagmm.models.openai_reply import (
    bad_reply,
    content_text,
    error_in_body,
    make_output,
    parse_json,
    parse_usage,
    reasoning_text,
)
from flagmm.types import ModelOutput

DONE = b"[DONE]"


class EventParser:
    """Bytes in any cut -> the data of each event.

    Follows the HTML standard's event stream format (CR, LF and CRLF, comments, multi-line data), except that an event
    which the end of the stream cuts off before its blank line is still given.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        """Pieces of a line whose end has not come; joining them for each chunk would be quadratic in its length."""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of the events that this chunk completes."""
        self._rest.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk and self._rest[0][-1:] != b"\r":
            return
        buffer = b"".join(self._rest)
        # A CR at the very end may be half of a CRLF: keep it until the next chunk.
        held = b"\r" if buffer.endswith(b"\r") else b""
        lines = buffer[: len(buffer) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = [lines.pop() + held]
        for line in lines:
            yield from self._line(line)

    def close(self) -> Iterator[bytes]:
        """The data of an event that lacks its final blank line."""
        yield from self._line(b"".join(self._rest).rstrip(b"\r"))
        yield from self._line(b"")
        self._rest = []

    def _line(self, line: bytes) -> Iterator[bytes]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
        elif self._data:
            data, self._data = b"\n".join(self._data), []
            yield data


class StreamedReply:
    """Collects the events of one streamed completion."""

    def __init__(self, *, hide: Hide = str) -> None:
        """Take what removes secrets from what errors show."""
        self._hide = hide
        self._texts: list[str] = []
        self._reasons: list[str] = []
        self._finish_reason: str | None = None
        self._usage: Any = None
        self._refused = False
        self.has_begun = False
        self.done = False

    def add(self, data: bytes) -> None:
        """Take one event's data.

        Raises:
            ModelError: the event is an error, or no JSON.
        """
        self.has_begun = True
        if data.strip() == DONE:
            self.done = True
            return
        event = parse_json(data, hide=self._hide)
        if not isinstance(event, Mapping):
            raise bad_reply("an event of the stream is no JSON object")
        if event.get("error"):
            raise error_in_body(event["error"], hide=self._hide)
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and not choice.get("index"):  # the first, as unstreamed
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            self._texts.append(content_text(delta.get("content")))
            self._reasons.append(reasoning_text(delta))
            self._refused = self._refused or bool(delta.get("refusal"))
        self._finish_reason = read_finish_reason(choice.get("finish_reason")) or self._finish_reason

    def output(self) -> ModelOutput:
        """The whole reply.

        Raises:
            ModelError: the stream broke off before its end.
        """
        if not self.done and self._finish_reason is None:
            raise ModelError("the stream broke off", kind="connection", retryable=True)
        return make_output(
            text="".join(self._texts),
            reason="".join(self._reasons),
            finish_reason=self._finish_reason,
            usage=parse_usage(self._usage),
            refused=self._refused,
        )
