"""A value of a person's own data file -> a part of a message; its path is looked for, nothing is opened."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from flagmm.errors import DataError
from flagmm.media.decoded import is_decoded_sound, sound_file
from flagmm.media.places import MediaPlaces
from flagmm.media.reading import shorten
from flagmm.media.sniff import sniff_family
from flagmm.media.source import bare_base64_family, decode_base64, is_url, parse_data_uri, to_source
from flagmm.types import AudioPart, ImagePart, MediaPart, MediaSource, Medium, VideoMode, VideoPart

FORMATS: dict[Medium, tuple[str, ...]] = {
    "image": (),
    "video": ("mp4", "mpeg", "mov", "avi"),
    "audio": ("wav", "mp3"),
}
"""What a format hint may say."""

DETAILS = ("low", "high", "auto")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_NAMES = {"image": "a picture", "video": "a video", "audio": "a sound", "text": "a text"}
_SECONDS_AND_RATES = ("start", "end", "fps")


def media_part(
    value: Any,
    medium: Medium,
    *,
    places: MediaPlaces,
    hint: str | None = None,
    detail: str | None = None,
    video_mode: VideoMode = "file",
) -> MediaPart:
    """Return the part of a message that `value` stands for.

    Args:
        value: a path, an http(s) URL, a data URI, bare base64, bytes, a mapping with one of `bytes`, `path`, `url`,
            `data` or the medium's name, a PIL image, or what HuggingFace's media features decode to. A mapping may
            have `format`, `detail`, and for a video `start`, `end` (seconds) and `fps` beside it.
        medium: what it must be.
        places: which files may be read.
        hint: its format, where the data says so (`mp4`, `mpeg`, `mov`, `avi`; `wav`, `mp3`).
        detail: how closely a picture is to be looked at, where the mapping does not say.
        video_mode: how a video is sent.

    Raises:
        DataError: the value is nothing of the kind, or a path outside of what may be read.
    """
    said = value if isinstance(value, Mapping) else {}
    source = _source_of(value, medium, places)
    form = _checked_format(said.get("format") or hint, medium)
    if medium == "image":
        return ImagePart(source=source, detail=_checked_detail(said.get("detail") or detail), keeps_bmp=True)
    if medium == "audio":
        return AudioPart(source=source, format=form)
    return VideoPart(source=source, format=form, mode=video_mode, extra=_numbers_of(said))


def check_value(value: Any, medium: Medium, *, places: MediaPlaces | None = None, hint: str | None = None) -> None:
    """Check that `value` could be made into a part.

    Args:
        places: where its file must be; None looks for no file, as EvalScope's check of unused columns.

    Raises:
        DataError: as `media_part`.
    """
    said = value if isinstance(value, Mapping) else {}
    _source_of(value, medium, places)
    _checked_format(said.get("format") or hint, medium)
    if medium == "video":
        _numbers_of(said)


def _source_of(value: Any, medium: Medium, places: MediaPlaces | None) -> MediaSource:
    if isinstance(value, str):
        return _of_text(value, medium, places)
    if isinstance(value, os.PathLike):
        return _of_path(os.fsdecode(value), places)
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_bytes(bytes(value), medium)
    if isinstance(value, Mapping):
        return _of_mapping(value, medium, places)
    return _of_object(value, medium, places)


def _of_text(text: str, medium: Medium, places: MediaPlaces | None) -> MediaSource:
    stripped = text.strip()
    if not stripped:
        raise DataError("an empty text")
    if _SCHEME.match(stripped):
        return _of_url(stripped)
    if stripped[:5].lower() == "data:":
        return _of_data_uri(stripped, medium)
    if bare_base64_family(stripped):
        return _of_bytes(decode_base64(stripped, shown=stripped), medium)
    return _of_path(text, places)


def _of_url(text: str) -> MediaSource:
    try:
        host = urlsplit(text).hostname
    except ValueError:  # broken brackets
        host = None
    if not is_url(text) or not host:
        raise DataError(f"{shorten(text)}: no http or https URL")
    return MediaSource(url=text)


def _of_data_uri(text: str, medium: Medium) -> MediaSource:
    found = parse_data_uri(text)
    family = found.mime.partition("/")[0]
    if family not in (medium, "application"):  # application/octet-stream and the like leave it to the bytes
        raise DataError(f"a data URI of {found.mime[:60]!r}, not of {_NAMES[medium]}: {shorten(text)}")
    return _of_bytes(found.data, medium)


def _of_path(path: str, places: MediaPlaces | None) -> MediaSource:
    return MediaSource(path=path if places is None else places.resolve(path))


def _of_bytes(data: bytes, medium: Medium) -> MediaSource:
    if not data:
        raise DataError("the bytes are empty")
    family = sniff_family(data)
    if family is not None and family != medium:
        raise DataError(f"the bytes are {_NAMES[family]}, not {_NAMES[medium]}")
    if family is None and medium != "image":  # there are more formats of pictures than can be told here
        raise DataError(f"the bytes are not {_NAMES[medium]} in a known format")
    return MediaSource(data=data)


def _of_mapping(value: Mapping[Any, Any], medium: Medium, places: MediaPlaces | None) -> MediaSource:
    stored = value.get("bytes")
    if stored is None and medium == "audio" and is_decoded_sound(value):
        return MediaSource(data=sound_file(value))
    if stored is None:
        stored = next((value[key] for key in ("path", "url", "data", medium) if value.get(key)), None)
    if isinstance(stored, str | bytes | bytearray | memoryview | os.PathLike):
        return _source_of(stored, medium, places)
    keys = ", ".join(repr(key) for key in value)
    raise DataError(f"an object with neither 'bytes', 'path', 'url', 'data' nor {medium!r} (keys: {shorten(keys)})")


def _of_object(value: Any, medium: Medium, places: MediaPlaces | None) -> MediaSource:
    stored = getattr(value, "_hf_encoded", None)  # what HuggingFace's decoders keep of the file
    if isinstance(stored, Mapping) and (stored.get("bytes") is not None or stored.get("path")):
        return _of_mapping(stored, medium, places)
    if medium == "audio" and is_decoded_sound(value):
        return MediaSource(data=sound_file(value))
    if medium == "image" and value is not None and not isinstance(value, bool | int | float | list | tuple):
        return to_source(value, root=None)
    kind = "null" if value is None else f"a value of type {type(value).__name__}"
    raise DataError(f"{kind}, not {_NAMES[medium]}; a path, URL, data URI, base64, bytes or an object is expected")


def _checked_format(said: Any, medium: Medium) -> str | None:
    known = FORMATS[medium]
    if said is None or not known:
        return None
    form = said.strip().lower() if isinstance(said, str) else said
    if form == "":
        return None
    if form not in known:
        raise DataError(f"format {shorten(str(said))} is not known; {', '.join(known)} are")
    return str(form)


def _checked_detail(said: Any) -> str | None:
    if said is None:
        return None
    if isinstance(said, str) and said in DETAILS:
        return said
    raise DataError(f"detail {shorten(str(said))} is not known; {', '.join(DETAILS)} are")


def _numbers_of(said: Mapping[Any, Any]) -> dict[str, float]:
    """`start`, `end` and `fps` of a video, where they are given."""
    found: dict[str, float] = {}
    for name in _SECONDS_AND_RATES:
        value = said.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise DataError(f"{name} is {shorten(str(value))}; a number, 0 or more, is expected")
        found[name] = value
    if found.get("end", math.inf) <= found.get("start", -1):
        raise DataError(f"end {found['end']} is not after start {found['start']}")
    return found
