"""What makes two calls the same: the hash that resume and the reply cache go by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from flagmm.types import AudioPart, ImagePart, MediaPart, Message, Part, TextPart

_EXACT_RATE = 2
"""Another rule than that of older answers for which frames a rate picks, so those are asked again."""


def request_hash(fingerprint: str, messages: Sequence[Message], repeat: int) -> str:
    """A hash of everything that decides an answer.

    Args:
        fingerprint: hash of endpoint, model and settings; see `config.dump.fingerprint`.
        messages: media in them must be identified (or be URLs).
        repeat: number of the repetition.
    """
    described: list[Any] = [fingerprint, repeat]
    described += [_describe_message(message) for message in messages]
    text = json.dumps(described, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _describe_message(message: Message) -> list[Any]:
    content: list[Any] = [message.role, [_describe(part) for part in message.content]]
    return [*content, dict(message.extra)] if message.extra else content


def _describe(part: Part) -> list[Any]:
    if isinstance(part, TextPart):
        return [part.type, part.text]
    source = part.source
    if source.identity is None and source.url is None:
        raise ValueError(f"{source.label}: not identified yet")
    content = source.identity.digest if source.identity is not None else source.url
    asked = _asked_of(part)
    return [part.type, content, asked] if asked else [part.type, content]


def _asked_of(part: MediaPart) -> dict[str, Any]:
    """What a part says beside its content; nothing where it says nothing, so that hashes of old answers hold."""
    if isinstance(part, ImagePart):
        said: dict[str, Any] = {"detail": part.detail, "keeps_bmp": part.keeps_bmp}
    elif isinstance(part, AudioPart):
        said = {"format": part.format}
    else:
        mode = part.mode if part.mode != "frames" else None
        said = {"format": part.format, "mode": mode, "extra": dict(part.extra)}
        if mode is None and part.extra.keys() & {"frame_rate", "fps"}:
            said["picked"] = _EXACT_RATE
    return {name: value for name, value in said.items() if value}
