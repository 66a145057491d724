"""Whether a picture file can be sent just as it is: what every API reads, whole, upright and opaque.

Only headers and ends are looked at. A file that fails here is not broken; it is decoded and encoded anew.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from flagmm.media.orientation import UPRIGHT, read_orientation

if TYPE_CHECKING:
    from PIL import ImageFile

READY_MIMES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
"""Pillow's name of each format that APIs take, and its MIME type."""

BMP_MIME = "image/bmp"
"""Not every API takes it."""

_OPAQUE_MODES = frozenset({"1", "L", "P", "RGB"})
_JPEG_END = b"\xff\xd9"
_JPEG_TAIL_BYTES = 1 << 16
"""Cameras put this much and less behind the end of the picture."""
_PNG_SIGNATURE_BYTES = 8
_BMP_HEADER_BYTES = 14
_PNG_DEPTH_OFFSET = 24


def is_ready(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether `data`, opened lazily as `image`, can be sent unchanged, whatever its size."""
    if image.format not in READY_MIMES or image.mode not in _OPAQUE_MODES or image.has_transparency_data:
        return False
    if image.format == "JPEG":
        whole = _is_whole_jpeg(image, data)
    elif image.format == "PNG":
        whole = _is_plain_png(image, data)
    elif image.format == "WEBP":
        whole = _is_whole_webp(data) and not getattr(image, "is_animated", False)
    else:
        whole = data.endswith(b";") and not getattr(image, "is_animated", False)
    return whole and read_orientation(image.info) == UPRIGHT


def _is_whole_jpeg(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether the scan ends; an embedded thumbnail has an end of its own, so the header is not searched."""
    start = image.fp.tell() if image.fp is not None else 0
    return data.rfind(_JPEG_END, max(start, len(data) - _JPEG_TAIL_BYTES)) >= 0


def _is_plain_png(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether the chunks end with IEND and the file with it, at most 8 bits deep and not animated.

    EXIF may stand behind the pixels, where a lazily opened picture does not know of it yet.
    """
    if len(data) <= _PNG_DEPTH_OFFSET or data[_PNG_DEPTH_OFFSET] > 8:
        return False
    offset = _PNG_SIGNATURE_BYTES
    name = b""
    while name != b"IEND" and offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        if name == b"acTL" or (name == b"eXIf" and "exif" not in image.info):
            return False
        offset += 12 + length
    return name == b"IEND" and offset == len(data)


def is_whole_bmp(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Whether `data`, opened lazily as `image`, is an opaque BMP as long as it says to be."""
    if image.format != "BMP" or image.mode not in _OPAQUE_MODES or len(data) < _BMP_HEADER_BYTES:
        return False
    declared: int = struct.unpack_from("<I", data, 2)[0]
    return declared == len(data)


def _is_whole_webp(data: bytes) -> bool:
    declared: int = struct.unpack_from("<I", data, 4)[0]
    return len(data) == 8 + declared + declared % 2 or len(data) == 8 + declared
