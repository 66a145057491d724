"""An OpenAI-compatible endpoint for benchmarks, on 127.0.0.1, that costs next to no CPU.

    python mock_server.py --latency 200 --p429 0.05 --p500 0.02

The first line on stdout is the port. Bodies are counted and thrown away unread. SIGTERM ends it; the last line on
stdout is then a JSON object with the counts of what was asked and answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import time
from dataclasses import asdict, dataclass, field

READ_SIZE = 2**20
HEAD_LIMIT = 2**14  # bytes; longer than any client's head
RATE_LIMIT_DELAY = 0.005  # seconds; a full endpoint says so at once


@dataclass(kw_only=True)
class Counts:
    requests: int = 0
    ok: int = 0
    rate_limited: int = 0
    failed: int = 0
    not_found: int = 0
    bytes_read: int = 0
    connections: int = 0
    first_request_at: float = 0.0
    """Seconds since the epoch; 0 before it."""
    inflight: int = 0
    max_inflight: int = 0


@dataclass(kw_only=True)
class Endpoint:
    """What all connections share: the behaviour, the counts, and one buffer to read into."""

    latency: float = 0.0
    """Seconds until an answer."""
    p429: float = 0.0
    p500: float = 0.0
    counts: Counts = field(default_factory=Counts)
    random: random.Random = field(default_factory=lambda: random.Random(0))
    buffer: bytearray = field(default_factory=lambda: bytearray(READ_SIZE))
    """One is enough: asyncio hands over what it read before it reads for another connection."""

    def decide(self) -> tuple[bytes, float]:
        """Draw the reply to one chat request and the seconds until it is due."""
        self.counts.requests += 1
        self.counts.first_request_at = self.counts.first_request_at or time.time()
        draw = self.random.random()
        if draw < self.p429:
            self.counts.rate_limited += 1
            return RATE_LIMITED, RATE_LIMIT_DELAY
        if draw < self.p429 + self.p500:
            self.counts.failed += 1
            return FAILED, self.latency
        self.counts.ok += 1
        return ANSWERS[self.counts.ok % len(ANSWERS)], self.latency


def http_reply(status: str, body: object, *headers: str) -> bytes:
    """Return the bytes of a whole reply, made once so that sending it costs nothing."""
    data = json.dumps(body).encode()
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(data)}", *headers, "", ""]
    return "\r\n".join(head).encode() + data


def answer(letter: str) -> bytes:
    return http_reply(
        "200 OK",
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 1700000000,
            "model": "mock",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": f"ANSWER: {letter}"}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 400, "completion_tokens": 3, "total_tokens": 403},
        },
    )


ANSWERS = [answer(letter) for letter in "ABCD"]
RATE_LIMITED = http_reply(
    "429 Too Many Requests", {"error": {"message": "rate limit", "code": "rate_limit"}}, "Retry-After: 1"
)
FAILED = http_reply("500 Internal Server Error", {"error": {"message": "boom", "code": "server_error"}})
NOT_FOUND = http_reply("404 Not Found", {"error": {"message": "no such path"}})
MODELS = http_reply("200 OK", {"object": "list", "data": [{"id": "mock", "object": "model"}]})


class Connection(asyncio.BufferedProtocol):
    """Reads requests one after another: a head, then a body, of which only the end matters."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.view = memoryview(endpoint.buffer)
        self.head = bytearray()
        self.request_line = b""
        self.body_left = 0
        self.chunk_tail: bytes | None = None
        """The last bytes of a chunked body so far; None while no such body is being read."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint.counts.connections += 1

    def get_buffer(self, sizehint: int) -> bytearray:
        return self.endpoint.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.endpoint.counts.bytes_read += nbytes
        if self.body_left > nbytes:
            self.body_left -= nbytes
        elif self.body_left == nbytes:
            self.body_left = 0
            self.respond()
        elif self.chunk_tail is not None:
            self.read_chunked(self.view[:nbytes])
        else:
            self.read_head(nbytes)

    def read_head(self, nbytes: int) -> None:
        """Take in what was read: (more of) a head, and behind its end the body, all or in part."""
        known = len(self.head)
        self.head += self.view[: min(nbytes, HEAD_LIMIT)]
        head, end, _ = bytes(self.head).partition(b"\r\n\r\n")
        if not end:
            return
        self.head.clear()
        body = self.view[len(head) + len(end) - known : nbytes]
        lines = head.split(b"\r\n")
        self.request_line = lines[0]
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        if b"expect" in fields:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if fields.get(b"transfer-encoding") == b"chunked":
            self.chunk_tail = b""
            self.read_chunked(body)
            return
        self.body_left = int(fields.get(b"content-length", 0)) - len(body)
        if self.body_left == 0:
            self.respond()

    def read_chunked(self, data: memoryview) -> None:
        self.chunk_tail = ((self.chunk_tail or b"") + bytes(data[-5:]))[-5:]
        if self.chunk_tail == b"0\r\n\r\n":
            self.chunk_tail = None
            self.respond()

    def respond(self) -> None:
        counts = self.endpoint.counts
        if b"/models " in self.request_line:
            self.transport.write(MODELS)
            return
        if b"/chat/completions " not in self.request_line:
            counts.not_found += 1
            self.transport.write(NOT_FOUND)
            return
        counts.inflight += 1
        counts.max_inflight = max(counts.max_inflight, counts.inflight)
        reply, delay = self.endpoint.decide()
        if delay:
            asyncio.get_running_loop().call_later(delay, self.send, reply)
        else:
            self.send(reply)

    def send(self, reply: bytes) -> None:
        self.endpoint.counts.inflight -= 1
        if not self.transport.is_closing():
            self.transport.write(reply)


async def serve(endpoint: Endpoint) -> None:
    """Serve until SIGTERM."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    server = await loop.create_server(lambda: Connection(endpoint), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await stopped.wait()
    server.close()
    print(json.dumps(asdict(endpoint.counts)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="A mock endpoint for benchmarks; prints its port.")
    parser.add_argument("--latency", type=float, default=0, help="milliseconds until an answer")
    parser.add_argument("--p429", type=float, default=0, help="share of requests answered with 429, Retry-After: 1")
    parser.add_argument("--p500", type=float, default=0, help="share of requests answered with 500")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; who started us ends us
    asyncio.run(serve(Endpoint(latency=args.latency / 1000, p429=args.p429, p500=args.p500)))


if __name__ == "__main__":
    main()
