"""Make data, start the mock endpoint, and run our command or the ideal client against it."""

from __future__ import annotations

import itertools
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.measure import CommandError, Cost, measure

logger = logging.getLogger(__name__)

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]


def command_env(folder: Path) -> dict[str, str]:
    """Return the environment in which the checkout's command runs, with its caches in `folder`."""
    env = {**os.environ, "FLAGEVALMM_CACHE": str(folder / "cache")}
    # As after an ordinary installation: compiled once, not at each start.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
    env["PYTHONPATH"] = os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return env


class MockServer:
    """The mock endpoint as a process; `counts` is filled when the block is left."""

    def __init__(self, *, latency: float = 0, p429: float = 0, p500: float = 0) -> None:
        """Take the latency in milliseconds and the shares of the replies that are 429 and 500."""
        self.options = [f"--latency={latency}", f"--p429={p429}", f"--p500={p500}"]
        self.counts: dict[str, Any] = {}

    def __enter__(self) -> MockServer:
        command = [sys.executable, str(HERE / "mock_server.py"), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        output, _ = self.process.communicate(timeout=10)
        self.counts = json.loads(output)
        logger.debug("endpoint: %s", self.counts)


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a run is about: the data and the endpoint."""

    count: int
    """Questions."""
    files: int
    """Pictures that the questions share; 0 for text only."""
    latency: float = 0
    """Milliseconds until an answer."""
    workers: int = 32
    p429: float = 0
    p500: float = 0

    def server(self) -> MockServer:
        return MockServer(latency=self.latency, p429=self.p429, p500=self.p500)


class Workbench:
    """One folder with the data sets and the output of every run."""

    def __init__(self, folder: Path, *, repetitions: int, quick: bool) -> None:
        """With `quick`, the scenarios shrink their counts to a tenth."""
        self.folder = folder.resolve()
        self.repetitions = repetitions
        self.quick = quick
        self._numbers = itertools.count(1)
        self._env = command_env(self.folder)

    def scaled(self, count: int) -> int:
        return count // 10 if self.quick else count

    def data(self, load: Load) -> Path:
        """Return the folder of a data set, made when first asked for."""
        folder = self.folder / f"questions_{load.count}_files_{load.files}"
        if not (folder / "plain.jsonl").exists():
            logger.info("making %d questions with %d pictures", load.count, load.files)
            script = str(HERE / "make_data.py")
            command = [sys.executable, script, str(folder), f"-n={load.count}", f"--files={load.files}"]
            subprocess.run(command, check=True)
        return folder

    def new_run(self) -> Path:
        """Return a new folder for one run of either side."""
        folder = self.folder / "runs" / f"{os.getpid()}_{next(self._numbers)}"
        folder.mkdir(parents=True)
        return folder

    def run_ours(self, load: Load, run: Path, *flags: str, url: str) -> Cost:
        """Measure our command with its output in `run`; called again with the same `run` and `url`, it resumes."""
        model: dict[str, Any] = {"model_name": "mock", "url": url, "api_key": "none", "max_tokens": 64}
        model |= {"temperature": 0, "num_workers": load.workers}
        (run / "model.json").write_text(json.dumps(model))
        command = [sys.executable, "-m", "flagmm", "--tasks", str(self.data(load) / "task.py")]
        command += ["--cfg", str(run / "model.json"), "--output-dir", str(run / "out"), "--quiet", *flags]
        return _logged("ours", measure(command, log=run / "log.txt", env=self._env))

    def run_ideal(self, load: Load, run: Path, *, url: str, http: str = "aiohttp") -> Cost:
        """Measure the ideal client with either HTTP library."""
        command = [sys.executable, str(HERE / "ideal_client.py"), f"--workers={load.workers}", f"--http={http}"]
        files = self.data(load) / "plain.jsonl", run / "answers.jsonl"
        command += [str(files[0]), f"{url}/chat/completions", str(files[1])]
        return _logged(f"ideal ({http})", measure(command, log=run / "log.txt", env=self._env))

    def ours(self, load: Load) -> Cost:
        """Measure one whole run of our command against an endpoint of its own."""
        return self._whole(load, lambda run, url: self.run_ours(load, run, url=url))

    def ideal(self, load: Load, http: str = "aiohttp") -> Cost:
        """Measure one whole run of the ideal client against an endpoint of its own."""
        return self._whole(load, lambda run, url: self.run_ideal(load, run, url=url, http=http))

    def _whole(self, load: Load, client: Callable[[Path, str], Cost]) -> Cost:
        self.data(load)
        with load.server() as server:
            cost = client(self.new_run(), server.url)
        check_answers(server, load.count)
        return cost

    def best(self, *sides: Callable[[], Cost]) -> list[Cost]:
        """Run the sides in turn, as often as wanted, and return the best figures of each."""
        rounds = [[side() for side in sides] for _ in range(self.repetitions)]
        return [_best(costs) for costs in zip(*rounds, strict=True)]


def check_answers(server: MockServer, count: int) -> None:
    """Make sure that what was measured is the work: each question answered, and answered once.

    Raises:
        CommandError: the endpoint gave more or fewer answers.
    """
    if server.counts["ok"] != count:
        raise CommandError(f"{count} questions, but the endpoint counted {server.counts}")


def _best(costs: tuple[Cost, ...]) -> Cost:
    """Least time, as noise only adds to it; but the most memory."""
    return Cost(
        wall=min(cost.wall for cost in costs),
        cpu=min(cost.cpu for cost in costs),
        rss=max(cost.rss for cost in costs),
    )


def _logged(side: str, cost: Cost) -> Cost:
    logger.info("  %s: %.2f s wall, %.2f s CPU, %.0f MB", side, cost.wall, cost.cpu, cost.rss / 1e6)
    return cost
