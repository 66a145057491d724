"""What a medium is, told from its first bytes, never from its name."""

from __future__ import annotations

import re
from typing import Literal

from flagmm.types import Medium

HEAD_BYTES = 512
"""More of a file is not needed to tell what it is."""

VIDEO_MIMES = {
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "ts": "video/mp2t",
    "flv": "video/x-flv",
    "wmv": "video/x-ms-wmv",
    "ogv": "video/ogg",
}
"""The containers that are known by their first bytes, and their MIME types."""

AUDIO_MIMES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
"""The two formats of sound that APIs take, and their MIME types."""

_ALIKE = ({"mp4", "mov"}, {"mpeg", "ts"}, {"mkv", "webm"})
"""Containers of one family, whose names are used for each other."""

_IMAGE_PREFIXES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_IMAGE_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_AUDIO_BRANDS = (b"M4A ", b"M4B ", b"M4P ", b"F4A ")
_FIRST_BOXES = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_OTHER_SOUNDS = (b"fLaC", b"#!AMR", b"MThd", b"OggS")
_TS_PACKET_BYTES = 188
_PNM = re.compile(rb"P[1-7]\s")


def sniff_image(data: bytes) -> str | None:
    """Return the MIME type of a common picture format, or None; the first 12 bytes are enough."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for prefix, mime in _IMAGE_PREFIXES if data.startswith(prefix)), None)


def sniff_audio(data: bytes) -> Literal["wav", "mp3"] | None:
    """Return which of the two formats that APIs take this is, or None."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if (data[:3] == b"ID3" and data[3:4] < b" ") or _is_mp3_frame(data[:4]):
        return "mp3"
    return None


def sniff_video(data: bytes) -> str | None:
    """Return which of the containers of `VIDEO_MIMES` this is, or None."""
    if data[:4] == b"RIFF" and data[8:11] == b"AVI":
        return "avi"
    if data[:1] == b"\0" and data[4:8] in (b"ftyp", b"styp"):
        return _sniff_brand(data[8:12])
    if data[:1] == b"\0" and data[4:8] in _FIRST_BOXES:  # a size of 16 MB and more would make a word of four letters
        return "mov"
    if data[:3] == b"\0\0\1" and data[3:4] in (b"\xba", b"\xb3"):
        return "mpeg"
    if data[:4] == b"\x1aE\xdf\xa3":
        return "webm" if b"webm" in data[:64] else "mkv"
    if data[: 2 * _TS_PACKET_BYTES : _TS_PACKET_BYTES] == b"GG" and not _is_text(data[:HEAD_BYTES]):
        return "ts"
    if data[:4] == b"OggS":
        return "ogv" if b"\x80theora" in data[:64] else None
    return {b"FLV\1": "flv", b"\x30\x26\xb2\x75": "wmv"}.get(data[:4])


def contradict(said: str | None, found: str) -> bool:
    """Whether the format that data name cannot be meant, given what the bytes show.

    >>> contradict("mp3", "wav"), contradict("mov", "mp4"), contradict(None, "mp4")
    (True, False, False)
    """
    return said is not None and said != found and not any({said, found} <= names for names in _ALIKE)


def sniff_mime(data: bytes) -> str | None:
    """Return the MIME type of a common picture, sound or video, or None."""
    video, audio = sniff_video(data), sniff_audio(data)
    return sniff_image(data) or (VIDEO_MIMES[video] if video else None) or (AUDIO_MIMES[audio] if audio else None)


def sniff_family(data: bytes) -> Medium | Literal["text"] | None:
    """Return what kind of medium this is, or None where the first bytes do not tell."""
    brand = data[8:12] if data[4:8] == b"ftyp" else b""
    is_bitmap = data[:2] == b"BM" and data[6:10] == bytes(4)
    if sniff_image(data) or brand in _IMAGE_BRANDS or is_bitmap or _PNM.match(data):
        return "image"
    if sniff_video(data):
        return "video"
    if sniff_audio(data) or brand in _AUDIO_BRANDS or data.startswith(_OTHER_SOUNDS):
        return "audio"
    return "text" if _is_text(data[:HEAD_BYTES]) else None


def _sniff_brand(brand: bytes) -> str | None:
    if brand in _IMAGE_BRANDS or brand in _AUDIO_BRANDS:
        return None
    return "mov" if brand == b"qt  " else "mp4"


def _is_text(head: bytes) -> bool:
    """Whether `head` is UTF-8 without control characters, but for a character that it cuts in two."""
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode()
    return bool(text) and all(character.isprintable() or character in "\t\n\r\f\ufeff" for character in text)


def _is_mp3_frame(head: bytes) -> bool:
    """Whether an MPEG audio frame of layer III starts here; the sync bits alone are also those of AAC."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bitrate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer == 1 and bitrate != 15 and sample_rate != 3
