"""Replies of a chat-completions endpoint -> ModelOutput or ModelError, whatever fields are missing."""

from __future__ import annotations

import calendar
import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any

from flagmm.config.redaction import Hide
from flagmm.config.secrets import mask_urls
from flagmm.errors import ErrorKind, ModelError
from flagmm.finish_reasons import ending_of, read_finish_reason
from flagmm.models.client import settled
from flagmm.printable import printable
from flagmm.thinking import split_thinking
from flagmm.types import ModelOutput, Usage

_RETRIED_STATUSES = {408, 409, 425, 429}
_KINDS: dict[int, ErrorKind] = {
    401: "auth", 402: "auth", 403: "auth", 407: "auth", 404: "not_found", 405: "not_found", 410: "not_found",
    408: "server", 409: "server", 425: "server", 429: "rate_limit",
}  # fmt: skip
_REFUSAL = re.compile(
    r"(?i)content[_ ]?(filter|policy|management)|data_inspection_failed|inappropriate content|responsibleai"
)
_IS_UNSUPPORTED = r"unsupported|not supported?|deprecated|unrecognized|unknown|unexpected|not (?:allowed|permitted)"
_WANTS_OTHER_LIMIT = re.compile(rf"(?i)max_completion_tokens.*instead|(?:{_IS_UNSUPPORTED}).*max_tokens"
                                rf"|max_tokens.*(?:{_IS_UNSUPPORTED}|max_completion_tokens.*instead)")  # fmt: skip
_TURNS_DOWN_TEMPERATURE = re.compile(
    rf"(?i)(?:{_IS_UNSUPPORTED})[^.]*\btemperature\b|\btemperature\b.*(?:{_IS_UNSUPPORTED}|\bonly\b|cannot|must be)"
)
_TEXT_LIMIT = 300
_READ_OF_PAGE = 4096  # characters of an error page; what matters stands at its beginning
_TAGS = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MOST_TOKENS = 10**12


def parse_completion(body: Any, *, hide: Hide = str) -> ModelOutput:
    """The reply in the body of a successful call.

    Args:
        hide: takes secrets out of what an error shows, before it is cut to its beginning.

    Raises:
        ModelError: the body is an error in disguise, or no completion.
    """
    if not isinstance(body, Mapping):
        raise bad_reply("the reply is no JSON object")
    if body.get("error"):
        raise error_in_body(body["error"], hide=hide)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise bad_reply("the reply has no choices")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, Mapping):
        # What ended before its first word may have no message at all.
        if ending_of(read_finish_reason(choice.get("finish_reason"))) in ("whole", "unknown"):
            raise bad_reply("the reply's choice has no message")
        message = {}
    return make_output(
        text=content_text(message.get("content")),
        reason=reasoning_text(message),
        finish_reason=choice.get("finish_reason"),
        usage=parse_usage(body.get("usage")),
        refused=bool(message.get("refusal")),
    )


def make_output(*, text: str, reason: str, finish_reason: Any, usage: Usage | None, refused: bool) -> ModelOutput:
    """A ModelOutput with inline thinking moved to `reason`.

    Raises:
        ModelError: the finish reason says that the server broke the generation off.
    """
    thought = split_thinking(text)
    return settled(
        ModelOutput(
            text=thought.answer,
            reason="\n".join(part for part in (reason, thought.reason) if part),
            usage=usage,
            finish_reason=read_finish_reason(finish_reason),
            refused=refused,
        )
    )


def content_text(content: Any) -> str:
    """The text of a message's `content`: a text, a part or a list of them, or null."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def reasoning_text(message: Mapping[str, Any]) -> str:
    """The thinking that a message holds beside its content."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str) and message[key]:
            return str(message[key])
    return ""


def parse_usage(usage: Any) -> Usage | None:
    """Token counts, each None where the endpoint gives none; None where it gives no count at all."""
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("completion_tokens_details")
    counts = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "total_tokens": usage.get("total_tokens"),
        "reasoning_tokens": details.get("reasoning_tokens") if isinstance(details, Mapping) else None,
    }
    known = {key: int(value) for key, value in counts.items() if value is not None and _is_count(value)}
    if {"prompt_tokens", "completion_tokens"} <= known.keys():
        known.setdefault("total_tokens", known["prompt_tokens"] + known["completion_tokens"])
    return Usage(**known) if known else None


def _is_count(value: Any) -> bool:
    """Whether the value can be a number of tokens."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < _MOST_TOKENS


def error_in_body(error: Any, *, hide: Hide = str) -> ModelError:
    """The error that a body holds although the status said success; gateways do that when a worker restarts."""
    text = _error_text(error, hide)
    if _REFUSAL.search(json.dumps(error, default=str)):
        return ModelError(text, kind="refused")
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return status_error(code, json.dumps({"error": error}, default=str), {}, hide=hide)
    return ModelError(f"the reply is an error: {text}", kind="server", retryable=True)


def status_error(status: int, body: str, headers: Mapping[str, str], *, hide: Hide = str) -> ModelError:
    """The error that an HTTP status of 300 or more means."""
    text = _body_text(body, hide)
    if 300 <= status < 400:
        place = printable(mask_urls(hide(headers.get("Location", "elsewhere"))))
        return ModelError(
            f"HTTP {status}: the endpoint redirects to {place}; use that URL", kind="not_found", status=status
        )
    if status in (400, 403, 422, 451) and _REFUSAL.search(body):
        return ModelError(f"HTTP {status}: {text}", kind="refused", status=status)
    kind = _KINDS.get(status, "server" if status >= 500 else "bad_request")
    return ModelError(
        f"HTTP {status}: {text}",
        kind=kind,
        status=status,
        retryable=status in _RETRIED_STATUSES or status >= 500,
        retry_after=parse_retry_after(headers.get("Retry-After")),
    )


def served_root(body: bytes, model_name: str) -> str | None:
    """The `root` of a model in a list of models: which weights are served under its name; None where it has none.

    A server of one model may take any name for it, so the only one of a list is that model.
    """
    try:
        listed = json.loads(body)["data"]
        models = [model for model in listed if model["id"] == model_name] or (listed if len(listed) == 1 else [])
        root = models[0]["root"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return root if isinstance(root, str) and root else None


def setting_hint(message: str, *, max_tokens: bool, temperature: bool) -> str:
    """Which setting of the model an error is about; "" where it is about none of these.

    Args:
        max_tokens: whether the request had one.
        temperature: whether the request had one.

    >>> setting_hint("'max_tokens' is not supported; use 'max_completion_tokens' instead", max_tokens=True,
    ...              temperature=True)
    ' (give the model "max_tokens_key": "max_completion_tokens")'
    """
    if max_tokens and _WANTS_OTHER_LIMIT.search(message):
        return ' (give the model "max_tokens_key": "max_completion_tokens")'
    if temperature and _TURNS_DOWN_TEMPERATURE.search(message):
        return ' (give the model "temperature": null to send none)'
    return ""


def parse_retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number of seconds or a date; None where the header says neither."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass  # perhaps a date
    try:
        moment = email.utils.parsedate_to_datetime(value)
        seconds = calendar.timegm(moment.utctimetuple())  # HTTP dates are GMT, also those that do not say so
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds - time.time())


def bad_reply(text: str) -> ModelError:
    """A success status with something that is no completion; a gateway's hiccup, or the wrong URL."""
    return ModelError(text, kind="bad_reply", retryable=True)


def parse_json(body: bytes, *, hide: Hide = str) -> Any:
    """The JSON value of a body.

    Raises:
        ModelError: it is none; the message shows how it begins.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise bad_reply(f"the reply is no JSON: {_body_text(body.decode('utf-8', 'replace'), hide)}") from None


def _body_text(body: str, hide: Hide) -> str:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _shorten(_TAGS.sub(" ", hide(body)[:_READ_OF_PAGE]), hide)
    return _error_text(value, hide)


def _error_text(value: Any, hide: Hide) -> str:
    """The message in an error object, however deep this endpoint puts it."""
    while isinstance(value, Mapping):
        inner = next((value[key] for key in ("error", "message", "detail", "msg") if value.get(key)), None)
        if inner is None:
            break
        value = inner
    return _shorten(value if isinstance(value, str) else json.dumps(value, default=str), hide)


def _shorten(text: str, hide: Hide) -> str:
    """The text's beginning on one line; secrets go first, as a cut would leave parts of them."""
    text = printable(" ".join(hide(text).split()))
    return (text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT] + "…") or "(empty)"
