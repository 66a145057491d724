"""One sound as the bytes that an API takes."""

from __future__ import annotations

from dataclasses import dataclass

from flagmm.media.reading import read_source, unusable
from flagmm.media.sniff import sniff_audio
from flagmm.types import MediaSource


@dataclass(frozen=True)
class EncodedAudio:
    """A sound ready to be sent."""

    format: str
    """"wav" or "mp3"."""
    data: bytes
    """The file's own bytes, not base64."""


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
    return EncodedAudio(format=said or found, data=data)
