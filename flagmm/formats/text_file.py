"""A large UTF-8 text file that stays open and is read by position, from any thread."""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path
from typing import NamedTuple

from flagmm.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class FileVersion(NamedTuple):
    """What differs after a change of a file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    """Of the last change of its status, which no tool sets back as it may `mtime`."""


class TextFile:
    """The bytes of a file, read a piece at a time.

    Attributes:
        path: the file.
        version: of the file when it was opened.
        start: where the text begins; a byte order mark comes before it.
        size: where it ends.
    """

    def __init__(self, path: Path) -> None:
        """Open the file; `DataError` where there is none, or it cannot hold UTF-8 text."""
        self.path = path
        check_regular_file(path)
        try:
            self._descriptor = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        weakref.finalize(self, os.close, self._descriptor)
        self.version = self._current_version()
        self.size = self.version.size
        head = self.read(0, min(self.size, len(_BYTE_ORDER_MARK)))
        if head.startswith(_UTF16_MARKS):
            raise DataError(f"{path}: UTF-16 text; save it as UTF-8")
        self.start = len(_BYTE_ORDER_MARK) if head == _BYTE_ORDER_MARK else 0

    def read(self, position: int, length: int) -> bytes:
        """The `length` bytes at `position`; `DataError` where the file was changed since it was opened."""
        pieces = []
        while length > 0:
            piece = self._pread(position, length)
            pieces.append(piece)
            position += len(piece)
            length -= len(piece)
        if self._current_version()[:2] != self.version[:2]:  # a link or a right given meanwhile changes no text
            self._fail_changed()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _pread(self, position: int, length: int) -> bytes:
        try:
            piece = os.pread(self._descriptor, length, position)
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror or error}") from None
        if not piece:
            self._fail_changed()
        return piece

    def _current_version(self) -> FileVersion:
        status = os.fstat(self._descriptor)
        return FileVersion(status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def _fail_changed(self) -> None:
        raise DataError(f"{self.path}: the file was changed while it was in use; start again")


def check_regular_file(path: Path) -> None:
    """Raise `DataError` where there is no file, or a pipe, whose opening would wait for a writer."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(mode):
        raise DataError(f"{path}: no regular file")
