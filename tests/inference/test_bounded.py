"""Many jobs, few at a time."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from flagmm.inference.bounded import run_bounded


class Work:
    """A job is the seconds that it takes; knows how many are alive and which were cancelled."""

    def __init__(self):
        self.alive = self.most = self.pulled = 0
        self.cancelled = []

    def jobs(self, seconds):
        for item in seconds:
            self.pulled += 1
            yield item

    async def __call__(self, seconds):
        self.alive += 1
        self.most = max(self.most, self.alive)
        try:
            if seconds < 0:
                raise ValueError("a job failed")
            await asyncio.sleep(seconds)
            return seconds
        except asyncio.CancelledError:
            self.cancelled.append(seconds)
            raise
        finally:
            self.alive -= 1


def run(seconds, limit, take=None):
    """The outcomes of the jobs, of the first `take` only where it is given, and the work."""
    work, outcomes = Work(), []

    async def go():
        async with aclosing(run_bounded(work.jobs(seconds), work, limit=limit)) as results:
            async for outcome in results:
                outcomes.append(outcome)
                if len(outcomes) == take:
                    break

    try:
        asyncio.run(go())
    except ValueError as error:
        outcomes.append(error)
    return outcomes, work


@pytest.mark.parametrize(("count", "limit"), [(0, 3), (1, 3), (3, 3), (20, 3), (5, 1), (2, 50)])
def test_every_job_is_done_and_never_more_than_allowed_at_once(count, limit):
    outcomes, work = run([0.001] * count, limit)
    assert outcomes == [0.001] * count
    assert work.most <= limit
    assert work.alive == 0


def test_outcomes_come_as_they_finish():
    outcomes, _ = run([0.1, 0.001], limit=2)
    assert outcomes == [0.001, 0.1]


def test_a_job_is_pulled_only_when_there_is_room():
    outcomes, work = run([0.001] * 1000, limit=4, take=1)
    assert len(outcomes) == 1
    assert work.pulled <= 5


def test_what_still_runs_when_the_caller_stops_is_cancelled_and_waited_for():
    _, work = run([0.001, 50, 60], limit=3, take=1)
    assert sorted(work.cancelled) == [50, 60]
    assert work.alive == 0


def test_a_job_that_raises_ends_the_others():
    outcomes, work = run([50, -1, 60], limit=3)
    assert [str(outcome) for outcome in outcomes] == ["a job failed"]
    assert sorted(work.cancelled) == [50, 60]
    assert work.alive == 0


def test_an_error_while_jobs_are_pulled_ends_those_that_run():
    def jobs():
        yield 50
        raise ValueError("no more jobs")

    outcomes, work = run(jobs(), limit=3)
    assert [str(outcome) for outcome in outcomes] == ["no more jobs"]
    assert work.cancelled in ([50], [])  # it may not have begun
    assert work.alive == 0
