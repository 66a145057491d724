"""How a picture's metadata says to turn it; broken metadata says nothing, without a warning."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import Any

UPRIGHT = 1
SIDEWAYS = range(5, 9)
"""Values that swap width and height."""

_TAG = 0x0112
_NUMBER_FORMATS = {3: "H", 4: "I"}
"""How the two number types that the tag may have are stored."""
_XMP_VALUE = re.compile(r"tiff:Orientation(?:=\"|>)([1-8])")


def read_orientation(info: Mapping[str | tuple[int, int], Any]) -> int:
    """Return the EXIF orientation, 1 to 8, from Pillow's `image.info`.

    As Pillow does, it is looked for in EXIF, then where ImageMagick puts the EXIF of a PNG, then in XMP.
    """
    exif = info.get("exif")
    if not isinstance(exif, bytes):
        exif = _unpack_profile(info.get("Raw profile type exif"))
    if found := _read_exif(exif):
        return found
    xmp = info.get("XML:com.adobe.xmp") or info.get("xmp")
    text = xmp.decode("utf-8", "replace") if isinstance(xmp, bytes) else xmp
    match = _XMP_VALUE.search(text) if isinstance(text, str) else None
    return int(match[1]) if match else UPRIGHT


def _read_exif(exif: bytes) -> int | None:
    exif = exif.removeprefix(b"Exif\0\0")
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return None
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for entry in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind = struct.unpack_from(f"{order}HH", exif, entry)
            if tag == _TAG and kind in _NUMBER_FORMATS:
                (value,) = struct.unpack_from(order + _NUMBER_FORMATS[kind], exif, entry + 8)
                return value if value in range(1, 9) else None
    except struct.error:
        return None
    return None


def _unpack_profile(profile: object) -> bytes:
    """Return what a "Raw profile" holds: three lines of header, then hex digits."""
    if not isinstance(profile, str):
        return b""
    try:
        return bytes.fromhex("".join(profile.split("\n")[3:]))
    except ValueError:
        return b""
