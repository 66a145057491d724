"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

_LONGEST = 30.0
_STEP = 0.02


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Return as soon as `holds()` is true; a test that waits in vain fails with `what`."""
    end = time.monotonic() + _LONGEST
    while not holds():
        assert time.monotonic() < end, f"waited {_LONGEST:g} s in vain: {what}"
        time.sleep(_STEP)


def wait_for_lines(path: Path, count: int) -> None:
    """Wait until a file has so many whole lines."""
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, f"{count} lines in {path}")
