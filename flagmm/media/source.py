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
from flagmm.media.reading import blaming, shorten
from flagmm.media.sniff import sniff_family, sniff_image, sniff_mime
from flagmm.types import MediaSource, Medium

if TYPE_CHECKING:
    from PIL import Image

_DATA_URI = re.compile(r"data:(?P<mime>[^;,]*)(?P<options>[^,]*),", re.IGNORECASE)
_URL = re.compile(r"https?://", re.IGNORECASE)
_LONGEST_PATH = 4096
_SHORTEST_BARE = 128
_HEAD_CHARACTERS = 16
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]*")
_STARTS_NO_PATH = ("iVBOR", "R0lGOD", "UklGR", "SUQz", "AAAA")
"""How a PNG, GIF, RIFF, ID3 or MP4 file starts in base64; a JPEG's `/9j/` or an MP3's `//` may be a path as well."""


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
        data = decode_base64(text, shown=text)
        mime = sniff_image(data)
        if mime is None:
            raise DataError(f"neither a data URI nor a picture in base64: {shorten(text)}")
        return DataUri(mime=mime, data=data)
    data = _payload(text[head.end() :], text, is_base64=head["options"].lower().rstrip().endswith(";base64"))
    if not data:
        raise DataError(f"a data URI without data: {shorten(text)}")
    return DataUri(mime=head["mime"].strip().lower() or sniff_mime(data) or "text/plain", data=data)


def _payload(payload: str, text: str, *, is_base64: bool) -> bytes:
    try:
        plain = unquote_to_bytes(payload) if "%" in payload or not is_base64 else None
    except UnicodeEncodeError:  # a lone surrogate
        raise DataError(f"a data URI with broken characters: {shorten(text)}") from None
    if not is_base64:
        return plain or b""
    return decode_base64(payload if plain is None else plain.decode("latin-1"), shown=text)


def _source_of_text(text: str, *, root: str | None) -> MediaSource:
    stripped = text.strip()
    if not stripped:
        raise DataError("no image, video or audio: the value is an empty string")
    if is_url(stripped):
        return MediaSource(url=stripped)
    if stripped[:5].lower() == "data:":
        return MediaSource(data=parse_data_uri(stripped).data)
    if bare_base64_family(stripped) == "image":
        return MediaSource(data=decode_base64(stripped, shown=stripped))
    return _source_of_path(text, root=root)


def _source_of_path(path: str, *, root: str | None) -> MediaSource:
    if len(path) > _LONGEST_PATH or "\0" in path:
        raise DataError(f"no path, URL, data URI or picture in base64: {shorten(path)}")
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
    raise DataError(f"no image, video or audio: neither 'bytes' nor 'path' has a value (keys: {shorten(keys)})")


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


def is_url(text: str) -> bool:
    """Whether `text` is an http(s) URL."""
    return _URL.match(text) is not None


def bare_base64_family(text: str) -> Medium | None:
    """Return what `text` holds where it starts as a picture, video or sound in base64 does, else None."""
    try:
        head = base64.b64decode(_padded(text[:_HEAD_CHARACTERS]))
    except ValueError:
        return None
    family = sniff_family(head)
    if family is None or family == "text":
        return None
    if text.startswith(_STARTS_NO_PATH):
        return family
    is_long = len(text) >= _SHORTEST_BARE and _BASE64.fullmatch(text[:_SHORTEST_BARE]) is not None
    return family if is_long else None


def decode_base64(text: str, *, shown: str) -> bytes:
    """Decode base64, also the URL-safe kind, broken into lines, or without its padding."""
    compact = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(_padded(compact), validate=True)
    except ValueError as error:
        raise DataError(f"broken base64 ({error}): {shorten(shown)}") from error


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)
