"""Which files a data file may make us read: those under its own folder, the working directory, and allowed folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flagmm.errors import DataError
from flagmm.media.reading import shorten, stat_file, unusable


@dataclass(frozen=True)
class MediaPlaces:
    """Turns the paths of one data file into files that may be read."""

    near: Path
    """The folder of the data file, where a relative path is looked up first; the working directory comes second."""
    allowed: tuple[Path, ...] = ()
    """Folders that a path may lead into beside these two (`--allow-media-root`)."""

    def resolve(self, text: str) -> str:
        """Return the path of the file that `text` names; it is looked for, not opened.

        Links and `..` are followed before the path is judged.

        Raises:
            DataError: there is no such file, it is no regular file, or it lies outside of what may be read.
        """
        if not text.strip() or "\0" in text:
            raise unusable(shorten(text), "is no path")
        try:
            found = next((path for path in self._candidates(text) if os.path.exists(path)), None)
            self._refuse_outside(text, found or next(self._candidates(text)))
        except (OSError, ValueError) as error:  # such as a lone surrogate
            raise unusable(shorten(text), str(error)) from error
        if found is None:
            raise unusable(shorten(text), self._why_missing(text))
        stat_file(found)
        return found

    def _candidates(self, text: str) -> Iterator[str]:
        path = os.path.expanduser(text)
        yield os.path.join(self.near, path)  # which is `path` itself where that is absolute
        if not os.path.isabs(path):
            yield os.path.join(os.getcwd(), path)

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        return tuple(os.path.realpath(root) for root in (self.near, *self.allowed))

    def _refuse_outside(self, text: str, path: str) -> None:
        real = os.path.realpath(path)
        if any(_is_under(real, root) for root in (*self._roots, os.path.realpath(os.curdir))):
            return
        raise DataError(
            f"{shorten(text)}: {real} lies outside of the data's folder ({self.near}) and the working directory; "
            f"to read it, give --allow-media-root {os.path.dirname(real)}"
        )

    def _why_missing(self, text: str) -> str:
        if os.path.isabs(os.path.expanduser(text)):
            return "no such file"
        return f"no such file, neither in {self.near} nor in the working directory ({os.getcwd()})"


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
