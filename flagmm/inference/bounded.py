"""Run many jobs, few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


async def run_bounded(
    jobs: Iterable[Job], work: Callable[[Job], Awaitable[Outcome]], *, limit: int
) -> AsyncGenerator[Outcome, None]:
    """Yield what `work` makes of each job, as they finish; a job is pulled only when fewer than `limit` are alive.

    What is still running when the caller stops early, or when a job raises, is cancelled and waited for.
    """
    running: set[asyncio.Future[Outcome]] = set()
    finished: asyncio.Queue[asyncio.Future[Outcome]] = asyncio.Queue()  # asyncio.wait would cost O(limit) per job
    try:
        for job in jobs:
            task: asyncio.Future[Outcome] = asyncio.ensure_future(work(job))
            running.add(task)
            task.add_done_callback(finished.put_nowait)
            if len(running) >= limit:
                yield await _next(running, finished)
        while running:
            yield await _next(running, finished)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _next(running: set[asyncio.Future[Outcome]], finished: asyncio.Queue[asyncio.Future[Outcome]]) -> Outcome:
    task = await finished.get()
    running.discard(task)
    return task.result()
