"""The least that any client must do, as the floor to measure ours against.

    python ideal_client.py plain.jsonl http://127.0.0.1:8000/v1/chat/completions answers.jsonl --workers 32

Per question: read the picture's bytes, base64, POST, keep the answer. No retry, no checks, no progress.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

JSON = {"Content-Type": "application/json"}
Post = Callable[[bytes], Awaitable[Any]]


def request_body(row: dict[str, Any]) -> bytes:
    content: list[dict[str, Any]] = [{"type": "text", "text": row["text"]}]
    if row["image"]:
        content.insert(0, {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,@@"}})
    message = {"role": "user", "content": content}
    body = json.dumps({"model": "mock", "max_tokens": 64, "temperature": 0, "messages": [message]}).encode()
    if not row["image"]:
        return body
    before, _, after = body.partition(b"@@")
    return b"".join((before, base64.b64encode(Path(row["image"]).read_bytes()), after))


async def open_session(library: str, url: str, stack: AsyncExitStack) -> Post:
    if library == "httpx":
        import httpx

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=600, limits=limits))

        async def post_httpx(body: bytes) -> Any:
            return (await client.post(url, content=body, headers=JSON)).json()

        return post_httpx

    import aiohttp

    session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))

    async def post_aiohttp(body: bytes) -> Any:
        async with session.post(url, data=body, headers=JSON) as response:
            return await response.json()

    return post_aiohttp


async def run(args: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        post = await open_session(args.http, args.url, stack)
        rows = map(json.loads, stack.enter_context(args.data.open()))
        answers = stack.enter_context(args.out.open("w"))

        async def work() -> None:
            for row in rows:  # shared: each worker takes the next row
                reply = await post(request_body(row))
                answer = {"id": row["id"], "answer": reply["choices"][0]["message"]["content"], "usage": reply["usage"]}
                answers.write(json.dumps(answer) + "\n")

        await asyncio.gather(*(work() for _ in range(args.workers)))


def main() -> None:
    parser = argparse.ArgumentParser(description="The least possible client.")
    parser.add_argument("data", type=Path)
    parser.add_argument("url")
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--http", choices=["aiohttp", "httpx"], default="aiohttp")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
