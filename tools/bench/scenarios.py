"""What is measured, against what, and what is good enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.measure import Cost
from bench.workbench import Load, Workbench, check_answers


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table: two figures and their ratio, or one figure and its limit."""

    scenario: str
    ours: float
    unit: str
    reference: float | None = None
    max_ratio: float | None = None
    """The ratio to the reference that is still good enough; None where nothing is asked."""
    limit: float | None = None
    """The same for the figure itself."""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.reference if self.reference else None

    @property
    def ok(self) -> bool | None:
        """Whether the targets are met; None where there are none."""
        checks = [self.ours <= self.limit] if self.limit is not None else []
        if self.ratio is not None and self.max_ratio is not None:
            checks.append(self.ratio <= self.max_ratio)
        return all(checks) if checks else None


def images(bench: Workbench) -> list[Row]:
    load = picture_load(bench)
    ours, ideal = bench.best(lambda: bench.ours(load), lambda: bench.ideal(load))
    return [
        Row(scenario="images, wall", ours=ours.wall, unit="s", reference=ideal.wall, max_ratio=1.10),
        Row(scenario="images, CPU", ours=ours.cpu, unit="s", reference=ideal.cpu, max_ratio=2.5),
    ]


def wide(bench: Workbench) -> list[Row]:
    load = replace(picture_load(bench), latency=1000, workers=128)
    ours, ideal = bench.best(lambda: bench.ours(load), lambda: bench.ideal(load))
    return [Row(scenario="wide, wall", ours=ours.wall, unit="s", reference=ideal.wall, max_ratio=1.10)]


def text(bench: Workbench) -> list[Row]:
    load = Load(count=bench.scaled(20_000), files=0)
    ours, ideal = bench.best(lambda: bench.ours(load), lambda: bench.ideal(load))
    return [
        Row(scenario="text, CPU", ours=ours.cpu, unit="s", reference=ideal.cpu, max_ratio=4),
        Row(scenario="text, CPU per question", ours=ours.cpu / load.count * 1000, unit="ms"),
    ]


def faults(bench: Workbench) -> list[Row]:
    """Our own clean run is the reference: what do 429 (Retry-After: 1) and 500 cost?"""
    clean = picture_load(bench)
    faulty = replace(clean, p429=0.05, p500=0.02)
    ours, reference = bench.best(lambda: bench.ours(faulty), lambda: bench.ours(clean))
    return [Row(scenario="faults, wall", ours=ours.wall, unit="s", reference=reference.wall, max_ratio=1.3)]


def memory(bench: Workbench) -> list[Row]:
    """Memory follows the workers, not the data: ten times the questions must not need more."""
    few = Load(count=bench.scaled(1000), files=bench.scaled(1000), latency=20)
    many = replace(few, count=10 * few.count)
    small, large = bench.ours(few), bench.ours(many)
    return [
        Row(scenario=f"memory, {few.count:,} questions", ours=small.rss / 1e6, unit="MB", limit=150),
        Row(
            scenario=f"memory, {many.count:,} questions",
            ours=large.rss / 1e6,
            unit="MB",
            reference=small.rss / 1e6,
            max_ratio=1.10,
            limit=150,
        ),
    ]


def small(bench: Workbench) -> list[Row]:
    load = Load(count=8, files=8)
    [ours] = bench.best(lambda: bench.ours(load))
    return [Row(scenario="small, 8 questions", ours=ours.wall, unit="s", limit=1.5)]


def resume(bench: Workbench) -> list[Row]:
    load = replace(picture_load(bench), latency=0)
    run = bench.new_run()
    with load.server() as server:
        bench.run_ours(load, run, url=server.url)
        [again] = bench.best(lambda: bench.run_ours(load, run, url=server.url))
    check_answers(server, load.count)
    return [Row(scenario=f"resume, {load.count:,} done", ours=again.wall, unit="s", limit=1)]


def rescore(bench: Workbench) -> list[Row]:
    load = Load(count=bench.scaled(20_000), files=0)
    run = bench.new_run()
    with load.server() as server:
        bench.run_ours(load, run, url=server.url)
        [again] = bench.best(lambda: bench.run_ours(load, run, "--without-infer", url=server.url))
    check_answers(server, load.count)
    return [Row(scenario=f"rescore, {load.count:,} saved", ours=again.wall, unit="s", limit=2)]


def http(bench: Workbench) -> list[Row]:
    """How the HTTP library was chosen: the ideal client with aiohttp ("ours") against httpx."""
    rows: list[Row] = []
    loads = {"pictures": replace(picture_load(bench), latency=0), "text": Load(count=bench.scaled(5000), files=0)}
    for name, load in loads.items():
        aiohttp, httpx = _both_libraries(bench, load)
        rows.append(Row(scenario=f"aiohttp/httpx, {name}, CPU", ours=aiohttp.cpu, unit="s", reference=httpx.cpu))
    return rows


def _both_libraries(bench: Workbench, load: Load) -> list[Cost]:
    return bench.best(lambda: bench.ideal(load, "aiohttp"), lambda: bench.ideal(load, "httpx"))


def picture_load(bench: Workbench) -> Load:
    """The ordinary run: 1,000 questions with a picture each, an endpoint that takes 200 ms, 32 workers."""
    return Load(count=bench.scaled(1000), files=bench.scaled(1000), latency=200)


SCENARIOS: dict[str, Callable[[Workbench], list[Row]]] = {
    scenario.__name__: scenario for scenario in (images, wide, text, faults, memory, small, resume, rescore, http)
}
