"""`concat_images`, by the name under which task folders import it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flagmm.media.pixels import flatten

if TYPE_CHECKING:
    from PIL import Image


def concat_images(image_list: Sequence[Image.Image]) -> Image.Image:
    """Return the pictures side by side, left to right, as one RGB picture; what is transparent becomes white.

    All get the height of the tallest and keep their proportions. The given pictures stay as they are.

    Raises:
        ValueError: there are no pictures.
    """
    from PIL import Image

    if not image_list:
        raise ValueError("concat_images: no pictures to join")
    pictures = [flatten(image.copy()) for image in image_list]
    height = max(picture.height for picture in pictures)
    pictures = [_with_height(picture, height) for picture in pictures]
    canvas = Image.new("RGB", (sum(picture.width for picture in pictures), height), "white")
    left = 0
    for picture in pictures:
        canvas.paste(picture, (left, 0))
        left += picture.width
    return canvas


def _with_height(picture: Image.Image, height: int) -> Image.Image:
    if picture.height == height:
        return picture
    from PIL.Image import Resampling

    return picture.resize((max(1, round(picture.width * height / picture.height)), height), Resampling.LANCZOS)
