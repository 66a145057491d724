"""Run a command and say what it cost: seconds on the wall, seconds of CPU, peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in, in bytes
TIMEOUT = 1800.0  # seconds
LOG_TAIL = 2000  # characters of a failed command's output that the error shows


class CommandError(RuntimeError):
    """A measured command failed, so its figures mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    wall: float
    """Seconds from start to end."""
    cpu: float
    """Seconds of user and system time, children that were waited for included."""
    rss: int
    """Bytes of the largest process at its largest. Never less than the size of the process that measures, which
    must therefore stay small: Linux counts what the new process was before it became the command."""


def measure(command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> Cost:
    """Run `command` in the folder of `log`, its output going there.

    Raises:
        CommandError: it did not exit with 0, or was killed after `TIMEOUT`.
    """
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env, cwd=log.parent
        )
        killer = threading.Timer(TIMEOUT, process.kill)
        killer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # an interrupt, too, must not leave the command behind
            process.kill()
            process.wait()
            raise
        finally:
            killer.cancel()
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)  # tells Popen that nothing is left to wait for
    if process.returncode != 0:
        tail = log.read_text(errors="replace")[-LOG_TAIL:]
        raise CommandError(f"exit status {process.returncode} from {' '.join(command)}\n{tail}")
    return Cost(wall=wall, cpu=usage.ru_utime + usage.ru_stime, rss=usage.ru_maxrss * RSS_UNIT)
