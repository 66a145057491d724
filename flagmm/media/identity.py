"""What tells one media file from another."""

from __future__ import annotations

import hashlib
import threading

from flagmm.media.reading import stat_file, unusable
from flagmm.types import MediaIdentity

_BLOCK_BYTES = 1 << 19


def identify(path: str, known: MediaIdentity | None = None) -> MediaIdentity:
    """Return the identity of a file; `known` is returned, the file unread, while its size and time hold.

    Raises:
        DataError: the file is missing, no regular file, or cannot be read.
    """
    found = stat_file(path)
    if known is not None and (found.st_size, found.st_mtime_ns) == (known.size, known.mtime_ns):
        return known
    return MediaIdentity(size=found.st_size, mtime_ns=found.st_mtime_ns, digest=_digest(path))


def identify_bytes(data: bytes) -> MediaIdentity:
    """Return the identity of a medium in memory; it has no time of change, so that is 0."""
    return MediaIdentity(size=len(data), mtime_ns=0, digest=hashlib.sha256(data).hexdigest())


class _Buffer(threading.local):
    """One block for each thread, as a new one for each file would cost as much as reading the file."""

    def __init__(self) -> None:
        self.block = memoryview(bytearray(_BLOCK_BYTES))


_buffer = _Buffer()


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    block = _buffer.block
    try:
        with open(path, "rb", buffering=0) as file:
            while length := file.readinto(block):
                digest.update(block[:length])
    except OSError as error:
        raise unusable(path, error.strerror or str(error)) from error
    return digest.hexdigest()
