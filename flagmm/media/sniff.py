"""What a medium is, told from its first bytes, never from its name."""

from __future__ import annotations

from typing import Literal

_IMAGE_PREFIXES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)


def sniff_image(data: bytes) -> str | None:
    """Return the MIME type of a common picture format, or None; the first 12 bytes are enough."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for prefix, mime in _IMAGE_PREFIXES if data.startswith(prefix)), None)


def sniff_audio(data: bytes) -> Literal["wav", "mp3"] | None:
    """Return which of the two formats that APIs take this is, or None."""
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[:3] == b"ID3" or _is_mp3_frame(data[:4]):
        return "mp3"
    return None


def _is_mp3_frame(head: bytes) -> bool:
    """Whether an MPEG audio frame of layer III starts here; the sync bits alone are also those of AAC."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bitrate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer == 1 and bitrate != 15 and sample_rate != 3
