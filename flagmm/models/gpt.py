"""Models as a task's own scoring code asks them, under the names and with the calls that FlagEvalMM gives them.

A `GPT` is either the judge that scoring code is given, or one that it makes itself: that one has its settings only,
and is asked by whoever runs the scoring (`lending`), so that its calls are retried, counted and kept as a judge's are.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Protocol, get_args

from flagmm.config.model import ModelSpec, parse_model
from flagmm.errors import ConfigError, DataError
from flagmm.media.source import to_source
from flagmm.models.api_response import ApiResponse, ApiUsage
from flagmm.types import ImagePart, Message, ModelOutput, Part, Role, TextPart

logger = logging.getLogger(__name__)

_ROLES = get_args(Role)
_DEFAULT_FRAMES = 16
_TAKEN = (
    "model_name", "chat_name", "url", "base_url", "api_key", "max_tokens", "temperature", "top_p", "seed", "stream",
    "system_prompt", "num_workers", "use_cache", "max_image_size", "max_long_side", "min_short_side", "timeout",
    "retry_time", "retries", "reasoning", "thinking", "provider", "extra_body", "headers",
)  # fmt: skip


class BaseApiModel:
    """What scoring code can ask. A class of a task's own brings `_chat`, a generator of the parts of a reply."""

    model_name: str = ""
    chat_name: str = ""
    max_num_frames: int = _DEFAULT_FRAMES

    def __init__(self, model_name: str, chat_name: str | None = None, **settings: Any) -> None:
        self.model_name, self.chat_name = model_name, chat_name or model_name
        self.max_num_frames = settings.get("max_num_frames") or _DEFAULT_FRAMES
        self.chat_args = {name: settings[name] for name in ("temperature", "max_tokens") if name in settings}

    def build_message(
        self,
        query: str,
        system_prompt: str | None = None,
        multi_modal_data: Mapping[str, Any] | str | os.PathLike[str] | Sequence[Any] | None = None,
        past_messages: Iterable[Mapping[str, Any]] | None = None,
        *,
        image_paths: str | os.PathLike[str] | Sequence[Any] = (),
    ) -> list[dict[str, Any]]:
        """Messages in the form of OpenAI's API: what came before, then the query with its pictures after the text.

        Args:
            multi_modal_data: `image` with paths or pictures, `video` with a path, whose frames are pictures; or
                paths of pictures.
            image_paths: the same paths by another name.
        """
        messages = [dict(message) for message in past_messages or ()]
        if system_prompt and not any(message.get("role") == "system" for message in messages):
            messages.insert(0, {"role": "system", "content": system_prompt})
        paths = [*self._pictures(multi_modal_data), *_listed(image_paths)]
        pictures = [{"type": "image_url", "image_url": {"url": path}} for path in paths]
        messages.append({"role": "user", "content": [{"type": "text", "text": query}, *pictures]})
        return messages

    def infer(self, chat_messages: Any, **settings: Any) -> ApiResponse:
        """The parts that `_chat` gives, joined."""
        return ApiResponse("".join(str(part) for part in self._chat(chat_messages, **settings)))

    def _chat(self, chat_messages: Any, **settings: Any) -> Iterable[str]:
        raise NotImplementedError

    def _pictures(self, data: Any) -> Iterator[Any]:
        if not isinstance(data, Mapping):
            yield from _listed(data)
            return
        for kind in data.keys() - {"image", "video"}:
            raise DataError(f"build_message: multi_modal_data: expected image or video, found {kind!r}")
        yield from _listed(data.get("image"))
        for path in _listed(data.get("video")):
            from PIL import Image

            from flagmm.common.video_utils import load_image_or_video

            yield from map(Image.fromarray, load_image_or_video(path, self.max_num_frames, return_tensors=False))


def _listed(value: Any) -> list[Any]:
    is_one = isinstance(value, str | os.PathLike) or hasattr(value, "save")  # a path, or a picture itself
    return [value] if is_one else list(value or ())


class Lender(Protocol):
    """Asks the models that scoring code makes itself."""

    def lent(self, spec: ModelSpec) -> GPT:
        """The model, for calls from any thread."""
        ...


_lenders: list[Lender] = []  # of the scorings under way; the innermost is the last


@contextmanager
def lending(lender: Lender) -> Iterator[None]:
    """Have `lender` ask the models that code makes meanwhile, or made before."""
    _lenders.append(lender)
    try:
        yield
    finally:
        _lenders.remove(lender)


class GPT(BaseApiModel):
    """A model in the hands of scoring code. Its calls return when the reply is there; threads may ask side by side.

    Args:
        settings: as of a model file (`url` or `base_url`, the `/v1` root or the full address; `api_key`, `max_tokens`,
            `temperature`, …), and `json_mode`. What has no effect is told.

    Raises:
        ConfigError: a setting is wrong, or there is no address.
    """

    def __init__(self, model_name: str, chat_name: str | None = None, **settings: Any) -> None:
        super().__init__(model_name, chat_name, **settings)
        self._made_of = _spec_of(type(self).__name__, {"model_name": model_name, "chat_name": chat_name, **settings})

    def infer(
        self, chat_messages: str | Sequence[Mapping[str, Any]], *, question_id: object = None, **settings: Any
    ) -> ApiResponse:
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
            ConfigError: scoring code made this model, and no scoring is under way.
        """
        about = None if question_id is None else str(question_id)
        output = self._ask(read_messages(chat_messages), settings, question_id=about)
        usage = None if output.usage is None else ApiUsage(**asdict(output.usage))
        return ApiResponse(output.text, usage, reason=output.reason, finish_reason=output.finish_reason)

    def _ask(
        self, messages: tuple[Message, ...], settings: Mapping[str, Any], *, question_id: str | None = None
    ) -> ModelOutput:
        """One call, waited for."""
        if not _lenders:
            raise ConfigError(
                f"{type(self).__name__}: {self.model_name} can be asked while answers are scored only, from get_result "
                "or the methods of an evaluator"
            )
        return _lenders[-1].lent(self._made_of)._ask(messages, settings, question_id=question_id)


def _spec_of(name: str, values: Mapping[str, Any]) -> ModelSpec:
    """The settings of a model that scoring code makes; what FlagEvalMM's clients take, and has no effect, is told."""
    where = f"{name}({values['model_name']!r})"
    if values.get("use_azure_api"):
        raise ConfigError(f"{where}: use_azure_api: not spoken here; give url and headers of an OpenAI-like address")
    given = {key: value for key, value in values.items() if value is not None or key == "temperature"}
    taken = {key: given.pop(key) for key in _TAKEN if key in given}
    if given.pop("json_mode", False):
        taken["extra_body"] = {"response_format": {"type": "json_object"}, **taken.get("extra_body", {})}
    ignored = sorted(given.keys() - {"use_azure_api", "max_num_frames"})
    if ignored:
        logger.warning("%s: %s: has no effect", where, ", ".join(ignored))
    spec = parse_model(taken, source=where)
    if not spec.url:
        raise ConfigError(f"{where}: url: missing, or empty; give the URL of its endpoint")
    return spec


# FlagEvalMM's other clients, by the names that scoring code imports and checks for.
HttpClient = Claude = Gemini = Hunyuan = GPT


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
