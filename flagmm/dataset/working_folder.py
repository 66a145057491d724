"""Where a process.py works: a folder that outlives a start which broke off, and knows the downloads of earlier splits.

For the data set `<cache>/<name>` it is `<cache>/<name>.partial`, the same for each start and each split. The next start
goes on with what is in it, unless that was made of another `dataset_path`. What process.py has put beside its splits,
such as archives, is kept in the data set's own folder, and is there again when another split is prepared.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagmm.dataset.annotations import annotation_paths
from flagmm.errors import DataError
from flagmm.jsonio import read_json, write_json

logger = logging.getLogger(__name__)

_PARTIAL, _SHARED = "partial", "shared"
_SUFFIX = ".partial"


class WorkingFolder:
    """The working folder of one data set; whoever uses it holds the data set's lock.

    Args:
        home: the folder of the data set, which holds those of its splits.
        root: the folder of the split that is made, in `home` or the same.
        anno_file: its annotation files.
        source: the `dataset_path` that it is made of.

    Attributes:
        path: what process.py gets as `processed_dataset_path`.
        made: where it is to put the split.
        went_on: whether there was something of an earlier start.
    """

    def __init__(self, home: Path, root: Path, *, anno_file: str | Sequence[str] | None, source: str) -> None:
        self.path = home.with_name(f"{home.name}{_SUFFIX}")
        self.made = self.path / root.relative_to(home)
        self.went_on = False
        self._home, self._root, self._source = home, root, source
        self._anno_file = anno_file
        self._note = home.with_name(f".{home.name}.sources.json")
        self._dropped: set[Path] = set()

    def open(self, *, anew: bool) -> None:
        """Make it ready for a start.

        Args:
            anew: forget what earlier starts left, and what is shared.
        """
        self._clear_remains()
        sources = self._sources()
        if anew or sources.get(_PARTIAL) != self._source:
            _remove(self.path)
        self.went_on = self._holds_files()
        write_json(self._note, {_PARTIAL: self._source, _SHARED: sources.get(_SHARED)})
        self.path.mkdir(exist_ok=True)
        if self.went_on:
            logger.info("going on with what an earlier start left in %s (--reprocess starts anew)", self.path)
            for path in annotation_paths(self.made, self._anno_file):
                path.unlink(missing_ok=True)  # perhaps torn, and process.py may take it for a sign that all is done
        if not anew and self._root != self._home and sources.get(_SHARED) in (None, self._source):
            self._lend(self._home)

    def drop(self, path: Path) -> bool:
        """Remove a folder that process.py insists on making itself; False where that cannot help it."""
        if not self.went_on or path in self._dropped or self.path not in path.parents or not path.is_dir():
            return False
        logger.info("%s: process.py wants to make it anew, so what an earlier start left in it is removed", path)
        self._dropped.add(path)
        _remove(path)
        return True

    def put_in_place(self, *, anew: bool) -> None:
        """Move the split to its place, and what lies beside it, too; then the working folder is gone.

        Args:
            anew: let what is shared take the place of what is there under the same name.
        """
        is_shared = self.made != self.path and self._give(self.path, replaces=anew)
        aside = self._home.with_name(f".{self._home.name}.replaced")
        if self._root.exists():
            os.rename(self._root, aside)
        self._root.parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.made, self._root)
        _remove(aside)
        self._end(self._source if is_shared else None)

    def keep(self) -> bool:
        """Leave it to the next start; False where there is nothing to leave, and it is gone."""
        if self._holds_files():
            return True
        self._end(self._sources().get(_SHARED))
        return False

    def _end(self, shared: Any) -> None:
        _remove(self.path)
        if shared is None:
            self._note.unlink(missing_ok=True)
        else:
            write_json(self._note, {_SHARED: shared})

    def _holds_files(self) -> bool:
        return any(files for _, _, files in os.walk(self.path))

    def _sources(self) -> dict[str, Any]:
        """The `dataset_path` of what is in the working folder, and of what is shared."""
        if not self._note.exists():
            return {}
        try:
            sources = read_json(self._note)
        except DataError as error:  # nobody knows then of what the working folder was made
            logger.warning("%s; the preparation starts anew", error)
            return {}
        return sources if isinstance(sources, dict) else {}

    def _clear_remains(self) -> None:
        """Remove what a start that was killed while it moved folders has left, and earlier versions of this."""
        for pattern in ("preparing-*", "replaced", "replaced-*"):
            for path in self._home.parent.glob(f".{self._home.name}.{pattern}"):
                _remove(path)

    def _lend(self, folder: Path) -> None:
        """Let the working folder have what lies beside the splits, without copying it."""
        for entry in os.scandir(folder) if folder.is_dir() else ():
            path = Path(entry.path)
            target = self.path / path.relative_to(self._home)
            if path == self._root or self._is_data_set(path) or path.suffix == _SUFFIX:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._lend(path)
            elif not os.path.lexists(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(path, target)

    def _give(self, folder: Path, *, replaces: bool) -> bool:
        """Move what lies beside the split to the data set's folder; whether any of it is no data set itself."""
        is_shared = False
        for path in sorted(folder.iterdir()):
            if path == self.made:
                continue
            target = self._home / path.relative_to(self.path)
            is_data_set = self._is_data_set(path)
            if path in self.made.parents or (path.is_dir() and target.is_dir()):
                is_shared |= self._give(path, replaces=replaces and not is_data_set) and not is_data_set
                continue
            is_shared |= not is_data_set
            if replaces or not os.path.lexists(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, target)
        return is_shared

    def _is_data_set(self, folder: Path) -> bool:
        return folder.is_dir() and all(path.is_file() for path in annotation_paths(folder, self._anno_file))


def _link(path: Path, target: Path) -> None:
    if path.is_symlink():
        os.symlink(os.readlink(path), target)
        return
    try:
        os.link(path, target)
    except OSError:  # a file system without links, where the same costs room
        shutil.copy2(path, target)


def _remove(path: Path) -> None:
    """Remove a folder with all in it; one that is not there is fine."""
    if path.is_dir():
        shutil.rmtree(path)
