"""Files that are written: no link is followed, locks stay where they are, and what a killed process left is known.

Temporary files are locked while they are written, so that a stray one can be told from one in use by its lock alone,
on whatever machine its process runs.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flagmm.errors import OutputError

logger = logging.getLogger(__name__)

_TEMPORARY = re.compile(r"\..+\.\d+(\.\d+)?\.tmp")
_OLD_LINK_SECONDS = 60.0
"""Age of a temporary link, which cannot be locked, from which on it is stray; it is used within microseconds."""


def open_plain(path: Path, flags: int) -> int:
    """A descriptor of a plain file, made where `flags` have O_CREAT; nothing is waited for, and no link followed.

    Raises:
        OSError: as of `os.open`; or a link, a pipe or a device is there, which `strerror` tells.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if os.path.islink(path):
            raise _link(path, error.errno) from None
        if error.errno == errno.ENXIO:
            raise _no_file(path) from None
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _no_file(path)


def check_plain_file(path: Path) -> None:
    """Refuse a name that others are to open for writing, as SQLite does, where it is no plain file's.

    Raises:
        OSError: a link, a folder, a pipe or a device is there.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise _link(path, errno.ELOOP)
    if not stat.S_ISREG(mode):
        raise _no_file(path)


def _link(path: Path, number: int | None) -> OSError:
    return OSError(number, "it is a symbolic link, which is not followed; remove it", str(path))


def _no_file(path: Path) -> OSError:
    return OSError(errno.EINVAL, "something that is no file has its name; remove it", str(path))


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Keep others out who lock the same file; the lock ends with the process, however that ends.

    The file is empty, and stays when the lock is given back: one who waits with the old file open, and one who makes
    a new file, would both get in.

    Raises:
        BlockingIOError: another has it, and `wait` is False.
        OutputError: the file cannot be opened.
    """
    try:
        descriptor = _lock(path, wait=wait)
    except BlockingIOError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        os.close(descriptor)


def _lock(path: Path, *, wait: bool) -> int:
    while True:
        descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
        try:
            _flock(descriptor, path, wait=wait)
            if is_at(descriptor, path):  # else it was removed meanwhile, and another may have a new one
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _flock(descriptor: int, path: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise
        logger.info("%s: another process has it; waiting", path)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def temporary_path(path: Path) -> Path:
    """What a file is called, beside its place, until it is whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_native_id()}.tmp")


def create_temporary(path: Path) -> int:
    """A descriptor of a new and locked file at a `temporary_path`; what a killed process left of that name goes."""
    while True:
        with suppress(FileNotFoundError):
            os.unlink(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # a file system without locks, where strays cannot be told and stay
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:  # else `remove_strays` was between the two
            return descriptor
        os.close(descriptor)


def remove_strays(folder: Path) -> None:
    """Remove the temporary files and links that killed processes left in a folder; one in use stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError):  # of another person, or gone by itself
                    _remove_stray(entry)


def _remove_stray(entry: os.DirEntry[str]) -> None:
    if entry.is_symlink():
        if time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_LINK_SECONDS:
            os.unlink(entry.path)
        return
    descriptor = open_plain(Path(entry.path), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(descriptor, Path(entry.path)):
            os.unlink(entry.path)
    finally:
        os.close(descriptor)
