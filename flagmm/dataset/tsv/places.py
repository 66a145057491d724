"""VLMEvalKit's data folder: a table by its name, and where the paths in a table lead."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flagmm.config.env import lmu_data_dir
from flagmm.dataset.tsv.download import download, is_sound
from flagmm.errors import ConfigError, DataError, OutputError
from flagmm.media.places import MediaRoots
from flagmm.media.reading import shorten, stat_file, unusable
from flagmm.media.source import is_url
from flagmm.output_files import locked
from flagmm.types import MediaSource

logger = logging.getLogger(__name__)

_SUFFIX = ".tsv"


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Which table a person asks for."""

    dataset: str
    """Its name in `$LMUData`, without the ending."""
    data_root: str | None = None
    """Instead of it a table's path, a folder that holds it, or another name."""
    url: str | None = None
    """Where to download it from; the name is then that of the URL."""
    md5: str | None = None


def find_table(request: TableRequest) -> Path:
    """The table, downloaded where it is not there or has another MD5.

    Raises:
        ConfigError: `url` and `data_root` contradict each other.
        DataError: there is none; tells what was looked for. Or the download failed.
        OutputError: the download cannot be written.
    """
    if request.url is not None:
        return _downloaded(request, request.url)
    found = _existing(request)
    if request.md5 is not None and not is_sound(found, request.md5):
        raise DataError(f"{found}: its MD5 is not {request.md5}; get the right table, or correct md5")
    return found


def _existing(request: TableRequest) -> Path:
    root = request.data_root
    candidates = [lmu_data_dir() / f"{request.dataset}{_SUFFIX}"]
    if root is not None:
        path = Path(root).expanduser()
        if path.is_file():
            return path
        candidates = [path / f"{request.dataset}{_SUFFIX}"]
        if not path.is_dir():
            candidates = [path.with_name(path.name + _SUFFIX)] if path.suffix != _SUFFIX else [path]
            candidates += [lmu_data_dir() / candidates[0].name] if path.name == root else []
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        looked = " nor ".join(map(str, candidates))
        raise DataError(f"no table {looked}; put it there, or give --data-root TABLE.tsv")
    return found


def _downloaded(request: TableRequest, url: str) -> Path:
    if request.data_root is not None:
        raise ConfigError("dataset: data_root and url are both given; leave out url for a table that you have")
    if not is_url(url):
        raise ConfigError(f"dataset: url: expected an http or https URL, found {url!r}")
    name = os.path.basename(url.partition("?")[0].partition("#")[0]) or f"{request.dataset}{_SUFFIX}"
    path = lmu_data_dir() / name
    _make_folder(path.parent)
    if not _is_wanted(path, request.md5):
        _download_alone(url, path, request.md5)
    return path


def _download_alone(url: str, path: Path, md5: str | None) -> None:
    """Download unless another process has done so meanwhile."""
    with locked(path.with_name(f".{path.name}.lock")):
        if not _is_wanted(path, md5):
            download(url, path, md5=md5)


def _is_wanted(path: Path, md5: str | None) -> bool:
    if not path.is_file():
        return False
    if md5 is None or is_sound(path, md5):
        return True
    logger.warning("%s: its MD5 is not %s; it is downloaded again", path, md5)
    return False


def pictures_folder(table: Path) -> Path:
    """Where the pictures of a table are kept, and where its relative paths start: `$LMUData/images/<table>`.

    Raises:
        OutputError: `$LMUData` is not there and cannot be made.
    """
    _make_folder(lmu_data_dir())
    return lmu_data_dir().resolve() / "images" / table.stem


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"LMUData: {folder}: {error.strerror or error}; set LMUData to a folder that can be made"
        ) from None


class TablePlaces:
    """Turns the paths of one table into files that may be read."""

    def __init__(
        self, table: Path, pictures: Path, *, further: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> None:
        """Look in `pictures`, then beside the table.

        Args:
            further: folders beside the table that are looked in last, by name.
            allowed: folders that `..` and links may lead into (`--allow-media-root`), beside the table's own and
                `$LMUData`.
        """
        self._table = table
        beside = table.resolve().parent
        self.folders = (pictures, beside, *(beside / name for name in further))
        self._own = MediaRoots((pictures, beside, lmu_data_dir()))
        self._allowed = MediaRoots(allowed)
        self._told = False

    def locate(self, text: str, *, endings: Sequence[str] = ("",)) -> MediaSource:
        """What a path leads to: a URL, a file by its absolute path, or one below the first folder that has it.

        A relative path may not lead out of that folder, neither by `..` nor by a link, unless into an allowed one.

        Raises:
            DataError: there is no such file, or it is elsewhere.
        """
        if is_url(text):
            return MediaSource(url=text)
        if not text.strip() or "\0" in text:
            raise unusable(shorten(text), "is no path")
        path = Path(text).expanduser()
        if path.is_absolute():
            stat_file(str(path))
            self._tell_of(str(path))
            return MediaSource(path=str(path))
        outside: str | None = None
        for folder in self.folders:
            for ending in endings:
                found = os.path.normpath(os.path.join(folder, f"{text}{ending}"))
                if not os.path.exists(found):
                    continue
                if self._may_be_read(found, folder):
                    stat_file(found)
                    return MediaSource(path=found)
                outside = outside or found
        looked = f"no such file, neither in {' nor in '.join(map(str, self.folders))}"
        if outside is not None:
            place = os.path.realpath(outside)
            looked += f"; the path leads outside of these, to {place}; {self._own.advice(outside)}"
        raise DataError(f"{shorten(text)}: {looked}")

    def _may_be_read(self, path: str, folder: Path) -> bool:
        is_inside = path.startswith(os.path.normpath(folder).rstrip(os.sep) + os.sep)
        return (is_inside and self._own.hold(path)) or self._allowed.hold(path)

    def _tell_of(self, path: str) -> None:
        """Say once that the table has files read from elsewhere, as its format lets it."""
        if self._told or self._own.hold(path) or self._allowed.hold(path):
            return
        self._told = True
        logger.info(
            "%s: names files elsewhere by absolute paths, which are read, the first is %s (told once)",
            self._table,
            path,
        )
