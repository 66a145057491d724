"""A model class in VLMEvalKit's shape, with `generate_inner(message, dataset)`, as a client."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from types import TracebackType
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.errors import DataError, ModelError
from flagmm.models.client import BaseClient
from flagmm.models.media_files import MediaFiles
from flagmm.models.openai_reply import make_output
from flagmm.plugin import kept_place
from flagmm.types import CallSettings, Message, ModelOutput

KEYWORDS = "kwargs"
"""The key of a model file that holds the keywords of such a class."""
_SPLITTERS = ("split_thinking", "split_think")

MessageList = list[dict[str, Any]]


def takes_messages(entry: Any) -> bool:
    """Whether a class is one of this shape."""
    return inspect.isclass(entry) and callable(getattr(entry, "generate_inner", None))


class MessageClassClient(BaseClient):
    """One instance of the class, asked by one thread at a time, or by `num_workers` of them where it says `is_api`.

    Args:
        entry: the class.
        keywords: for its constructor.
    """

    def __init__(self, spec: ModelSpec, entry: Callable[..., Any], keywords: Mapping[str, Any]) -> None:
        self._spec = spec
        self._model = entry(**keywords)
        is_api = bool(getattr(self._model, "is_api", False))
        self._pool = ThreadPoolExecutor(spec.num_workers if is_api else 1, thread_name_prefix="model")
        # Prompts are built by another thread than answers.
        self._turn: Any = nullcontext() if is_api else threading.Lock()

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        """Ask it in a thread.

        Raises:
            ModelError: a medium cannot be read, or it gave no text.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, messages, settings.task)

    def words(self, dataset: str) -> bool:
        """Whether the class words the questions of a data set itself."""
        wants = getattr(self._model, "use_custom_prompt", None)
        with self._turn:
            return wants is not None and bool(wants(dataset))

    def build_prompt(self, row: Mapping[str, Any], dataset: str, dump_image: Callable[..., list[str]]) -> Any:
        """A question as the class words it.

        Args:
            row: the filled cells of the table's row.
            dump_image: gives the row's pictures as paths of files or URLs.
        """
        with self._turn:
            if hasattr(self._model, "set_dump_image"):
                self._model.set_dump_image(dump_image)
            return self._model.build_prompt(row, dataset=dataset)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)

    def _answer(self, messages: Sequence[Message], dataset: str) -> ModelOutput:
        with ExitStack() as opened:
            files = opened.enter_context(MediaFiles(self._spec, takes_videos=self._takes_videos))
            try:
                contents = [files.listed(message.content) for message in messages]
            except DataError as error:
                raise ModelError(str(error), kind="media") from error
            opened.enter_context(self._turn)
            opened.enter_context(kept_place())
            return self._output(self._ask(messages, contents, dataset))

    @property
    def _takes_videos(self) -> bool:
        return bool(getattr(self._model, "VIDEO_LLM", False))

    def _ask(self, messages: Sequence[Message], contents: Sequence[MessageList], dataset: str) -> Any:
        if len(messages) == 1:
            ask = getattr(self._model, "generate", self._model.generate_inner)
            return ask(contents[0], dataset=dataset)
        if not hasattr(self._model, "chat_inner"):
            name = type(self._model).__name__
            raise ModelError(f"a conversation of {len(messages)} messages, and {name} has no chat_inner", kind="model")
        turns = [
            {"role": message.role, "content": content} for message, content in zip(messages, contents, strict=True)
        ]
        return self._model.chat_inner(turns, dataset=dataset)

    def _output(self, reply: Any) -> ModelOutput:
        if isinstance(reply, tuple) and len(reply) == 3:  # of an API: return code, answer, log
            code, reply, log = reply
            if code != 0:
                raise ModelError(f"return code {code}: {log or reply}", kind="model")
        if isinstance(reply, Mapping) and "prediction" in reply:
            reply = reply["prediction"]
        if not isinstance(reply, str):
            raise ModelError(f"expected a text, found {type(reply).__name__}", kind="model")
        failure = str(getattr(self._model, "fail_msg", None) or "").strip()
        if failure and failure in reply:
            raise ModelError(reply, kind="model")
        split = next((each for name in _SPLITTERS if callable(each := getattr(self._model, name, None))), None)
        text, reason = (reply, "") if split is None else split(reply)
        return make_output(text=text, reason=reason, finish_reason="stop", usage=None, refused=False)
