"""The real command as a process of its own, away from the environment and the files of whoever runs the tests."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.end_to_end.forking import ForkedProcess, ForkServer

_REMOVED = (
    "FLAGEVAL", "OPENAI", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "HF_", "PYTHONWARNINGS",
    "LMUDATA", "LMDEPLOY", "LOCAL_LLM", "EVAL_PROXY", "PRED_FORMAT", "SPLIT_THINK",
)  # fmt: skip
LONGEST = 60.0
"""Seconds after which a command is taken to hang."""

_AT_START = {"PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL", "LANG", "PYTHONWARNINGS", "PYTHONHASHSEED"}
"""Variables that Python reads before any code runs, so that a forked command would not heed them."""
REAL = [sys.executable, "-m", "flagmm"]
"""The command as a person starts it."""

_ONE_PROCESS = """
import contextlib, io, json, sys
from flagmm.cli import main

finished = []
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main(arguments)
    finished.append((status, out.getvalue(), err.getvalue()))
json.dump(finished, sys.stdout)
"""


def is_removed(name: str) -> bool:
    """Whether tests must not see this environment variable."""
    return name.upper().startswith(_REMOVED)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A command that has ended."""

    status: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def errors(self) -> list[str]:
        """The text of each line that was logged as an error."""
        return [line.partition(" ERROR ")[2] for line in self.stderr.splitlines() if " ERROR " in line]

    @property
    def warnings(self) -> list[str]:
        """The text of each line that was logged as a warning."""
        return [line.partition(" WARNING ")[2] for line in self.stderr.splitlines() if " WARNING " in line]


Process = ForkedProcess | subprocess.Popen[str]


@cache
def fork_server() -> ForkServer:
    """The one that this process of the tests uses."""
    server = ForkServer()
    atexit.register(server.close)
    return server


class Command:
    """Runs `flagevalmm` in a folder, which is also its home and holds its caches.

    A run is a forked child of a process that has imported flagmm, or, with `argv`, a process from its very start.

    Attributes:
        folder: the working directory of every run.
        argv: the program, before its arguments.
    """

    def __init__(self, folder: Path, argv: list[str] | None = None) -> None:
        self.folder = folder
        self.argv = argv or REAL
        self._is_forked = argv is None
        self._started: list[Process] = []

    def close(self) -> None:
        """Kill what a failed test left running."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def __call__(self, *arguments: object, timeout: float = LONGEST, **variables: str) -> Finished:
        """Run to the end; `variables` are added to the environment."""
        started = time.monotonic()
        process = self.start(*arguments, **variables)
        return self.wait(process, started=started, timeout=timeout)

    def together(self, runs: Mapping[str, Sequence[object]], **variables: str) -> dict[str, Finished]:
        """Run several commands that do not touch each other's files, two at a time; the results by the same names."""
        with ThreadPoolExecutor(max_workers=2) as pool:
            started = {name: pool.submit(self, *arguments, **variables) for name, arguments in runs.items()}
            return {name: run.result() for name, run in started.items()}

    def in_one_process(self, runs: Mapping[str, Sequence[object]]) -> dict[str, Finished]:
        """Run quick commands one after another in one process, since starting one takes longer than they do."""
        arguments = [list(map(str, run)) for run in runs.values()]
        done = subprocess.run(
            [sys.executable, "-c", _ONE_PROCESS],
            input=json.dumps(arguments),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            timeout=LONGEST,
        )
        assert done.returncode == 0, done.stderr
        return {
            name: Finished(status=status, stdout=stdout, stderr=stderr, seconds=0.0)
            for name, (status, stdout, stderr) in zip(runs, json.loads(done.stdout), strict=True)
        }

    def start(self, *arguments: object, **variables: str) -> Process:
        """Begin a run, to be waited for or killed by the caller."""
        environment = self.environment | variables
        process: Process
        if self._is_forked and not _AT_START & variables.keys():
            process = fork_server().start(list(map(str, arguments)), cwd=self.folder, env=environment)
        else:
            process = subprocess.Popen(
                [*self.argv, *map(str, arguments)],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        self._started.append(process)
        return process

    def watch(self, process: Process) -> None:
        """Have a process that was started otherwise killed, too, where a failed test leaves it running."""
        self._started.append(process)

    def wait(self, process: Process, *, started: float = 0.0, timeout: float = LONGEST) -> Finished:
        """Collect what a started run printed; one that hangs is killed and fails the test."""
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            raise AssertionError(f"still running after {timeout:g} s\n{stdout}\n{stderr}") from None
        seconds = time.monotonic() - started
        return Finished(status=process.returncode, stdout=stdout, stderr=stderr, seconds=seconds)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not is_removed(name)}
        own = {
            "HOME": str(self.folder / "home"),
            "FLAGEVALMM_CACHE": str(self.folder / "cache"),
            "HF_HOME": str(self.folder / "huggingface"),
            "HF_HUB_OFFLINE": "1",
        }
        return kept | own
