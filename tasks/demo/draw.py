"""What the pictures of the demo share: the font, and a camera that tilts, blurs, dims and compresses.

Everything follows from the seeds given, so that two machines with one Pillow draw the same pictures.
"""

from __future__ import annotations

import functools
import io
import random
from dataclasses import dataclass

from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont

Colour = str | tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Wear:
    """What a picture goes through between paper and file."""

    tilt: float = 0.0
    """Degrees at most, to either side."""
    lean: float = 0.0
    """How much shorter the far side is, as a share of the height."""
    blur: float = 0.0
    """Radius in pixels."""
    grain: float = 0.0
    """Share of noise in the picture, from 0 to 1."""
    contrast: float = 1.0
    quality: int = 85
    """Of the JPEG, up to 95."""


CLEAN = Wear()
USED = Wear(tilt=3, lean=0.05, blur=0.6, grain=0.06, contrast=0.85, quality=60)
POOR = Wear(tilt=4, lean=0.08, blur=1.1, grain=0.1, contrast=0.5, quality=30)
LEVELS = (CLEAN, USED, POOR)


@functools.cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font inside Pillow, so that no system needs one."""
    return ImageFont.load_default(size)


def text_width(text: str, size: int) -> int:
    return round(font(size).getlength(text))


def write(
    picture: Image.Image, place: tuple[float, float], text: str, *, size: int, ink: Colour = "#222", anchor: str = "la"
) -> None:
    """Write `text` at `place`; `anchor` as Pillow has it (left/middle/right, then ascender/middle/baseline)."""
    ImageDraw.Draw(picture).text(place, text, font=font(size), fill=ink, anchor=anchor)


def photograph(picture: Image.Image, wear: Wear, seed: str, *, ground: Colour = "#8a7a66", margin: int = 24) -> bytes:
    """Lay `picture` on a coloured ground, take its photo with a worn camera, and return it as a JPEG file."""
    rng = random.Random(seed)
    tilt = rng.choice((-1, 1)) * rng.uniform(0.4, 1) * wear.tilt
    laid = _lean(picture.convert("RGBA"), wear.lean * rng.uniform(0.5, 1))
    laid = laid.rotate(tilt, Image.Resampling.BICUBIC, expand=True)
    photo = Image.new("RGB", (laid.width + 2 * margin, laid.height + 2 * margin), ground)
    photo.paste(laid, (margin, margin), laid)
    if wear is not CLEAN:
        photo = _light(photo, rng)
    photo = ImageEnhance.Contrast(photo).enhance(wear.contrast)
    photo = photo.filter(ImageFilter.GaussianBlur(wear.blur))
    photo = Image.blend(photo, _noise(photo.size, rng), wear.grain)
    file = io.BytesIO()
    photo.save(file, "JPEG", quality=wear.quality)
    return file.getvalue()


def _lean(picture: Image.Image, share: float) -> Image.Image:
    """Shorten the right side by `share` of the height, as if the camera stood to the left."""
    width, height = picture.size
    # the projection that maps the shortened side (half of `share` off at each end) back to the whole one
    return picture.transform(
        picture.size,
        Image.Transform.PERSPECTIVE,
        (1 - share, 0, 0, -share * height / 2 / width, 1, 0, -share / width, 0),
        Image.Resampling.BICUBIC,
    )


def _light(photo: Image.Image, rng: random.Random) -> Image.Image:
    """Let one side lie in the shade."""
    shade = Image.linear_gradient("L").rotate(rng.choice((0, 90, 180, 270))).resize(photo.size)
    shade = shade.point(lambda value: 175 + value * 80 // 255)
    return ImageChops.multiply(photo, Image.merge("RGB", (shade, shade, shade)))


def _noise(size: tuple[int, int], rng: random.Random) -> Image.Image:
    return Image.frombytes("L", size, rng.randbytes(size[0] * size[1])).convert("RGB")
