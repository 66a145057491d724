"""The bytes of a medium, or a `DataError` of one line that names it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from flagmm.errors import DataError, FlagMMError
from flagmm.types import MediaSource

MAX_FILE_BYTES = 1 << 30
"""No single medium that is read whole is larger; a wrong path must not fill the memory."""
_BLOCK_BYTES = 3 << 20
"""A multiple of 3, so that blocks can be put into base64 one by one."""
_LONGEST_REASON = 200
_SHOWN_CHARACTERS = 60


def unusable(label: str, reason: str) -> DataError:
    """Return the error for one medium, in one line whatever its name and the reason hold."""
    text = " ".join(reason.split())
    if len(text) > _LONGEST_REASON:
        text = f"{text[:_LONGEST_REASON]}…"
    return DataError(f"{label.encode('unicode_escape').decode() if not label.isprintable() else label}: {text}")


def shorten(text: str) -> str:
    """Return a value that may be very long as messages show it, in quotes."""
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return repr(shown)


@contextmanager
def blaming(label: str, fault: str) -> Iterator[None]:
    """Turn what is raised inside into a `DataError` naming `label`; `fault` says what a decoder's error means."""
    try:
        yield
    except DataError as error:
        raise unusable(label, str(error)) from error
    except FlagMMError:
        raise
    except Exception as error:  # a decoder fed hostile bytes raises whatever it likes
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise unusable(label, f"{fault} ({reason})") from error


def stat_file(path: str) -> os.stat_result:
    """Return the stat of a regular file; anything else is refused, since reading a pipe may never end."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        raise unusable(path, _reason(error)) from error
    if stat.S_ISDIR(found.st_mode):
        raise unusable(path, "is a directory, not a file")
    if not stat.S_ISREG(found.st_mode):
        raise unusable(path, "is not a regular file")
    return found


def read_file(path: str) -> bytes:
    """Return the content of one file, which must not be empty."""
    _refuse_size(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise unusable(path, _reason(error)) from error
    if not data:
        raise unusable(path, "is empty")
    return data


def read_blocks(source: MediaSource) -> Iterator[bytes]:
    """Yield the bytes of a file piece by piece, those of a source in memory at once; raises as `read_source`."""
    if source.path is None:
        yield read_source(source)
        return
    _refuse_size(source.path)
    try:
        with open(source.path, "rb") as file:
            block = file.read(_BLOCK_BYTES)
            if not block:
                raise unusable(source.path, "is empty")
            while block:
                yield block
                block = file.read(_BLOCK_BYTES)
    except OSError as error:
        raise unusable(source.path, _reason(error)) from error


def _refuse_size(path: str) -> None:
    size = stat_file(path).st_size
    if size > MAX_FILE_BYTES:
        raise unusable(path, f"is too large ({size} bytes; at most {MAX_FILE_BYTES} are read)")


def read_source(source: MediaSource) -> bytes:
    """Return the bytes of a file or of a source in memory.

    Raises:
        DataError: there is nothing to read.
        ValueError: the source is a URL; those are sent as they are, never read.
    """
    if source.path is not None:
        return read_file(source.path)
    if source.data is None:
        raise ValueError(f"only a file or bytes can be read, not {source.label}")
    if not source.data:
        raise unusable(source.label, "is empty")
    return source.data


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
