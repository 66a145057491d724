"""A question's text with image tokens, cut into the parts of a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flagmm.errors import DataError
from flagmm.types import ImagePart, MediaSource, Part, TextPart

_TOKEN = re.compile(r"<image[ _]([0-9]+)>")
_SHOWN_TOKEN_LENGTH = 40


def split_placeholders(text: str, images: Sequence[MediaSource]) -> tuple[Part, ...]:
    """Put each image where its token (`<image 1>` or `<image_1>`) stands; images without a token come last.

    Text between tokens is kept as it is, but a blank piece is left out. An image is sent once per token.

    Raises:
        DataError: a token asks for an image that is not there.
    """
    parts: list[Part] = []
    unmentioned = dict.fromkeys(range(len(images)))
    start = 0
    for token in _TOKEN.finditer(text):
        _append_text(parts, text[start : token.start()])
        position = _position(token, len(images))
        parts.append(ImagePart(source=images[position]))
        unmentioned.pop(position, None)
        start = token.end()
    _append_text(parts, text[start:])
    parts.extend(ImagePart(source=images[position]) for position in unmentioned)
    return tuple(parts)


def _append_text(parts: list[Part], piece: str) -> None:
    if piece.strip():
        parts.append(TextPart(text=piece))


def _position(token: re.Match[str], count: int) -> int:
    """Return the place in `images` that `token` asks for."""
    digits = token[1].lstrip("0")
    # Lengths first: int() refuses a number of thousands of digits.
    if not digits or len(digits) > len(str(count)) or int(digits) > count:
        shown = token[0] if len(token[0]) <= _SHOWN_TOKEN_LENGTH else f"{token[0][:_SHOWN_TOKEN_LENGTH]}…"
        raise DataError(f"the question says {shown}, but it has {count} image{'' if count == 1 else 's'}")
    return int(digits) - 1
