"""Helpers of prompts, by the names under which code made for FlagEvalMM imports them."""

from __future__ import annotations

import base64
import io
import os
import re
from typing import TYPE_CHECKING

from flagmm.media.image import ImageLimits, encode_pixels
from flagmm.media.pixels import flatten

if TYPE_CHECKING:
    from PIL import Image

_TOKEN = re.compile(r"<image\s*\d+>")
_QUALITY = 95


def remove_images_symbol(text: str) -> str:
    """The text without its picture tokens, such as `<image 1>`."""
    return _TOKEN.sub("", text)


def encode_image(
    image_or_path: str | os.PathLike[str] | Image.Image,
    max_size: int | None = None,
    min_short_side: int | None = None,
    max_long_side: int | None = None,
) -> str:
    """The picture as base64 of a JPEG of its own size; what is transparent becomes white.

    Args:
        max_size, min_short_side, max_long_side: accepted, and of no effect; the settings of a model file of these
            names hold for what is sent to the model.

    Raises:
        OSError: there is no such file, or it is no picture.
    """
    buffer = io.BytesIO()
    _flat(image_or_path).save(buffer, format="JPEG", quality=_QUALITY)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def encode_image_old(
    image_or_path: str | os.PathLike[str] | Image.Image,
    max_size: int | None = None,
    min_short_side: int | None = None,
    max_long_side: int | None = None,
) -> str:
    """The picture as base64 of a JPEG within limits, as settings of a model file hold them.

    Args:
        max_size: longest base64 text.
        min_short_side, max_long_side: pixels.

    Raises:
        OSError: there is no such file, or it is no picture.
        DataError: no size is small enough.
    """
    limits = ImageLimits(max_bytes=max_size, min_short_side=min_short_side, max_long_side=max_long_side)
    encoded = encode_pixels(_flat(image_or_path), limits, lossless=False)
    return base64.b64encode(encoded.data).decode("ascii")


def _flat(image_or_path: str | os.PathLike[str] | Image.Image) -> Image.Image:
    if not isinstance(image_or_path, str | os.PathLike):
        return flatten(image_or_path.copy())
    from PIL import Image

    with Image.open(image_or_path) as opened:
        return flatten(opened)
