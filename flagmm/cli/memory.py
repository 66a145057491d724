"""Give memory back when it is no longer needed."""

from __future__ import annotations

_MMAP_THRESHOLD = -3  # glibc's M_MMAP_THRESHOLD
_LARGE_BYTES = 128 * 1024


def give_back_large_blocks() -> None:
    """Let the C library give every block that could hold a picture back to the system as soon as it is freed.

    By default glibc keeps such blocks once it has seen one of their size, and loses them between smaller ones: memory
    would grow with the number of questions. Other C libraries have no such setting and need none.
    """
    import ctypes

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    set_option(_MMAP_THRESHOLD, _LARGE_BYTES)
