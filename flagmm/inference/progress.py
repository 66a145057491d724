"""How far the asking is: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, Protocol

from flagmm.printable import printable
from flagmm.types import Prediction

logger = logging.getLogger(__name__)

_LINE_SECONDS = 10.0


class Progress(Protocol):
    """A display of one task's calls after another's."""

    def start(self, task: str, total: int, done: int) -> None:
        """Begin; `done` of the `total` calls were answered by an earlier run."""

    def advance(self, prediction: Prediction) -> None:
        """One call is over, well or not."""

    def finish(self) -> None:
        """End the display of this task."""


class SilentProgress:
    """Shows nothing."""

    def start(self, task: str, total: int, done: int) -> None:
        return None

    def advance(self, prediction: Prediction) -> None:
        return None

    def finish(self) -> None:
        return None


class LineProgress:
    """A plain line every few seconds: done, failed, rate, time left."""

    def start(self, task: str, total: int, done: int) -> None:
        self._task, self._total, self._before = task, total, done
        self._asked = self._failed = 0
        self._started = self._shown = time.monotonic()

    def advance(self, prediction: Prediction) -> None:
        self._asked += 1
        self._failed += prediction.status == "failed"
        if time.monotonic() - self._shown >= _LINE_SECONDS:
            self._shown = time.monotonic()
            self._line()

    def finish(self) -> None:
        self._line()

    def _line(self) -> None:
        seconds = time.monotonic() - self._started
        rate = self._asked / seconds if seconds else 0.0
        open_calls = self._total - self._before - self._asked
        left = f", {open_calls / rate:.0f} s left" if rate and open_calls else ""
        before = f" ({self._before} from before)" if self._before else ""
        done = self._before + self._asked
        logger.info(
            "%s: %d/%d done%s, %d failed, %.1f/s%s", self._task, done, self._total, before, self._failed, rate, left
        )


class BarProgress:
    """A tqdm bar."""

    def start(self, task: str, total: int, done: int) -> None:
        from tqdm import tqdm

        self._failed = 0
        self._bar: Any = tqdm(
            total=total, initial=done, desc=printable(task), unit="q", dynamic_ncols=True, file=sys.stderr
        )

    def advance(self, prediction: Prediction) -> None:
        if prediction.status == "failed":
            self._failed += 1
            self._bar.set_postfix(failed=self._failed, refresh=False)
        self._bar.update()

    def finish(self) -> None:
        self._bar.close()


def make_progress(*, quiet: bool) -> Progress:
    """The display that fits where stderr goes."""
    if quiet:
        return SilentProgress()
    return BarProgress() if sys.stderr.isatty() else LineProgress()
