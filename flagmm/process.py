"""This process: whose it is, its standard streams, and how many files it may open."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_RESERVED_FILES = 160
"""Open files beside those of calls: media being read, fetched or decoded by the threads, caches, the run's own."""

_is_own: ContextVar[bool] = ContextVar("is_own_process", default=False)


@contextmanager
def own_process() -> Iterator[None]:
    """Say that nothing but this command runs in the process meanwhile, so that it may be ended at once."""
    token = _is_own.set(True)
    try:
        yield
    finally:
        _is_own.reset(token)


def is_own_process() -> bool:
    """Whether the process may be ended at once."""
    return _is_own.get()


def open_closed_streams() -> None:
    """Open the null device in the place of a standard stream that was closed, as by `>&-`.

    What is printed there goes nowhere. No file that is opened later gets the stream's number, and with it what other
    programs print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free, which is this
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115  # to the end
            setattr(sys, name, stream)


def room_for_calls(wanted: int) -> int:
    """How many calls may be under way at once, each with a connection of its own, before files run out.

    The limit of open files is raised as far as that needs and the system allows.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    used = _open_files()
    needed = used + wanted + _RESERVED_FILES
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if raised > soft:
        with suppress(OSError, ValueError):  # a system that allows less than it says; the old limit holds
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(1, min(wanted, soft - used - min(_RESERVED_FILES, soft // 2)))


def _open_files() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(os.listdir(folder))
    return _RESERVED_FILES
