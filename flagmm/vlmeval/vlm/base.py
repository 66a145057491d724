"""BaseModel: a model in this process, of which `generate_inner` is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from flagmm.vlmeval.messages import MessageList, MessageModel

__all__ = ["BaseModel"]


class BaseModel(MessageModel):
    """Write `generate_inner`, and perhaps `use_custom_prompt` with `build_prompt`, `chat_inner`, `split_thinking`."""

    INTERLEAVE: ClassVar[bool] = False

    def generate_inner(self, message: MessageList, dataset: str | None = None) -> str:
        """The reply to one message: texts, and pictures as paths of files or URLs."""
        raise NotImplementedError(f"{type(self).__name__}: write generate_inner")

    def generate(self, message: Any, dataset: str | None = None) -> str:
        """The reply to a message in any form that `message_list` takes."""
        return self.generate_inner(self._checked(message), dataset=dataset)

    def chat_inner(self, message: list[dict[str, Any]], dataset: str | None = None) -> str:
        """The reply to a conversation: turns of `dict(role=…, content=…)`, the last one of the user."""
        raise NotImplementedError(f"{type(self).__name__}: write chat_inner")

    def chat(self, messages: Sequence[Mapping[str, Any]], dataset: str | None = None) -> str:
        """The reply to a conversation whose contents are in any form that `message_list` takes."""
        return self.chat_inner(self._checked_turns(messages), dataset=dataset)
