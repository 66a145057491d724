"""Prompts in VLMEvalKit's shape: hint, question, options and request as one text, pictures before it or within it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.errors import DataError
from flagmm.media.placeholders import split_placeholders
from flagmm.media.source import to_source
from flagmm.types import ImagePart, MediaSource, Part, TextPart, VideoPart

SHORT_ANSWER = "\nAnswer the question using a single word or phrase."
"""What VLMEvalKit adds to the questions of its own VQA benchmarks, and not to those of a custom table."""

_REQUEST = "Please select the correct answer from the options above. \n"
_TOKEN = re.compile(r"<image[ _]([0-9]{1,3})>")


def choice_text(question: str, options: Mapping[str, str], *, hint: str = "") -> str:
    """The text of a multiple-choice question.

    >>> choice_text("Which?", {"A": "one", "C": "three"})
    'Question: Which?\\nOptions:\\nA. one\\nC. three\\nPlease select the correct answer from the options above. \\n'
    """
    lines = [f"Hint: {hint}\n"] if hint else []
    lines.append(f"Question: {question}\n")
    if options:
        lines.append("Options:\n")
        lines += [f"{label}. {text}\n" for label, text in options.items()]
        lines.append(_REQUEST)
    return "".join(lines)


def place_pictures(text: str, pictures: Sequence[MediaSource]) -> tuple[Part, ...]:
    """Pictures and text in order: pictures first, unless every `<image 1>` in the text names one of them.

    Where they do, each picture stands in the place of its token, and those without one come first.
    """
    named = {int(token[1]) for token in _TOKEN.finditer(text)}
    if not named or not named.issubset(range(1, len(pictures) + 1)):
        return (*(ImagePart(source=picture) for picture in pictures), TextPart(text=text))
    first = [picture for number, picture in enumerate(pictures, start=1) if number not in named]
    parts = split_placeholders(text, pictures)  # which has those without a token last
    within = parts[: len(parts) - len(first)]
    return (*(ImagePart(source=picture) for picture in first), *within)


def parts_of_messages(messages: Any) -> tuple[Part, ...]:
    """What a `build_prompt` of a person's own returned: `dict(type=…, value=…)` of texts, pictures and videos in order.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise DataError(f"build_prompt: expected a list of messages, found {type(messages).__name__}")
    return tuple(_part(message) for message in messages)


def _part(message: Any) -> Part:
    kind = message.get("type") if isinstance(message, Mapping) else None
    value = message.get("value") if isinstance(message, Mapping) else None
    if kind not in ("text", "image", "video") or not isinstance(value, str | Path):
        raise DataError(f"build_prompt: expected dict(type='text', 'image' or 'video', value=…), found {message!r:.80}")
    if kind == "text":
        return TextPart(text=str(value))
    source = to_source(str(value), root=None)
    return ImagePart(source=source) if kind == "image" else VideoPart(source=source, mode="file")
