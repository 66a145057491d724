"""What the two base classes of models share: messages in any of VLMEvalKit's forms, and prompts of one's own."""

from __future__ import annotations

import logging
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from flagmm.errors import DataError
from flagmm.media.source import is_url

logger = logging.getLogger(__name__)

MessageList = list[dict[str, Any]]
_MEDIA = ("image", "video")


def message_list(message: Any) -> MessageList:
    """A message as a list of `dict(type=…, value=…)`, from such a list, one of them, a text, or a list of texts.

    A text in a list that names a file, or is a URL, is a picture, or a video where its ending says so.

    Raises:
        DataError: it is none of these, or a text looks like the name of a picture that is not there.
    """
    if isinstance(message, str):
        return [{"type": "text", "value": message}]
    if isinstance(message, Mapping):
        message = [message]
    if isinstance(message, Sequence) and message:
        if all(isinstance(item, str) for item in message):
            return [_item(text) for text in message]
        if all(isinstance(item, Mapping) and {"type", "value"} <= item.keys() for item in message):
            return [dict(item) for item in message]
    raise DataError(f"expected a text, texts, or a list of dict(type=…, value=…), found {message!r:.80}")


def _item(text: str) -> dict[str, Any]:
    medium = (mimetypes.guess_type(text)[0] or "").partition("/")[0]
    medium = medium if medium in _MEDIA else ""
    is_file = len(text) < 1000 and "\n" not in text and Path(text).is_file()
    if is_file or (is_url(text) and not any(map(str.isspace, text))):
        return {"type": medium or _MEDIA[0], "value": text}
    if medium and not any(map(str.isspace, text)):
        raise DataError(f"{text}: no such file")
    return {"type": "text", "value": text}


class MessageModel:
    """The methods that a model class may override, and those that it may call."""

    INTERLEAVE: ClassVar[bool] = True
    """Whether pictures may stand anywhere among the texts; where not, `message_to_promptimg` takes them apart."""
    allowed_types: ClassVar[Sequence[str]] = ("text", "image", "video")
    dump_image_func: Callable[..., list[str]] | None = None

    def use_custom_prompt(self, dataset: str) -> bool:
        """Whether `build_prompt` words the questions of a data set."""
        return False

    def build_prompt(self, line: Any, dataset: str | None = None) -> MessageList:
        """A question as messages.

        Args:
            line: the filled cells of the table's row, by column.
        """
        raise NotImplementedError(f"{type(self).__name__}: use_custom_prompt says yes, so write build_prompt")

    def set_dump_image(self, dump_image_func: Callable[..., list[str]]) -> None:
        """Called before `build_prompt`, with what gives the row's pictures."""
        self.dump_image_func = dump_image_func

    def dump_image(self, line: Any, dataset: str | None = None) -> list[str]:
        """The row's pictures: paths of files, or URLs."""
        if self.dump_image_func is None:
            raise DataError("dump_image: only a run can give a row's pictures, through set_dump_image")
        return self.dump_image_func(line)

    def message_to_promptimg(self, message: MessageList, dataset: str | None = None) -> tuple[str, str | None]:
        """All texts of a message as one, and its first picture, for models that take no more."""
        return self._text_and_first("image", message)

    def message_to_promptvideo(self, message: MessageList) -> tuple[str, str | None]:
        """All texts of a message as one, and its first video."""
        return self._text_and_first("video", message)

    def _text_and_first(self, medium: str, message: MessageList) -> tuple[str, str | None]:
        found = [item["value"] for item in message if item["type"] == medium]
        if len(found) > 1:
            logger.warning("%s: takes the first of %d %ss", type(self).__name__, len(found), medium)
        text = "\n".join(item["value"] for item in message if item["type"] == "text")
        return text, next(iter(found), None)

    def _checked(self, message: Any) -> MessageList:
        messages = message_list(message)
        for item in messages:
            if item["type"] not in self.allowed_types:
                raise DataError(f"{type(self).__name__}: takes {', '.join(self.allowed_types)}, not {item['type']!r}")
        return messages

    def _checked_turns(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        if not messages or messages[-1].get("role") != "user":
            raise DataError("chat: expected turns of dict(role=…, content=…), the last one of the user")
        return [{"role": turn["role"], "content": self._checked(turn["content"])} for turn in messages]
