"""Pictures in base64 -> files below `$LMUData/images/<table>`, each decoded once and kept byte for byte."""

from __future__ import annotations

import binascii
import logging
import os
from functools import cached_property
from pathlib import Path

from flagmm.dataset.tsv.image_cell import ImageCell, size_of
from flagmm.dataset.tsv.saved_notes import NOTES_NAME
from flagmm.errors import DataError, OutputError
from flagmm.jsonio import AtomicFile
from flagmm.media.reading import shorten
from flagmm.media.sniff import sniff_family, sniff_image
from flagmm.media.source import decode_base64, parse_data_uri
from flagmm.output_files import remove_strays
from flagmm.paths import safe_name
from flagmm.types import MediaSource

logger = logging.getLogger(__name__)

_MARKER = ".table"
_NOT_PICTURES = frozenset({_MARKER, NOTES_NAME})
_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/tiff": ".tif",
}
_OTHER_SUFFIX = ".bmp"  # the only other format that a browser saves


class PictureFiles:
    """The files of one table's pictures.

    A file is taken for a cell's picture without a look at its content where this table made it after the table's last
    change, in the size that the cell says. Any other file is compared with the cell. One that differs stays as it is,
    since other tools use the folder too, and the picture is then sent from the cell.
    """

    def __init__(self, folder: Path, table: Path) -> None:
        """`folder` need not exist."""
        self.folder = folder
        self._table = os.path.realpath(table)
        status = os.stat(table)
        self._since = max(status.st_mtime_ns, status.st_ctime_ns)
        self._told: set[str] = set()
        self._is_swept = False  # of what killed processes left, before the first picture is written

    def source(self, cell: ImageCell, *, stem: str, given_name: str | None = None) -> MediaSource:
        """The picture that a cell holds in base64; the cell is read only where its file does not do.

        Args:
            stem: the name of its file without the ending, which the content decides.
            given_name: a name that the table gives it; one that leads out of the folder is not taken.

        Raises:
            DataError: it is no picture in base64.
        """
        path = self._path(cell.head, stem, given_name)
        if self._is_known(path, cell.note.size):
            return MediaSource(path=str(path))
        data = _decode(cell.text)
        try:
            if sniff_family(data) is not None:  # else only a decoder tells whether it is a picture
                return self._stored(path, data)
        except (OSError, OutputError) as error:
            cause = error.__cause__ or error
            reason = getattr(cause, "strerror", None) or cause
            self._tell("space", f"{self.folder}: pictures cannot be kept as files ({reason})")
        return MediaSource(data=data, name=path.name)

    def _path(self, head: str, stem: str, given_name: str | None) -> Path:
        if given_name is not None:
            path = Path(os.path.normpath(self.folder / given_name))
            if path.is_relative_to(self.folder) and path != self.folder and path.name not in _NOT_PICTURES:
                return path
        return self.folder / f"{safe_name(stem)}{_suffix_of(head)}"

    def _is_known(self, path: Path, size: int) -> bool:
        try:
            status = path.stat()
        except OSError:
            return False
        return status.st_size == size and status.st_mtime_ns >= self._since and self._is_ours

    @cached_property
    def _is_ours(self) -> bool:
        """Whether the folder's files were made from this table; a folder without a marker gets one."""
        marker = self.folder / _MARKER
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(marker, "x", encoding="utf-8") as file:
                file.write(self._table)
        except FileExistsError:
            return marker.read_text(encoding="utf-8") == self._table
        except OSError:  # a folder that may only be read
            return False
        return True

    def _stored(self, path: Path, data: bytes) -> MediaSource:
        is_ours = self._is_ours
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            if not self._is_swept:
                self._is_swept = True
                remove_strays(self.folder)
            with AtomicFile(path, is_binary=True) as file:
                file.write(data)
        elif path.stat().st_size != len(data) or path.read_bytes() != data:
            self._tell("differ", f"{self.folder}: holds other pictures under names of this table's ({path.name})")
            return MediaSource(data=data, name=path.name)
        elif is_ours:
            os.utime(path)
        return MediaSource(path=str(path))

    def _tell(self, cause: str, text: str) -> None:
        if cause not in self._told:
            self._told.add(cause)
            logger.warning("%s; they are sent from the table (told once)", text)


def _decode(text: str) -> bytes:
    data = _decode_plain(text)
    if data is None:
        is_uri = text[:5].lower() == "data:"
        data = parse_data_uri(text).data if is_uri else decode_base64(text, shown=text)
    if not data or sniff_family(data) not in ("image", None):
        raise DataError(f"no picture in base64: {shorten(text)}")
    return data


def _decode_plain(text: str) -> bytes | None:
    """The bytes, four times as fast, where every character counts; None where some do not, or are no base64."""
    try:
        data = binascii.a2b_base64(text)
    except ValueError:  # binascii.Error is one
        return None
    return data if len(data) == size_of(text) else None


def _suffix_of(head: str) -> str:
    """The ending that the first characters of a cell make known."""
    payload = head.partition(",")[2] if head[:5].lower() == "data:" else head
    try:
        mime = sniff_image(decode_base64(payload[: len(payload) // 4 * 4], shown=head))
    except DataError:  # which decoding all of it will tell
        mime = None
    return _SUFFIXES.get(mime or "", _OTHER_SUFFIX)
