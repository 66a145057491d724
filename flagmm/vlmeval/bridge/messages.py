"""VLMEvalKit's prompts as messages, by role where they have roles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

from flagmm.errors import DataError
from flagmm.media.places import MediaRoots
from flagmm.prompt.vlmevalkit import parts_of_messages
from flagmm.types import ImagePart, Message, Part, Role, VideoPart

_USER = "user"


def messages_of(prompt: Any, *, folders: Sequence[Path] = (), allowed: Sequence[str] = ()) -> tuple[Message, ...]:
    """The messages that a prompt stands for; neighbours of one role become one message.

    Args:
        prompt: as `build_prompt` returns it: a list of `dict(type, value)`, each with a `role` where it is not the
            user's, or of `dict(role, content=[…])`.
        folders: where pictures of relative paths may be, if not in the working directory.
        allowed: folders that these paths may lead into by `..` or a link, beside those.

    Raises:
        DataError: it is something else, has a video, or a picture whose relative path leads elsewhere.
    """
    if not isinstance(prompt, Sequence) or isinstance(prompt, str) or not prompt:
        raise DataError(f"build_prompt: expected a list of messages, found {prompt!r:.80}")
    messages = []
    roots = MediaRoots((os.curdir, *folders, *allowed))
    for role, items in groupby(_items(prompt), lambda pair: pair[0]):
        parts = parts_of_messages([item for _, item in items])
        messages.append(Message(role=role, content=tuple(_found(part, folders, roots) for part in parts)))
    return tuple(messages)


def _items(prompt: Sequence[Any]) -> Iterator[tuple[Role, Any]]:
    for item in prompt:
        role: Any = item.get("role", _USER) if isinstance(item, Mapping) else _USER
        if role not in get_args(Role):
            raise DataError(f"build_prompt: unknown role {role!r}")
        content = item.get("content") if isinstance(item, Mapping) and "value" not in item else None
        if isinstance(content, str):
            yield role, {"type": "text", "value": content}
        elif isinstance(content, Sequence):
            yield from ((role, each) for each in content)
        else:
            yield role, item


def _found(part: Part, folders: Sequence[Path], roots: MediaRoots) -> Part:
    """The part with a picture's relative path led to its file."""
    if isinstance(part, VideoPart):
        raise DataError(f"build_prompt: a video, which the bridge does not send: {part.source.label}")
    if not isinstance(part, ImagePart) or part.source.path is None:
        return part
    places = [Path(part.source.path), *(folder / part.source.path for folder in folders)]
    place = next((place for place in places if place.is_file()), places[0])
    if not os.path.isabs(part.source.path):
        roots.check(part.source.path, str(place), of="the working directory and VLMEvalKit's folders")
    return replace(part, source=replace(part.source, path=str(place)))
