"""The one image encoder: any picture as bytes that an API takes, within the limits that it sets."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flagmm.errors import ConfigError, DataError
from flagmm.media.pixels import flatten, open_lazily, refuse_bomb, upright_size
from flagmm.media.reading import blaming, read_source
from flagmm.media.ready import BMP_MIME, READY_MIMES, is_ready, is_whole_bmp
from flagmm.types import MediaSource

if TYPE_CHECKING:
    from PIL import Image

Size = tuple[int, int]
"""Width and height in pixels."""

_LOSSY_FORMATS = frozenset({"JPEG", "WEBP", "AVIF", "JPEG2000"})
_QUALITIES = (90, 80, 70, 55, 40)
_PNG_PIXELS = 1 << 20
"""A lossless picture of at most this many pixels stays lossless; larger ones take too long and too many bytes."""
_TINY_PIXELS = 1 << 12
"""Up to here a PNG may be smaller than any JPEG."""
_JPEG_SIDE = 65_500
"""Longest side that a JPEG file can have; whatever is drawn anew is kept to it."""


@dataclass(frozen=True, kw_only=True)
class ImageLimits:
    """What an API takes; None sets no limit."""

    max_bytes: int | None = None
    """Longest base64 text of the file."""
    max_long_side: int | None = None
    """Pixels of the longer side."""
    min_short_side: int | None = None
    """Pixels of the shorter side; a picture too slim to reach them by scaling gets a white border."""

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_long_side", "min_short_side"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"image limit {name} is {value}; it must be at least 1")
        if self.max_long_side is not None and (self.min_short_side or 0) > self.max_long_side:
            raise ConfigError(
                f"image limits contradict: min_short_side {self.min_short_side} is more than "
                f"max_long_side {self.max_long_side}"
            )

    def hold_bytes(self, length: int) -> bool:
        """Whether a file of `length` bytes is short enough as base64."""
        return self.max_bytes is None or base64_length(length) <= self.max_bytes

    def hold_size(self, size: Size) -> bool:
        """Whether a picture of this size needs no scaling."""
        return max(size) <= (self.max_long_side or max(size)) and min(size) >= (self.min_short_side or 1)


@dataclass(frozen=True)
class EncodedMedia:
    """A picture ready to be sent."""

    mime: str
    data: bytes
    """The file's bytes, not base64."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How large a picture is drawn, and on how large a white canvas."""

    content: Size
    canvas: Size


def encode_image(source: MediaSource, limits: ImageLimits, *, keep_bmp: bool = False) -> EncodedMedia:
    """Return the file's own bytes where the API takes them, else the picture encoded anew.

    Args:
        source: a file or bytes.
        limits: what the result must hold to.
        keep_bmp: whether the API takes a BMP, too.

    Raises:
        DataError: the file is missing, no picture, broken, or cannot be brought within the limits.
        ValueError: the source is a URL.
    """
    data = read_source(source)
    with blaming(source.label, "is a broken picture"):
        image = open_lazily(data)
        if limits.hold_bytes(len(data)) and limits.hold_size(image.size):
            if is_ready(image, data):
                return EncodedMedia(READY_MIMES[str(image.format)], data)
            if keep_bmp and is_whole_bmp(image, data):
                return EncodedMedia(BMP_MIME, data)
        size = None
        if image.format == "JPEG":
            size = upright_size(image)
            _decode_no_more_than_needed(image, fit(size, limits).content)
        return encode_pixels(flatten(image), limits, lossless=image.format not in _LOSSY_FORMATS, size=size)


def encode_pixels(image: Image.Image, limits: ImageLimits, *, lossless: bool, size: Size | None = None) -> EncodedMedia:
    """Encode an RGB picture within the limits, at the best quality and then the largest size that they allow.

    Args:
        image: what to draw from.
        limits: what the result must hold to.
        lossless: whether the picture came from a lossless file, so that small ones become PNG.
        size: the picture's own size, where `image` was decoded at a reduced one.

    Raises:
        DataError: no size is small enough; names no file.
    """
    size = size or image.size
    fitted = fit(size, limits)
    while True:
        longest = max(fitted.canvas)
        length = 0
        for attempt in _attempts(_draw(image, fitted), lossless=lossless):
            if limits.hold_bytes(len(attempt.data)):
                return attempt
            length = len(attempt.data)
        smallest = limits.min_short_side or 1
        if longest <= smallest:
            raise DataError(f"does not fit into {limits.max_bytes} bytes of base64 even at {_shown(fitted.canvas)}")
        assert limits.max_bytes is not None
        ratio = min(0.9, math.sqrt(limits.max_bytes / base64_length(length)))
        fitted = fit(size, replace(limits, max_long_side=max(smallest, int(longest * ratio))))


def base64_length(length: int) -> int:
    """Return how many characters `length` bytes take as base64."""
    return (length + 2) // 3 * 4


def fit(size: Size, limits: ImageLimits) -> Fit:
    """Return how to bring a picture within the limits on its sides, its proportions kept.

    Raises:
        DataError: the result would be too large to hold in memory; names no file.
    """
    long, short = max(size), min(size)
    floor = limits.min_short_side or 1
    ceiling = min(limits.max_long_side or _JPEG_SIDE, _JPEG_SIDE)
    new_long = min(long, ceiling)
    if _divide_rounded(short * new_long, long) < floor:
        new_long = min(ceiling, -(-long * floor // short))
    new_short = max(1, _divide_rounded(short * new_long, long))
    canvas_short = max(new_short, floor)
    refuse_bomb((new_long, canvas_short))
    if size[0] >= size[1]:
        return Fit(content=(new_long, new_short), canvas=(new_long, canvas_short))
    return Fit(content=(new_short, new_long), canvas=(canvas_short, new_long))


def _divide_rounded(number: int, divisor: int) -> int:
    return (2 * number + divisor) // (2 * divisor)


def _decode_no_more_than_needed(image: Image.Image, content: Size) -> None:
    """Let a JPEG that will shrink be decoded at a half, a quarter or an eighth, at twice the final size or more."""
    width, height = content if upright_size(image) == image.size else (content[1], content[0])
    image.draft(None, (2 * width, 2 * height))


def _draw(image: Image.Image, fitted: Fit) -> Image.Image:
    """Scale the picture; a border goes right or below, so that pixel coordinates keep their meaning."""
    from PIL import Image

    drawn = image if image.size == fitted.content else image.resize(fitted.content, Image.Resampling.LANCZOS)
    if fitted.canvas == fitted.content:
        return drawn
    canvas = Image.new("RGB", fitted.canvas, "white")
    canvas.paste(drawn)
    return canvas


def _attempts(image: Image.Image, *, lossless: bool) -> Iterator[EncodedMedia]:
    """Yield the picture as ever smaller files, the best first."""
    pixels = image.width * image.height
    if lossless and pixels <= _PNG_PIXELS:
        yield _saved(image, "PNG")
    for quality in _QUALITIES:
        yield _saved(image, "JPEG", quality=quality)
    if pixels <= _TINY_PIXELS:
        yield _saved(image, "PNG")


def _saved(image: Image.Image, name: str, **options: int) -> EncodedMedia:
    file = io.BytesIO()
    image.save(file, name, **options)
    return EncodedMedia(READY_MIMES[name], file.getvalue())


def _shown(size: Size) -> str:
    return f"{size[0]}x{size[1]}"
