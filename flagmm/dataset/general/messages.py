"""A record of General-VQA -> messages: OpenAI's structured ones, or plain ones with placeholders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from flagmm.dataset.general.parts import PartMaker, check_count, located
from flagmm.errors import DataError
from flagmm.prompt.media_columns import (
    MEDIA,
    MediaCell,
    Reference,
    collect_media,
    has_placeholder,
    referenced,
    split_at_media,
)
from flagmm.types import Medium, Message, Part, Role, TextPart

_ROLES = get_args(Role)
_KEPT_KEYS = ("name", "tool_calls", "tool_call_id")
_MEDIUM_OF: Mapping[str, Medium] = {"image_url": "image", "input_audio": "audio", "video_url": "video"}
_PART_TYPES = ("text", *_MEDIUM_OF, "refusal")

Media = Mapping[Medium, Mapping[int, MediaCell]]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What one record asks."""

    messages: tuple[Message, ...]
    missing: tuple[Reference, ...] = ()
    """Media that placeholders ask for and that are not there."""


def read_conversation(record: Mapping[str, Any], maker: PartMaker) -> Conversation:
    """The messages of a record, media in the places of their placeholders.

    Only user messages whose content is a plain text are looked through for placeholders.

    Raises:
        DataError: the messages are malformed, or a medium is.
    """
    raw = decode_messages(record.get("messages"))
    media = _referenced_media(record, raw)
    messages: list[Message] = []
    missing: list[Reference] = []
    for position, entry in enumerate(raw):
        with located(f"messages[{position}]"):
            role = _role(entry)
            content = entry.get("content")
        if role == "user" and isinstance(content, str) and has_placeholder(content):
            split = split_at_media(content, media)
            missing += split.missing
            parts = maker.of_pieces(split.pieces) or (TextPart(text=content),)
            messages.append(Message(role=role, content=parts, structured=bool(split.pieces), extra=_extra(entry)))
        else:
            messages.append(_as_it_stands(entry, role, maker, f"messages[{position}].content"))
    check_count(part for message in messages for part in message.content)
    return Conversation(messages=tuple(messages), missing=tuple(missing))


def decode_messages(cell: Any) -> list[Any]:
    """The list that a cell is, or holds as JSON.

    Raises:
        DataError: it is no list with something in it.
    """
    value = cell
    if isinstance(cell, str):
        try:
            value = json.loads(cell)
        except json.JSONDecodeError as error:
            raise DataError(f"messages: not valid JSON: {error.msg} at character {error.pos + 1}") from None
        except (ValueError, RecursionError):
            raise DataError("messages: no JSON that can be read: nested too deeply, or numbers too long") from None
    if not isinstance(value, list | tuple):
        shown = "nothing" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"
        raise DataError(f"messages: expected a list of messages, found {shown}")
    if not value:
        raise DataError("messages: an empty list")
    return list(value)


def _referenced_media(record: Mapping[str, Any], raw: Sequence[Any]) -> Media:
    texts = [
        entry["content"]
        for entry in raw
        if isinstance(entry, Mapping) and entry.get("role") == "user" and isinstance(entry.get("content"), str)
    ]
    numbers = referenced(texts)
    return {medium: collect_media(record, medium, numbers=numbers[medium]) for medium in MEDIA}


def _role(entry: Any) -> Role:
    if not isinstance(entry, Mapping):
        raise DataError(f"expected an object with 'role' and 'content', found {type(entry).__name__}")
    given = entry.get("role")
    role: Role | None = given if given in _ROLES else None
    if role is None:
        raise DataError(f"role: unknown {str(given)[:40]!r}; known: {', '.join(_ROLES)}")
    return role


def _extra(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in _KEPT_KEYS if entry.get(key) is not None}


def _as_it_stands(entry: Mapping[str, Any], role: Role, maker: PartMaker, where: str) -> Message:
    content, extra = entry.get("content"), _extra(entry)
    if isinstance(content, str):
        return Message(role=role, content=(TextPart(text=content),), extra=extra)
    if content is None and role == "assistant":  # it called a tool
        return Message(role=role, content=(), extra=extra)
    if not isinstance(content, list | tuple) or not content:
        raise DataError(f"{where}: expected a text or a list of parts, found {str(content)[:40]!r}")
    parts = tuple(_part(part, f"{where}[{position}]", maker) for position, part in enumerate(content))
    return Message(role=role, content=parts, structured=role == "user", extra=extra)


def _part(part: Any, where: str, maker: PartMaker) -> Part:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind not in _PART_TYPES:
        found = "no object" if not isinstance(part, Mapping) else f"unknown part type {str(kind)[:40]!r}"
        raise DataError(f"{where}: {found}; known: {', '.join(_PART_TYPES[:4])}")
    value = part.get(kind)
    if kind in ("text", "refusal"):
        if not isinstance(value, str):
            raise DataError(f"{where}.{kind}: expected a text, found {type(value).__name__}")
        return TextPart(text=value)
    where = f"{where}.{kind}"
    fields = {"url": value} if isinstance(value, str) else value
    if not isinstance(fields, Mapping):
        raise DataError(f"{where}: expected an object, found {type(value).__name__}")
    fields = {key: item for key, item in fields.items() if item is not None}
    if kind == "input_audio":
        return maker.of_value(_needed(fields, "data", where), "audio", where=where, hint=fields.get("format"))
    url = _needed(fields, "url", where)
    if kind == "image_url":
        return maker.of_value(url, "image", where=where, detail=fields.get("detail"))
    return maker.of_value(fields, "video", where=where, hint=fields.get("format"))


def _needed(fields: Mapping[str, Any], key: str, where: str) -> Any:
    if not fields.get(key):
        raise DataError(f"{where}: has no {key!r}")
    return fields[key]


def shown_text(raw: Sequence[Any]) -> str:
    """Decoded messages as one text: media as numbered tokens, roles named where there is more than one message.

    What is malformed is left out; `read_conversation` is what complains.

    >>> shown_text([{"role": "user", "content": [{"type": "text", "text": "Why "}, {"type": "image_url"}]}])
    'Why <image 1>'
    """
    seen: Counter[str] = Counter()
    entries = [entry for entry in raw if isinstance(entry, Mapping)]
    texts = [_shown_content(entry.get("content"), seen) for entry in entries]
    if len(entries) <= 1:
        return "".join(texts)
    return "\n".join(f"{entry.get('role')}: {text}" for entry, text in zip(entries, texts, strict=True))


def _shown_content(content: Any, seen: Counter[str]) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "".join(_shown_part(part, seen) for part in parts if isinstance(part, Mapping))


def _shown_part(part: Mapping[str, Any], seen: Counter[str]) -> str:
    medium = _MEDIUM_OF.get(str(part.get("type")))
    if medium is None:
        text = part.get("text")
        return text if isinstance(text, str) else ""
    seen[medium] += 1
    return f"<{medium} {seen[medium]}>"
