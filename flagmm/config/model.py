"""A model file, flags and environment -> ModelSpec, checked once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, get_args

from flagmm.config.env import resolve_key
from flagmm.config.http_settings import check_http_settings
from flagmm.config.plain_values import MOST_CALLS, is_number
from flagmm.config.secrets import MASK, Secret, header_secrets, is_secret_key, mask, mask_url, secrets_in, url_secrets
from flagmm.errors import ConfigError
from flagmm.hints import mismatch, shown
from flagmm.registry import did_you_mean
from flagmm.types import VideoMode

logger = logging.getLogger(__name__)

DEFAULT_WORKERS = 8
DEFAULT_TIMEOUT = 600.0
DEFAULT_RETRIES = 5
DEFAULT_FETCH_BYTES = 100 << 20
DEFAULT_FETCH_TIMEOUT = 60.0


class Unsaid(int):
    """A number that nobody gave: the default of a setting that means less than the same number when it is given."""


DEFAULT_FRAMES = Unsaid(16)


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """One model and how to call it. None means "not given": nothing is sent, or the endpoint's default holds."""

    model_name: str
    model_type: str = "http"
    chat_name: str | None = None
    """The name shown in tables, where it should differ from `model_name`."""
    url: str | None = field(default=None, repr=False)  # may hold a key, as may the others that are not printed
    api_key: Secret | None = None
    max_tokens: int | None = None
    max_tokens_key: str | None = None
    """What `max_tokens` is called in requests, where it is not called so."""
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stream: bool = False
    system_prompt: str | None = None
    num_workers: int = DEFAULT_WORKERS
    num_infers: int = 1
    use_cache: bool = False
    max_image_size: int | None = None
    """Limit in bytes on one picture as it is sent, in base64."""
    max_long_side: int | None = None
    """Pixels."""
    min_short_side: int | None = None
    """Pixels."""
    image_detail: str | None = None
    """How closely the endpoint is asked to look at pictures whose data do not say; None sends nothing of it."""
    max_num_frames: int = DEFAULT_FRAMES
    """Frames of a video whose data ask for no number of them; the default does not bound how many a data set asks of
    each second."""
    video_mode: VideoMode | None = None
    """Whether videos are sent as files or as frames; None leaves it to the data set."""
    fetch_media: bool = False
    """Whether media behind URLs are fetched by us and sent as data, instead of leaving the URL to the endpoint."""
    fetch_media_max_bytes: int = DEFAULT_FETCH_BYTES
    """Limit on one medium that is fetched."""
    fetch_timeout: float = DEFAULT_FETCH_TIMEOUT
    """Seconds for fetching one medium, redirects included."""
    allow_private_media: bool = False
    """Whether media are fetched from addresses of this machine and of private networks, too."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for one attempt."""
    retries: int = DEFAULT_RETRIES
    """Further attempts after the first."""
    proxy: str | None = field(default=None, repr=False)
    """URL of a proxy for this endpoint; None leaves it to the environment."""
    reasoning: Any = None
    thinking: Any = None
    provider: Any = None
    extra_body: dict[str, Any] = field(default_factory=dict, repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    backend: str | None = None
    extra_args: Any = field(default=None, repr=False)
    server_port: int | None = None
    output_dir: str | None = None
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    """Keys that only this `model_type` takes."""
    identity: str | None = None
    """What the endpoint says that it serves as `model_name`; learned from it, never given."""

    @property
    def shown_name(self) -> str:
        return self.chat_name or self.model_name

    def secrets(self) -> list[str]:
        """Every text of this spec that must not be shown."""
        texts = [self.api_key.reveal()] if self.api_key else []
        texts += [text for url in (self.url, self.proxy) if url for text in url_secrets(url)]
        sent = (self.extra_body, self.reasoning, self.thinking, self.provider, self.extra_args)
        texts += [*header_secrets(self.headers), *secrets_in(sent, of_request=True), *secrets_in(self.options)]
        return list(dict.fromkeys(texts))

    def answer_settings(self) -> dict[str, Any]:
        """What decides an answer beside the question, secrets left out; a change here makes saved answers unfit."""
        names = (
            "model_type", "model_name", "max_tokens", "temperature", "top_p", "seed", "system_prompt", "reasoning",
            "thinking", "provider", "extra_body", "max_image_size", "max_long_side", "min_short_side", "max_num_frames",
            "options",
        )  # fmt: skip
        settings = {name: getattr(self, name) for name in names}
        # Younger than saved answers, whose settings must stay what they were.
        settings |= {
            name: value
            for name in ("video_mode", "fetch_media", "image_detail", "max_tokens_key")
            if (value := getattr(self, name))
        }
        return {"url": mask_url(self.url) if self.url else None, **settings}


@dataclass(frozen=True)
class _Check:
    expected: str
    holds: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value


def _is_whole(value: Any) -> bool:
    return is_number(value) and value == int(value)


_MAX_TOKENS_KEYS = ("max_tokens", "max_completion_tokens")
_TEXT = _Check("a text", lambda value: isinstance(value, str) and value != "")
_OPTIONAL_TEXT = _Check("a text", lambda value: isinstance(value, str), lambda value: value or None)
_COUNT = _Check("a whole number above 0", lambda value: _is_whole(value) and value > 0, int)
_WHOLE = _Check("a whole number", _is_whole, int)
_NOT_NEGATIVE = _Check("a whole number, 0 or more", lambda value: _is_whole(value) and value >= 0, int)
_SECONDS = _Check("a number of seconds above 0", lambda value: is_number(value) and value > 0, float)
_TEMPERATURE = _Check("a number, 0 or more", lambda value: is_number(value) and value >= 0)
_FRACTION = _Check("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
_VIDEO_MODE = _Check('"file" or "frames"', lambda value: value in get_args(VideoMode))
_FLAG = _Check("true or false", lambda value: isinstance(value, bool))
_OBJECT = _Check("an object", lambda value: isinstance(value, dict))
_HEADERS = _Check(
    "an object of texts",
    lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
)
_DETAIL = _Check('"low", "high" or "auto"', lambda value: value in ("low", "high", "auto"))
_MAX_TOKENS_KEY = _Check('"max_tokens" or "max_completion_tokens"', lambda value: value in _MAX_TOKENS_KEYS,
                         lambda value: None if value == "max_tokens" else value)  # fmt: skip
_ANY = _Check("a value", lambda value: True)

_CHECKS = {
    "model_name": _TEXT, "model_type": _TEXT, "chat_name": _OPTIONAL_TEXT, "url": _OPTIONAL_TEXT,
    "api_key": _OPTIONAL_TEXT, "max_tokens": _COUNT, "temperature": _TEMPERATURE, "top_p": _FRACTION, "seed": _WHOLE,
    "max_tokens_key": _MAX_TOKENS_KEY,
    "stream": _FLAG, "system_prompt": _OPTIONAL_TEXT, "num_workers": _COUNT, "num_infers": _COUNT, "use_cache": _FLAG,
    "max_image_size": _COUNT, "max_long_side": _COUNT, "min_short_side": _COUNT, "max_num_frames": _COUNT,
    "timeout": _SECONDS, "retries": _NOT_NEGATIVE, "reasoning": _ANY, "thinking": _ANY, "provider": _ANY,
    "extra_body": _OBJECT, "headers": _HEADERS, "backend": _TEXT, "extra_args": _ANY, "server_port": _COUNT,
    "output_dir": _TEXT, "video_mode": _VIDEO_MODE, "fetch_media": _FLAG, "fetch_media_max_bytes": _COUNT,
    "fetch_timeout": _SECONDS, "allow_private_media": _FLAG, "image_detail": _DETAIL, "proxy": _OPTIONAL_TEXT,
}  # fmt: skip
_MOST = {
    "num_infers": MOST_CALLS, "num_workers": MOST_CALLS, "retries": MOST_CALLS, "timeout": 10**7,
    "fetch_timeout": 10**7,
}  # fmt: skip
_OLD_NAMES = {"retry_time": "timeout", "base_url": "url"}
_IGNORED = {
    "model_path", "launch_model", "tensor_parallel_size", "width", "height", "num_inference_steps", "guidance_scale",
    "max_sequence_length", "skip_exists",
}  # fmt: skip


def parse_model(
    values: Mapping[str, Any],
    flags: Mapping[str, Any] | None = None,
    *,
    source: str,
    own_keys: Callable[[str], Mapping[str, Any]] = lambda model_type: {},
) -> ModelSpec:
    """Check a model file's values, with the flags that were given put over them.

    Args:
        source: the file, for error messages.
        own_keys: the keys that only a given `model_type` takes, with the types of their values.

    Raises:
        ConfigError: an unknown key, a value of the wrong type, or settings that do not go together.
    """
    merged = {**_renamed(values), **(flags or {})}
    model_type = merged.get("model_type") or "http"
    own = _own_keys(own_keys, model_type, source) if isinstance(model_type, str) else {}
    checked: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for key, value in merged.items():
        if key in own:
            options[key] = value
            if text := mismatch(value, own[key]):
                raise ConfigError(f"{source}: {key}: {'expected another type' if is_secret_key(key) else text}")
        elif key in _IGNORED:
            logger.warning("%s: %s means nothing to an endpoint and is left out", source, key)
        elif key not in _CHECKS:
            raise ConfigError(f"{source}: unknown key {key!r}.{did_you_mean(key, {*_CHECKS, *own})}")
        elif value is not None:
            checked[key] = _checked(key, value, source)
    if model_type != "http":
        checked.setdefault("model_name", _name_of(model_type))
    if "model_name" not in checked:
        raise ConfigError(f"{source}: model_name is missing")
    checked["temperature"] = _temperature(merged, checked, source)
    api_key = resolve_key(checked.pop("api_key", None), where=source)
    if model_type == "http":
        headers = checked.get("headers", {})
        check_http_settings(checked.get("url"), api_key=api_key, headers=headers, source=source)
    return ModelSpec(**checked, api_key=Secret(api_key) if api_key else None, options=options)


def _name_of(model_type: str) -> str:
    """What a model is called that has no name: its type, of a class in a file "file.Class".

    >>> _name_of("clients/mine.py:Client"), _name_of("random")
    ('mine.Client', 'random')
    """
    file, colon, name = model_type.rpartition(":")
    return f"{PurePath(file).stem}.{name}" if colon else model_type


def _own_keys(own_keys: Callable[[str], Mapping[str, Any]], model_type: str, source: str) -> Mapping[str, Any]:
    try:
        return own_keys(model_type)
    except ConfigError as error:
        raise ConfigError(f"{source}: model_type: {error}") from error


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    renamed = dict(values)
    for old, new in _OLD_NAMES.items():
        if old in renamed:
            value = renamed.pop(old)
            renamed.setdefault(new, value)
    return renamed


def _checked(key: str, value: Any, source: str) -> Any:
    check = _CHECKS[key]
    if not check.holds(value):
        is_hidden = key in ("api_key", "headers") or (check is _OBJECT and isinstance(value, str))
        found = MASK if is_hidden else shown(mask(value, key=key))
        raise ConfigError(f"{source}: {key}: expected {check.expected}, found {found}")
    if key in _MOST and value > _MOST[key]:
        raise ConfigError(f"{source}: {key}: expected at most {_MOST[key]}, found {value:g}")
    if key == "extra_body" and "messages" in value:
        raise ConfigError(f"{source}: extra_body: messages: they are the questions of the data; leave it out")
    return check.convert(value)


def _temperature(given: Mapping[str, Any], checked: Mapping[str, Any], source: str) -> float | None:
    """0 where nothing was said, 1 for repeats; null in the file means that none is sent."""
    repeats = checked.get("num_infers", 1)
    if "temperature" not in given:
        return 0 if repeats == 1 else 1
    temperature = checked.get("temperature")
    if repeats > 1 and temperature == 0:
        raise ConfigError(
            f"{source}: num_infers {repeats} with temperature 0 would ask for the same answer {repeats} times; "
            "set a temperature above 0, or num_infers 1"
        )
    return temperature
