"""Areas of `bug_cases` about media: pictures, sounds, frames, and placeholders in texts."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from flagmm.errors import DataError
from flagmm.media.audio import encode_audio
from flagmm.media.image import ImageLimits, encode_image
from flagmm.media.placeholders import split_placeholders
from flagmm.media.source import parse_data_uri, to_source
from flagmm.media.video import sample_frame_indices
from flagmm.types import MediaSource, TextPart

_ORIENTATION = 0x0112
_ERROR = {"error": True}


def _saved(picture: Image.Image, format_: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, format_, **options)
    return file.getvalue()


def _made(recipe: Mapping[str, Any]) -> bytes:
    """The file that a recipe describes."""
    fill, size = recipe.get("fill", 0), tuple(recipe["size"])
    picture = Image.new(recipe["mode"], size, tuple(fill) if isinstance(fill, list) else fill)
    if recipe.get("gradient"):
        for x in range(size[0]):
            picture.paste(_step(recipe["mode"], x, size[0]), (x, 0, x + 1, size[1]))
    for box, colour in recipe.get("rect", []):
        ImageDraw.Draw(picture).rectangle(box, fill=tuple(colour) if isinstance(colour, list) else colour)
    exif = Image.Exif()
    options: dict[str, Any] = {}
    if "exif_orientation" in recipe:
        exif[_ORIENTATION] = recipe["exif_orientation"]
        options["exif"] = exif
    if recipe.get("frames"):
        options |= {"save_all": True, "append_images": [picture] * (int(recipe["frames"]) - 1)}
    return _saved(picture, recipe.get("save", "PNG"), **options)


def _step(mode: str, x: int, width: int) -> int:
    return x * (65535 if mode.startswith("I") else 255) // max(1, width - 1)


def _image(given: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    limits = ImageLimits(**{key: value for key, value in given.items() if key != "make"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, given["make"].get("name", "picture"))
        path.write_bytes(_made(given["make"]))
        encoded = encode_image(MediaSource(path=str(path)), limits)
    picture = Image.open(io.BytesIO(encoded.data))
    picture.load()
    shortest = expected.get("min_side_at_least", 0)
    return {
        "mode": picture.mode,
        "size": list(picture.size),
        "exif_orientation_absent": _ORIENTATION not in picture.getexif(),
        "mime_matches_bytes": Image.MIME[picture.format or ""] == encoded.mime,
        "min_side_at_least": min(shortest, *picture.size),
        "pixel": {place: _first(picture.getpixel(_place(place))) for place in expected.get("pixel", {})},
        "pixel_rgb": {
            place: _near(picture.convert("RGB").getpixel(_place(place)), colour)
            for place, colour in expected.get("pixel_rgb", {}).items()
        },
    }


def _place(text: str) -> tuple[int, int]:
    x, y = text.split(",")
    return int(x), int(y)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def _near(found: Any, wanted: list[int]) -> list[int]:
    """The wanted colour where the one that came is within 12 of it, else that one."""
    return wanted if all(abs(one - other) <= 12 for one, other in zip(found, wanted, strict=True)) else list(found)


def _data_uri(given: Mapping[str, Any], _: Any) -> dict[str, str]:
    found = parse_data_uri(given["uri"])
    if found is None:
        return {}
    return {"mime": found.mime, "base64": base64.b64encode(found.data).decode()}


def _hf_image(given: Mapping[str, Any], _: Any) -> dict[str, Any]:
    picture = Image.new("RGB", (4, 4))
    file = _saved(picture, "PNG")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "four.png").write_bytes(file)
        stand_ins = {"<png 4x4>": file, "<file png 4x4>": "four.png", "<PIL RGB 4x4>": picture}
        value = given["value"]
        value = {k: stand_ins.get(v, v) for k, v in value.items()} if isinstance(value, dict) else stand_ins.get(value)
        try:
            encoded = encode_image(to_source(value, root=folder), ImageLimits())
        except DataError:
            return {"no_image": True}
    return {"saved_size": list(Image.open(io.BytesIO(encoded.data)).size)}


def _audio(given: Mapping[str, Any], _: Any) -> dict[str, Any]:
    encoded = encode_audio(MediaSource(data=given["bytes"].encode()))
    data = base64.b64encode(encoded.data).decode()
    return {"type": "input_audio", "format": encoded.format, "data_has_prefix": data.startswith("data:")}


def _frames(given: Mapping[str, Any], _: Any) -> Any:
    try:
        return list(sample_frame_indices(given["total_frames"], given["max_frames"]))
    except DataError:
        return _ERROR


def _placeholders(given: Mapping[str, Any], _: Any) -> dict[str, Any]:
    pictures = [MediaSource(path=str(number)) for number in range(1, given.get("num_images", 0) + 1)]
    try:
        parts = split_placeholders(given["text"], pictures)
    except DataError:
        return _ERROR
    images = [part for part in parts if not isinstance(part, TextPart)]
    shown = [part.text if isinstance(part, TextPart) else f"IMG{part.source.path}" for part in parts]
    return {"parts": shown, "images_sent": len(images)}


AREAS: dict[str, Callable[[Mapping[str, Any], Any], Any]] = {
    "image_encode": _image,
    "data_uri_parse": _data_uri,
    "hf_image": _hf_image,
    "audio_part": _audio,
    "frame_indices": _frames,
    "placeholder_parse": _placeholders,
}
SCORERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {}
