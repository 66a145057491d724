"""A real HTTP endpoint on 127.0.0.1 whose replies a test scripts, good and bad ones alike.

    with MockEndpoint(by_question({"cat": "A", "dog": error_reply(429, "slow down", retry_after=0)})) as endpoint:
        run_something(endpoint.url)
    assert len(endpoint.requests) == 2

What it answers is decided by one `Reply`, or by a rule, a function from the recorded request to a `Reply`.
When the block is left, the port is closed: `endpoint.url` then serves to test a refused connection.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aiohttp import web

CHAT_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"
USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
WRITE_GAP = 0.002  # seconds between two writes of a stream, so that the client reads them apart


@dataclass(frozen=True, kw_only=True)
class RecordedRequest:
    """One request as it arrived, whatever became of it."""

    method: str
    path: str
    """Without the query string."""
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    """The parsed JSON object; empty where there is none."""
    time: float
    """Arrival on the `time.monotonic` clock."""

    @property
    def user_parts(self) -> list[dict[str, Any]]:
        """The content parts of the last user message; a plain string counts as one text part."""
        messages = [message for message in self.body.get("messages", []) if message["role"] == "user"]
        content = messages[-1]["content"] if messages else []
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        """The text of the last user message, parts joined."""
        return "".join(part["text"] for part in self.user_parts if part["type"] == "text")

    @property
    def image_urls(self) -> list[str]:
        """The picture URLs of the last user message, data URLs included."""
        return [part["image_url"]["url"] for part in self.user_parts if part["type"] == "image_url"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What goes back for one request; a plain one is streamed when the request asks for a stream."""

    text: str | None = "B"
    reason: str | None = None
    """The thinking part, sent as `reasoning_content`."""
    message: Mapping[str, Any] = field(default_factory=dict)
    """More keys of the reply's message, such as `refusal`."""
    finish_reason: str | None = "stop"
    usage: Mapping[str, Any] | None = field(default_factory=lambda: dict(USAGE))
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the first byte."""
    raw_body: bytes | None = None
    stream_chunks: Sequence[bytes] | None = None
    """Like `raw_body` sent instead of a completion, stream or not; each in a write of its own."""
    hang: bool = False
    """Never end: after `stream_chunks` where given, else before the first byte."""
    reset: bool = False
    """End with a TCP reset: after `stream_chunks` where given, else in the middle of the body."""


Rule = Callable[[RecordedRequest], Reply]
Script = Reply | Rule | str  # a string is the text of a plain reply


def completion(text: str | None, *, finish_reason: str | None = "stop", **message: Any) -> Reply:
    """Reply with `text`; further keywords become keys of the message."""
    return Reply(text=text, finish_reason=finish_reason, message=message)


def error_reply(status: int, message: str, *, code: str | None = None, retry_after: float | str | None = None) -> Reply:
    """Fail as OpenAI-compatible endpoints do; `retry_after` is seconds or an HTTP date."""
    body = {"error": {"message": message, "type": "mock_error", "param": None, "code": code}}
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Reply(status=status, raw_body=json.dumps(body).encode(), headers=headers)


def html_reply(status: int = 200) -> Reply:
    """Send a web page, as a proxy or a wrong URL does."""
    page = b"<!DOCTYPE html><html><title>Welcome</title><h1>Welcome</h1></html>"
    return Reply(status=status, raw_body=page, headers={"Content-Type": "text/html; charset=utf-8"})


def null_content() -> Reply:
    """Answer with `content: null`."""
    return Reply(text=None)


def no_choices() -> Reply:
    """Answer with an empty list of choices."""
    return Reply(raw_body=json.dumps({"id": "mock-0", "object": "chat.completion", "choices": []}).encode())


def content_filter(status: Literal[200, 400] = 200) -> Reply:
    """Let the endpoint's filter refuse: as a finish reason (200), or turning the question down (400)."""
    if status == 400:
        return error_reply(400, "The prompt was filtered by the content management policy.", code="content_filter")
    return Reply(text="", finish_reason="content_filter")


def sequence(script: Iterable[Script]) -> Rule:
    """Give the first reply to the first request, and so on; one request too many gets a 400."""
    replies = iter(list(script))

    def reply_in_order(request: RecordedRequest) -> Reply:
        return _perform(next(replies, error_reply(400, "the script has no more replies")), request)

    return reply_in_order


def by_question(script: Mapping[str, Script], *, default: Script | None = None) -> Rule:
    """Choose by the longest key that occurs in the last user text; without one and without `default`, a 400."""
    keys = sorted(script, key=len, reverse=True)

    def reply_to_question(request: RecordedRequest) -> Reply:
        unknown = error_reply(400, f"the script has no reply to {request.text!r}") if default is None else default
        return _perform(next((script[key] for key in keys if key in request.text), unknown), request)

    return reply_to_question


def _perform(script: Script, request: RecordedRequest) -> Reply:
    if isinstance(script, str):
        return Reply(text=script)
    return script if isinstance(script, Reply) else script(request)


@dataclass(frozen=True, kw_only=True)
class Wire:
    """How a stream of events is written down; every variant is valid or seen in the wild."""

    newline: str = "\n"
    before: Sequence[str] = ()
    """Lines before each event's data, such as `id: 7` or the comment `: still here`."""
    done: bool = True
    ending: Literal["blank line", "newline", "nothing"] = "blank line"
    """What stands after the last event's text."""
    cut: Literal["event", "character"] | int = "event"
    """Where writes end: after each event, inside each multi-byte character, or after so many bytes."""

    def encode(self, events: Iterable[Mapping[str, Any]]) -> list[bytes]:
        """Return the bytes of each write."""
        texts = [json.dumps(event, ensure_ascii=False) for event in events] + (["[DONE]"] if self.done else [])
        blocks = [self.newline.join([*self.before, f"data: {text}", "", ""]) for text in texts]
        blocks[-1] = blocks[-1].rstrip() + self.newline * ("nothing", "newline", "blank line").index(self.ending)
        written = [block.encode() for block in blocks]
        return written if self.cut == "event" else _cut(b"".join(written), self.cut)


def _cut(data: bytes, cut: Literal["character"] | int) -> list[bytes]:
    inside = (index + 1 for index, byte in enumerate(data) if byte >= 0xC0)  # after each lead byte of UTF-8
    ends = [*(inside if cut == "character" else range(cut, len(data), cut)), len(data)]
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def sse(
    chunks: Sequence[str],
    *,
    reasons: Sequence[str] = (),
    usage: Mapping[str, Any] | None = USAGE,
    keep_alive: bool = False,
    wire: Wire | None = None,
) -> Reply:
    """Stream `reasons`, then `chunks`, one event each, then the end and the token counts where there are some.

    With `keep_alive`, an event with empty `choices` stands before each of the others.
    """
    deltas = [{"reasoning_content": text} for text in reasons] + [{"content": text} for text in chunks]
    events = _events(deltas, finish_reason="stop", usage=usage)
    if keep_alive:
        events = [event for pair in zip([_event()] * len(events), events, strict=True) for event in pair]
    return Reply(stream_chunks=(wire or Wire()).encode(events))


def _events(
    deltas: Iterable[Mapping[str, Any]], *, finish_reason: str | None, usage: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    head: Mapping[str, Any] = {"role": "assistant", "content": ""}
    events = [_event({"index": 0, "delta": delta, "finish_reason": None}) for delta in (head, *deltas)]
    events.append(_event({"index": 0, "delta": {}, "finish_reason": finish_reason}))
    return events if usage is None else [*events, {**_event(), "usage": usage}]


def _event(*choices: dict[str, Any]) -> dict[str, Any]:
    return {"id": "mock-0", "object": "chat.completion.chunk", "created": 0, "model": "mock", "choices": choices}


class MockEndpoint:
    """The endpoint itself; a context manager that serves from a thread of its own.

    Attributes:
        url: the `/v1` root.
        requests: all requests so far, in order of arrival, those to wrong paths included; but for looks at the list of
            models, unless `files` say what it holds: every run looks there once.
        looks: these.
        max_inflight: the most chat requests that were open at one time.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        paths: Sequence[str] = (CHAT_PATH,),
        files: Mapping[str, Script] | None = None,
    ) -> None:
        """Take what to answer (default: always "B") and the paths that it holds for; others get a 404.

        `files` are the replies to GET requests, by path; a list of models is given where they say nothing of it.
        """
        self.url = ""
        self.requests: list[RecordedRequest] = []
        self.looks: list[RecordedRequest] = []
        self.max_inflight = 0
        self._script = Reply() if script is None else script
        self._paths = paths
        self._files = dict(files or {})
        self._inflight = 0
        self._failure: Exception | None = None
        self._started: Future[tuple[asyncio.AbstractEventLoop, int]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="mock-endpoint")

    def __enter__(self) -> MockEndpoint:
        self._thread.start()
        self._loop, port = self._started.result(timeout=10)
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        if self._failure is not None and error[0] is None:
            raise self._failure

    @property
    def asked(self) -> list[RecordedRequest]:
        """The requests that want an answer; looking at the list of models does not."""
        return [request for request in self.requests if request.method == "POST"]

    async def _serve(self) -> None:
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._started.set_result((asyncio.get_running_loop(), runner.addresses[0][1]))
            await self._closing.wait()
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        recorded = await _record(request)
        is_look = (request.method, request.path) == ("GET", MODELS_PATH) and MODELS_PATH not in self._files
        (self.looks if is_look else self.requests).append(recorded)
        if request.method == "GET" and request.path in self._files:
            return await self._answer(request, recorded, self._files[request.path])
        if is_look:
            model = {"id": "mock", "object": "model", "created": 0, "owned_by": "mock"}
            return web.json_response({"object": "list", "data": [model]})
        if request.method != "POST" or request.path not in self._paths:
            return web.json_response({"error": {"message": "no such path"}}, status=404)
        self._inflight += 1
        self.max_inflight = max(self.max_inflight, self._inflight)
        try:
            return await self._answer(request, recorded, self._script)
        finally:
            self._inflight -= 1

    async def _answer(self, request: web.Request, recorded: RecordedRequest, script: Script) -> web.StreamResponse:
        try:
            reply = _perform(script, recorded)
        except Exception as error:  # noqa: BLE001  # the test's own rule; raised again when the block is left
            self._failure = error
            reply = error_reply(400, f"the rule raised {error!r}")
        if await self._closes_within(None if reply.hang and reply.stream_chunks is None else reply.delay):
            return _abort(request)
        if reply.stream_chunks is None and reply.raw_body is None and recorded.body.get("stream"):
            reply = replace(reply, stream_chunks=_as_stream(reply, recorded))
        if reply.stream_chunks is not None:
            return await self._send(request, reply, "text/event-stream", reply.stream_chunks)
        body = _completion_body(reply, recorded) if reply.raw_body is None else reply.raw_body
        return await self._send(request, reply, "application/json", [body])

    async def _send(
        self, request: web.Request, reply: Reply, content_type: str, writes: Sequence[bytes]
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers={"Content-Type": content_type, **reply.headers})
        if reply.stream_chunks is None:
            response.content_length = len(writes[0])
            writes = [writes[0][: len(writes[0]) // 2]] if reply.reset else writes
        await response.prepare(request)
        for data in writes:
            await response.write(data)
            await asyncio.sleep(WRITE_GAP if len(writes) > 1 else 0)
        if reply.reset or (reply.hang and await self._closes_within(None)):
            return _abort(request)
        return response

    async def _closes_within(self, seconds: float | None) -> bool:
        """Wait so long, or for ever, and say whether the endpoint closed meanwhile."""
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except asyncio.TimeoutError:  # another class than TimeoutError in Python 3.10
            return False
        return True


async def _record(request: web.Request) -> RecordedRequest:
    arrival = time.monotonic()
    try:
        parsed = json.loads(await request.read())
    except ValueError:
        parsed = None
    body = parsed if isinstance(parsed, dict) else {}
    headers = {name.lower(): value for name, value in request.headers.items()}
    return RecordedRequest(method=request.method, path=request.path, headers=headers, body=body, time=arrival)


def _completion_body(reply: Reply, recorded: RecordedRequest) -> bytes:
    thinking = {} if reply.reason is None else {"reasoning_content": reply.reason}
    message = {"role": "assistant", "content": reply.text, **thinking, **reply.message}
    body: dict[str, Any] = {"id": "mock-0", "object": "chat.completion", "model": recorded.body.get("model")}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": reply.finish_reason}]
    return json.dumps(body if reply.usage is None else {**body, "usage": reply.usage}).encode()


def _as_stream(reply: Reply, recorded: RecordedRequest) -> list[bytes]:
    """Write a plain reply as the events that a server sends for it, three characters in each."""
    text, thinking = reply.text or "", reply.reason or ""
    deltas: list[Mapping[str, Any]] = [{"reasoning_content": thinking}] if thinking else []
    deltas += [reply.message] if reply.message else []
    deltas += [{"content": text[start : start + 3]} for start in range(0, len(text), 3)]
    asks_usage = (recorded.body.get("stream_options") or {}).get("include_usage")
    usage = reply.usage if asks_usage else None
    return Wire().encode(_events(deltas, finish_reason=reply.finish_reason, usage=usage))


def _abort(request: web.Request) -> web.StreamResponse:
    """Drop the connection at once; what the peer sees is a reset, not an orderly end."""
    if request.transport is not None:
        lingering = request.transport.get_extra_info("socket")
        lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response()
