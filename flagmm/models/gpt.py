"""GPT: a model as a task's own scoring code asks it, under the name and with the calls that FlagEvalMM gives it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from flagmm.errors import ConfigError, DataError
from flagmm.media.source import to_source
from flagmm.types import ImagePart, Message, ModelOutput, Part, Role, TextPart, Usage

_ROLES = get_args(Role)


class ReplyText(str):
    """A reply: the text itself, which is `content`, too."""

    reason: str
    """The thinking part."""
    usage: Usage | None
    finish_reason: str | None

    def __new__(
        cls, text: str, *, reason: str = "", usage: Usage | None = None, finish_reason: str | None = None
    ) -> ReplyText:
        reply = super().__new__(cls, text)
        reply.reason, reply.usage, reply.finish_reason = reason, usage, finish_reason
        return reply

    @property
    def content(self) -> str:
        return str(self)


class GPT(ABC):
    """A judge in the hands of scoring code. Its calls return when the reply is there; threads may ask side by side.

    A task cannot make one, since its calls would be counted nowhere: it is given one.
    """

    def __new__(cls, *args: Any, **settings: Any) -> GPT:
        if cls is GPT:
            raise ConfigError(
                "GPT is not made by a task's code: give the evaluator judge=dict(…), or --judge, "
                "and take it as third argument of get_result"
            )
        return super().__new__(cls)

    def build_message(
        self,
        query: str,
        system_prompt: str | None = None,
        image_paths: str | os.PathLike[str] | Sequence[Any] = (),
        past_messages: Iterable[Mapping[str, Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """Messages in the form of OpenAI's API: what came before, then the query with its pictures after the text."""
        messages = [dict(message) for message in past_messages or ()]
        if system_prompt and not any(message.get("role") == "system" for message in messages):
            messages.insert(0, {"role": "system", "content": system_prompt})
        paths = [image_paths] if isinstance(image_paths, str | os.PathLike) else list(image_paths or ())
        pictures = [{"type": "image_url", "image_url": {"url": path}} for path in paths]
        messages.append({"role": "user", "content": [{"type": "text", "text": query}, *pictures]})
        return messages

    def infer(
        self, chat_messages: str | Sequence[Mapping[str, Any]], *, question_id: object = None, **settings: Any
    ) -> ReplyText:
        """The reply to a conversation.

        Args:
            chat_messages: what `build_message` gives, messages of that form, or a text.
            question_id: of the prediction that is judged, under which `_evaluated.json` then shows the call; by default
                that of the prediction at which a loop over them stands. It is not sent.
            settings: `temperature`, `top_p`, `seed`, `max_tokens`, or other fields of a request. What the judge's own
                settings name goes before them.

        Raises:
            ModelError: the call failed, also when tried again.
            JudgeError: the judge cannot be used at all.
            DataError: the messages are in no known form, or a picture cannot be read.
        """
        about = None if question_id is None else str(question_id)
        output = self._ask(read_messages(chat_messages), settings, question_id=about)
        return ReplyText(output.text, reason=output.reason, usage=output.usage, finish_reason=output.finish_reason)

    @abstractmethod
    def _ask(
        self, messages: tuple[Message, ...], settings: Mapping[str, Any], *, question_id: str | None = None
    ) -> ModelOutput:
        """One call, waited for."""


# FlagEvalMM's other clients and what they give, by the names that scoring code imports and checks for.
HttpClient = Claude = Gemini = Hunyuan = GPT
ApiResponse = ReplyText
ApiUsage = Usage


def read_messages(messages: str | Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages in the form of OpenAI's API as ours; pictures may be paths.

    Raises:
        DataError: they are in another form.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    return tuple(_message(message) for message in messages)


def _message(message: Mapping[str, Any]) -> Message:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise DataError(f"chat_messages: expected messages with a role ({', '.join(_ROLES)}), found {message!r:.80}")
    content = message.get("content")
    items = [content] if isinstance(content, str | Mapping) else content or []
    return Message(role=message["role"], content=tuple(_part(item) for item in items))


def _part(item: Any) -> Part:
    if isinstance(item, str):
        return TextPart(text=item)
    if isinstance(item, Mapping) and isinstance(item.get("text"), str):
        return TextPart(text=item["text"])
    if isinstance(item, Mapping) and item.get("image_url"):
        picture = item["image_url"]
        return ImagePart(source=to_source(picture.get("url") if isinstance(picture, Mapping) else picture, root=None))
    raise DataError(f"chat_messages: expected parts of type text or image_url, found {item!r:.80}")
