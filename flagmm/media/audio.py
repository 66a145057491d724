"""One sound as the bytes that an API takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from flagmm.media.reading import read_source, unusable
from flagmm.media.sniff import sniff_audio
from flagmm.types import MediaSource

_LEAST_FORMAT_BYTES = 16
_TAG_HEAD_BYTES = 10


@dataclass(frozen=True)
class EncodedAudio:
    """A sound ready to be sent."""

    format: str
    """"wav" or "mp3"."""
    data: bytes
    """The file's own bytes, not base64."""
    found: str | None = field(default=None, compare=False)
    """What the bytes are, where the data may say something else."""
    is_empty: bool = field(default=False, compare=False)
    """Whether there is no sample in it."""


def encode_audio(source: MediaSource, said: str | None = None) -> EncodedAudio:
    """Return a WAV or MP3 file's own bytes.

    Args:
        source: a file or bytes.
        said: its format, where the data says so; else the bytes tell.

    Raises:
        DataError: the file cannot be read, or is in another format.
        ValueError: the source is a URL.
    """
    data = read_source(source)
    found = sniff_audio(data)
    if found is None:
        raise unusable(source.label, "is neither WAV nor MP3; only these two are taken, so convert it")
    is_empty = _is_empty_wav(data) if found == "wav" else _is_bare_tag(data)
    return EncodedAudio(format=said or found, data=data, found=found, is_empty=is_empty)


def _is_empty_wav(data: bytes) -> bool:
    """Whether a WAV file has a sound format and no sample; one whose chunks cannot be followed is left to others."""
    position, has_format = 12, False
    while position + 8 <= len(data):
        name, size = data[position : position + 4], int.from_bytes(data[position + 4 : position + 8], "little")
        if name == b"data" and size:
            return position + 8 == len(data)  # a stream's header may say any length
        if not (name.isascii() and name.decode("ascii").isprintable()) or position + 8 + size > len(data):
            return False
        has_format = has_format or (name == b"fmt " and size >= _LEAST_FORMAT_BYTES)
        position += 8 + size + size % 2
    return has_format


def _is_bare_tag(data: bytes) -> bool:
    """Whether an MP3 file ends with the tag that it begins with."""
    if data[:3] != b"ID3" or len(data) < _TAG_HEAD_BYTES:
        return False
    size = sum((byte & 0x7F) << shift for byte, shift in zip(data[6:10], (21, 14, 7, 0), strict=True))
    return not data[_TAG_HEAD_BYTES + size :].strip(b"\0")
