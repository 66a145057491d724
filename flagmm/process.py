"""Whose process this is: the command's own, or that of a script or notebook that calls us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
