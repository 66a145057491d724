"""Pictures of every mode and format that Pillow opens, as upright 8-bit RGB without transparency."""

from __future__ import annotations

import functools
import io
import math
import struct
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from flagmm.errors import DataError
from flagmm.media.orientation import SIDEWAYS, read_orientation

if TYPE_CHECKING:
    from PIL import Image, ImageFile

MAX_PIXELS = 178_956_970
"""A larger picture is refused, as Pillow does: a small file may unpack to all of the memory."""

_REFUSED_FORMATS = frozenset({"EPS", "IM"})
"""EPS would start another program; IM is obsolete, and Pillow warns about it whenever it tries an unknown file."""
_warning_filters = threading.Lock()
"""Guards the warning filters of the process while a very large picture is decoded."""


def open_lazily(data: bytes) -> ImageFile.ImageFile:
    """Open a picture, reading its header only.

    This is `Image.open` less its warning above half of `MAX_PIXELS`, which no single thread can silence.

    Raises:
        DataError: the format is unknown, the header broken, or the picture too large; names no file.
    """
    from PIL import Image

    faults: list[str] = []
    for name in _fitting_formats(data[:16].ljust(16, b"\0")):
        factory, accept = Image.OPEN[name]
        factory = _jpeg_reader() if name == "JPEG" else factory
        try:
            image = factory(io.BytesIO(data), "")
        except (SyntaxError, LookupError, TypeError, ValueError, OSError, EOFError, struct.error) as error:
            if accept is not None:
                faults.append(f"has a broken {name} header ({error})")
            continue
        refuse_bomb(image.size)
        return image
    raise DataError(faults[0] if faults else "is not a picture in a known format")


def refuse_bomb(size: tuple[int, int]) -> None:
    """Raise a `DataError`, which names no file, when a picture of this size must not be held in memory."""
    if size[0] * size[1] > MAX_PIXELS:
        raise DataError(f"has {size[0]}x{size[1]} pixels; more than {MAX_PIXELS} are refused")


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Return width and height as they are after the EXIF orientation is applied."""
    width, height = image.size
    return (height, width) if read_orientation(image.info) in SIDEWAYS else (width, height)


def flatten(image: Image.Image) -> Image.Image:
    """Return the first frame as upright RGB on white, without metadata; `image` is used up.

    Raises:
        Exception: whatever Pillow raises when the data is broken.
    """
    load(image)
    turn = _transposition(read_orientation(image.info))
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = _to_eight_bits(image)
    if image.has_transparency_data:
        image = _on_white(image)
    elif image.mode != "RGB":
        image = image.convert("RGB")
    if turn is not None:
        image = image.transpose(turn)
    image.info = {}
    return image


def load(image: Image.Image) -> None:
    """Decode the pixels; above Pillow's own limit without its warning, and then one picture at a time."""
    from PIL import Image

    if image.width * image.height <= (Image.MAX_IMAGE_PIXELS or MAX_PIXELS):
        image.load()
        return
    with _warning_filters, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        image.load()


def _fitting_formats(prefix: bytes) -> Iterator[str]:
    """Yield the formats whose files may start so; the rare plugins are imported when the common ones fail."""
    from PIL import Image

    tried = set(_REFUSED_FORMATS)
    for load_plugins in (Image.preinit, Image.init):
        load_plugins()
        for name in [name for name in Image.ID if name not in tried]:
            tried.add(name)
            accept = Image.OPEN[name][1]
            if accept is None or accept(prefix) is True:
                yield name


@functools.cache
def _jpeg_reader() -> type[ImageFile.ImageFile]:
    """Return Pillow's JPEG reader, less its warnings about broken EXIF and about second pictures in phones' files."""
    from PIL.Image import Exif
    from PIL.JpegImagePlugin import JpegImageFile

    class JpegReader(JpegImageFile):
        def getexif(self) -> Exif:
            """Find nothing: Pillow looks for the resolution only, and `read_orientation` reads the rest."""
            return Exif()

    return JpegReader


def _transposition(value: int) -> Image.Transpose | None:
    from PIL.Image import Transpose

    return {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }.get(value)


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """Return a deep grey picture as mode L, or LA when one of its values means transparent."""
    white = 65535.0 if image.mode.startswith("I;16") else _white_level(image)
    transparent = image.info.pop("transparency", None)
    wide = image if image.mode == "F" else image.convert("I")
    factor = 255 / white
    grey = wide.point(lambda value: value * factor + 0.5).convert("L")
    if isinstance(transparent, int):
        grey.putalpha(_opaque_except(wide, transparent))
    return grey


def _opaque_except(image: Image.Image, value: int) -> Image.Image:
    """Return a mask that is 0 where a picture of mode I has just this value; `convert` clips to 0 to 255."""
    from PIL import ImageChops

    above = image.point(lambda found: found * 1 - value).convert("L")
    below = image.point(lambda found: found * -1 + value).convert("L")
    return ImageChops.add(above, below).point(lambda distance: 255 if distance else 0)


def _white_level(image: Image.Image) -> float:
    """Guess from the brightest pixel which value means white, as modes I and F do not tell."""
    _, brightest = image.getextrema()
    assert isinstance(brightest, (int, float))
    if image.mode == "F" and 0 < brightest <= 1:
        return 1
    if brightest <= 255 or not math.isfinite(brightest):
        return 255
    return max(65535, brightest)


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode == "La":  # premultiplied, and Pillow knows no direct way from it
        image = image.convert("LA")
    transparent = image.info.get("transparency")
    if image.mode == "RGB" and isinstance(transparent, tuple) and max(transparent) > 255:
        # From a PNG of 16 bits per channel, of which Pillow kept the upper 8.
        image.info["transparency"] = tuple(value >> 8 for value in transparent)
    layer = image.convert("RGBA")
    canvas = Image.new("RGB", layer.size, "white")
    canvas.paste(layer, mask=layer.getchannel("A"))
    return canvas
