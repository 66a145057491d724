"""Which files a data file may make us read: those under its own folder and in folders that a person allows."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from flagmm.errors import DataError
from flagmm.media.reading import shorten, stat_file, unusable

_SNAPSHOTS, _BLOBS = "snapshots", "blobs"
_KEPT_FOLDERS = 1024


class MediaRoots:
    """Folders, and what lies in them once links and `..` are followed.

    A folder in a cache of HuggingFace's, `<repository>/snapshots/<revision>`, holds links into `<repository>/blobs`,
    which is therefore one of them, too.

    Attributes:
        folders: where links and `..` may lead; a folder may itself be reached by a link.
    """

    def __init__(self, folders: Sequence[str | os.PathLike[str]]) -> None:
        real = [os.path.realpath(os.path.expanduser(folder)) for folder in folders]
        self.folders = tuple(dict.fromkeys([*real, *filter(None, map(_blobs_of, real))]))
        # Most files share a few folders, whose links are then followed once.
        self._real_folder = lru_cache(maxsize=_KEPT_FOLDERS)(os.path.realpath)

    def hold(self, path: str) -> bool:
        """Whether a file, there or not, lies in one of the folders."""
        return self._hold_real(self._real(path))

    def _real(self, path: str) -> str:
        folder, name = os.path.split(path)
        if not os.path.isabs(folder) or name in ("", os.curdir, os.pardir):
            return os.path.realpath(path)
        found = os.path.join(self._real_folder(folder), name)
        try:
            is_link = stat.S_ISLNK(os.lstat(found).st_mode)
        except OSError:  # no such file
            return found
        return os.path.realpath(found) if is_link else found

    def check(self, text: str, path: str, *, of: str) -> None:
        """Refuse a file outside.

        Args:
            text: how the data file names it, as errors show it.
            path: where that leads, from the working directory.
            of: the folders in words, as errors name them.

        Raises:
            DataError: it lies outside; the message names the flag and the folder that allow it.
        """
        real = self._real(path)
        if not self._hold_real(real):
            raise DataError(f"{shorten(text)}: {real} lies outside of {of}; {self.advice(path)}")

    def advice(self, path: str) -> str:
        """What a person can do to have a file read that lies outside."""
        return f"to read it, give --allow-media-root {self._folder_to_allow(path)}"

    def _hold_real(self, real: str) -> bool:
        return any(_is_under(real, folder) for folder in self.folders)

    def _folder_to_allow(self, path: str) -> str:
        """The folder that the first link on the way that leads outside stands for, else the file's own."""
        parts = Path(os.path.abspath(path)).parts
        for end in range(2, len(parts)):
            folder = os.path.join(*parts[:end])
            if self._hold_real(os.path.dirname(folder)) and os.path.islink(folder) and not self.hold(folder):
                return os.path.realpath(folder)
        return os.path.dirname(os.path.realpath(path))


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
    def _roots(self) -> MediaRoots:
        return MediaRoots((self.near, *self.allowed))

    def _refuse_outside(self, text: str, path: str) -> None:
        if not MediaRoots((os.curdir,)).hold(path):
            self._roots.check(text, path, of=f"the data's folder ({self.near}) and the working directory")

    def _why_missing(self, text: str) -> str:
        if os.path.isabs(os.path.expanduser(text)):
            return "no such file"
        return f"no such file, neither in {self.near} nor in the working directory ({os.getcwd()})"


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _blobs_of(folder: str) -> str | None:
    """Where the links of a snapshot in HuggingFace's cache lead; None for any other folder."""
    before, found, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}{_SNAPSHOTS}{os.sep}")
    blobs = os.path.join(before, _BLOBS)
    return blobs if found and os.path.isdir(blobs) else None
