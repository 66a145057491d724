"""Give memory back to the system once it is free; nothing happens where the C library is not glibc."""

from __future__ import annotations

from typing import Any

_ARENA_MAX = -8  # glibc's M_ARENA_MAX


def use_one_arena() -> None:
    """Let all threads take their memory from one place; to be called before there are threads.

    By default each has one of its own, which keeps the blocks of pictures that it freed: memory would grow with the
    number of questions.
    """
    library = _glibc()
    if library is not None:
        library.mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Give back what is free at the moment."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def _glibc() -> Any:
    import ctypes

    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
    except (OSError, TypeError):
        return None
