"""Any value that names or holds a picture, video or sound, turned into a `MediaSource`."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from flagmm.errors import DataError
from flagmm.media.reading import blaming
from flagmm.media.sniff import sniff_image
from flagmm.types import MediaSource

if TYPE_CHECKING:
    from PIL import Image

_DATA_URI = re.compile(r"data:(?P<mime>[^;,]*)(?P<options>[^,]*),", re.IGNORECASE)
_URL = re.compile(r"https?://", re.IGNORECASE)
_LONGEST_PATH = 4096
_SHORTEST_BARE_JPEG = 128
_HEAD_CHARACTERS = 16
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, kw_only=True)
class DataUri:
    """What a data URI holds."""

    mime: str
    """As the URI declares it; where it declares none, as the bytes say, else `text/plain`."""
    data: bytes


def to_source(value: Any, *, root: str | None) -> MediaSource:
    """Return where the medium is that `value` stands for; no file is opened.

    Args:
        value: a path, an http(s) URL, a data URI, a picture in base64, bytes, a PIL image, or a mapping with
            `bytes` and `path` as HuggingFace data sets hold it.
        root: folder that a relative path starts from; None means the working directory.

    Raises:
        DataError: the value is empty, broken, or of another type.
    """
    if isinstance(value, str):
        return _source_of_text(value, root=root)
    if isinstance(value, os.PathLike):
        return _source_of_path(os.fsdecode(value), root=root)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _source_of_bytes(bytes(value))
    if isinstance(value, dict):
        return _source_of_mapping(value, root=root)
    if value is None:
        raise DataError("no image, video or audio: the value is null")
    return _source_of_object(value)


def parse_data_uri(text: str) -> DataUri:
    """Return what a data URI, or the bare base64 of a picture, holds.

    Raises:
        DataError: it is neither, or its base64 is broken.
    """
    head = _DATA_URI.match(text)
    if head is None:
        data = _decode_base64(text, shown=text)
        mime = sniff_image(data)
        if mime is None:
            raise DataError(f"neither a data URI nor a picture in base64: {_shorten(text)}")
        return DataUri(mime=mime, data=data)
    payload = text[head.end() :]
    if head["options"].lower().rstrip().endswith(";base64"):
        if "%" in payload:
            payload = unquote_to_bytes(payload).decode("latin-1")
        data = _decode_base64(payload, shown=text)
    else:
        data = unquote_to_bytes(payload)
    if not data:
        raise DataError(f"a data URI without data: {_shorten(text)}")
    return DataUri(mime=head["mime"].strip().lower() or sniff_image(data) or "text/plain", data=data)


def _source_of_text(text: str, *, root: str | None) -> MediaSource:
    stripped = text.strip()
    if not stripped:
        raise DataError("no image, video or audio: the value is an empty string")
    if _URL.match(stripped):
        return MediaSource(url=stripped)
    if stripped[:5].lower() == "data:" or _is_bare_base64(stripped):
        return MediaSource(data=parse_data_uri(stripped).data)
    return _source_of_path(text, root=root)


def _source_of_path(path: str, *, root: str | None) -> MediaSource:
    if len(path) > _LONGEST_PATH or "\0" in path:
        raise DataError(f"no path, URL, data URI or picture in base64: {_shorten(path)}")
    return MediaSource(path=os.path.join(root or "", os.path.expanduser(path)))


def _source_of_bytes(data: bytes) -> MediaSource:
    if not data:
        raise DataError("no image, video or audio: the bytes are empty")
    return MediaSource(data=data)


def _source_of_mapping(value: dict[Any, Any], *, root: str | None) -> MediaSource:
    inner = value.get("bytes") if value.get("bytes") is not None else value.get("path")
    if isinstance(inner, (str, bytes, os.PathLike)):
        return to_source(inner, root=root)
    keys = ", ".join(repr(key) for key in value)
    raise DataError(f"no image, video or audio: neither 'bytes' nor 'path' has a value (keys: {_shorten(keys)})")


def _source_of_object(value: Any) -> MediaSource:
    from PIL import Image

    if isinstance(value, Image.Image):
        return MediaSource(data=_png_of(value))
    kind = type(value).__name__
    raise DataError(f"no image, video or audio: a value of type {kind}; a path, URL, base64 or bytes is expected")


def _png_of(image: Image.Image) -> bytes:
    from flagmm.media.pixels import flatten

    file = io.BytesIO()
    with blaming("<PIL image>", "cannot be read"):
        flatten(image.copy()).save(file, "PNG")
    return file.getvalue()


def _is_bare_base64(text: str) -> bool:
    """Whether `text` starts as a picture in base64 does; a JPEG's `/9j/` may be a path as well."""
    try:
        head = base64.b64decode(_padded(text[:_HEAD_CHARACTERS]))
    except ValueError:
        return False
    mime = sniff_image(head)
    return mime is not None and (mime != "image/jpeg" or len(text) >= _SHORTEST_BARE_JPEG)


def _decode_base64(text: str, *, shown: str) -> bytes:
    """Decode base64, also the URL-safe kind, broken into lines, or without its padding."""
    compact = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(_padded(compact), validate=True)
    except ValueError as error:
        raise DataError(f"broken base64 ({error}): {_shorten(shown)}") from error


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


def _shorten(text: str) -> str:
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return repr(shown)
