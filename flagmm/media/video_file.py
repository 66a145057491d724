"""One video as its file's own bytes, undecoded."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from flagmm.media.reading import read_blocks, unusable
from flagmm.media.sniff import HEAD_BYTES, VIDEO_MIMES, sniff_family, sniff_video
from flagmm.types import MediaSource

_OTHER = {"image": "is a picture, not a video", "audio": "is a sound, not a video", "text": "is a text, not a video"}


@dataclass(frozen=True)
class VideoFile:
    """A video ready to be sent as it is."""

    mime: str
    found: str
    """The container that the bytes show, as `VIDEO_MIMES` names it."""
    blocks: Iterator[bytes]
    """The file's bytes, read as they are asked for; all blocks but the last are multiples of 3 bytes long."""


def open_video_file(source: MediaSource, said: str | None = None) -> VideoFile:
    """Return a video's own bytes.

    Args:
        source: a file or bytes.
        said: its format, where the data says so; else the bytes tell.

    Raises:
        DataError: the file cannot be read, or is no video; a later block raises it, too.
        ValueError: the source is a URL.
    """
    blocks = read_blocks(source)
    first = next(blocks)
    head = first[:HEAD_BYTES]
    found = sniff_video(head)
    if found is None:
        raise unusable(source.label, _OTHER.get(sniff_family(head) or "", "is not a video in a known format"))
    return VideoFile(mime=VIDEO_MIMES[said or found], found=found, blocks=itertools.chain([first], blocks))
