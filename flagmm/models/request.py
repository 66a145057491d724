"""What makes two calls the same: the hash that resume and the reply cache go by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from flagmm.types import Message, Part, TextPart


def request_hash(fingerprint: str, messages: Sequence[Message], repeat: int) -> str:
    """A hash of everything that decides an answer.

    Args:
        fingerprint: hash of endpoint, model and settings; see `config.dump.fingerprint`.
        messages: media in them must be identified (or be URLs).
        repeat: number of the repetition.
    """
    described: list[Any] = [fingerprint, repeat]
    described += [[message.role, [_describe(part) for part in message.content]] for message in messages]
    text = json.dumps(described, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _describe(part: Part) -> list[str]:
    if isinstance(part, TextPart):
        return [part.type, part.text]
    source = part.source
    if source.identity is not None:
        return [part.type, source.identity.digest]
    if source.url is not None:
        return [part.type, source.url]
    raise ValueError(f"{source.label}: not identified yet")
