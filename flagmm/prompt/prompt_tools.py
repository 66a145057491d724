"""Helpers of prompts, by the names under which code made for FlagEvalMM imports them."""

from __future__ import annotations

import base64
import io
import os
import re
from typing import TYPE_CHECKING

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
    from PIL import Image

    if isinstance(image_or_path, str | os.PathLike):
        with Image.open(image_or_path) as opened:
            picture = flatten(opened)
    else:
        picture = flatten(image_or_path.copy())
    buffer = io.BytesIO()
    picture.save(buffer, format="JPEG", quality=_QUALITY)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
