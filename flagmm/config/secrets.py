"""Keys and passwords: wrapped so that printing does not show them, and masked wherever they might surface."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

MASK = "***"
_SECRET_KEY = re.compile(
    r"(?i)(^|[_-])((api|access|secret|private|subscription|account|judge)[_-]?key"
    r"|(access|auth|api|bearer|refresh|session|security)[_-]?token"
    r"|(hf|hub|huggingface|github|openai|azure|google|gemini|anthropic|claude|dashscope|deepseek|openrouter|stepai|minimax)"
    r"[_-]?(key|token)"
    r"|secret|password|passwd|authorization|credentials?|signature|cookie)$|^(key|token|sig)$"
)
_SECRET_IN_TEXT = re.compile(
    r"""(["']?[\w-]*(?:key|token|secret|password|authorization)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,}]+)""",
    re.IGNORECASE,
)
_HEADERS = ("headers", "extra_headers")
_SECRET_FLAG = re.compile(r"--(\w+[-_])?key")  # --api-key, --key, --judge-key
# The flag with its value, or the flag of another command inside the value of one of ours.
_KEY_IN_ARGUMENT = re.compile(r"(?s)^(--(?:\w+[-_])?key=).+|(--(?:\w+[-_])?key[= ]+)\S+")


class Secret:
    """A text that shows itself only when asked with `reveal`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    def __str__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def is_secret_key(name: str) -> bool:
    """Whether a value under this key is taken for a secret.

    >>> is_secret_key("api_key"), is_secret_key("X-Api-Key"), is_secret_key("max_tokens")
    (True, True, False)
    """
    return bool(_SECRET_KEY.search(name))


def mask(value: Any, *, key: str = "") -> Any:
    """A copy of a config value with every secret in it replaced; URLs lose passwords and secret parameters."""
    if isinstance(value, Secret) or (value and isinstance(value, str) and is_secret_key(key)):
        return MASK
    if isinstance(value, Mapping):
        hide_all = key.lower() in _HEADERS
        return {name: MASK if hide_all and item else mask(item, key=str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask(item, key=key) for item in value]
    if isinstance(value, str) and "://" in value:
        return mask_url(value)
    return value


def secrets_in(value: Any, *, key: str = "") -> list[str]:
    """The texts that `mask` hides in a config value.

    >>> secrets_in({"model": "gpt", "key": "sk-1", "judge": {"headers": {"X": "abc"}}})
    ['sk-1', 'abc']
    """
    if isinstance(value, Secret):
        return [value.reveal()]
    if isinstance(value, Mapping):
        hide_all = key.lower() in _HEADERS
        return [text for name, item in value.items() for text in secrets_in(item, key="key" if hide_all else str(name))]
    if isinstance(value, list | tuple):
        return [text for item in value for text in secrets_in(item, key=key)]
    if not isinstance(value, str) or not value:
        return []
    return [value] if is_secret_key(key) else url_secrets(value) if "://" in value else []


def mask_url(url: str) -> str:
    """The URL without its password and with secret query parameters masked.

    >>> mask_url("https://u:pw@host/v1?api-key=abc&api-version=1")
    'https://***@host/v1?api-key=***&api-version=1'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{url.partition('://')[0]}://{MASK}"
    netloc = f"{MASK}@{parts.netloc.rpartition('@')[2]}" if "@" in parts.netloc else parts.netloc
    query = parts.query
    if any(is_secret_key(name) for name, _ in parse_qsl(query)):
        pairs = [(name, MASK if is_secret_key(name) else value) for name, value in parse_qsl(query)]
        query = urlencode(pairs, safe="*")
    if (netloc, query) == (parts.netloc, parts.query):
        return url  # as it stands: taking it apart drops line breaks, and not every text with "://" is a URL
    return urlunsplit(parts._replace(netloc=netloc, query=query))


def url_secrets(url: str) -> list[str]:
    """What `mask_url` hides, as it stands in the URL and decoded.

    >>> url_secrets("https://u:p%40w@host/v1?api-key=abc&api-version=1")
    ['p%40w', 'p@w', 'abc']
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    found = [parts.password, unquote(parts.password)] if parts.password else []
    found += [value for name, value in parse_qsl(parts.query) if is_secret_key(name)]
    return list(dict.fromkeys(found))


def mask_command(arguments: Iterable[str]) -> list[str]:
    """Command-line arguments with the values of `--api-key` and its like masked, and any secrets in URLs."""
    masked, hide_next = [], False
    for argument in arguments:
        masked.append(MASK if hide_next else _mask_argument(argument))
        hide_next = not hide_next and _SECRET_FLAG.fullmatch(argument) is not None
    return masked


def _mask_argument(argument: str) -> str:
    argument = _KEY_IN_ARGUMENT.sub(lambda match: f"{match[1] or match[2]}{MASK}", argument)
    flag, equals, value = argument.partition("=")
    if equals and flag.startswith("--"):
        return f"{flag}={_mask_value(value)}"
    return _mask_value(argument)


def _mask_value(text: str) -> str:
    """The value of a flag: JSON and pairs, as in "a=1,b=2", lose the secrets in them."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(mask(json.loads(text)), ensure_ascii=False)
        except (ValueError, RecursionError):
            return _SECRET_IN_TEXT.sub(rf"\g<1>{MASK}", text)
    pairs = [pair.partition("=") for pair in text.split(",")]
    if any(equals and is_secret_key(name.strip()) for name, equals, _ in pairs):
        masked = [
            f"{name}{equals}{MASK if is_secret_key(name.strip()) else mask(value)}" for name, equals, value in pairs
        ]
        return ",".join(masked)
    return str(mask(text))


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with each of the secrets, where it occurs, replaced. Ones too short to be keys are left."""
    for secret in sorted(secrets, key=len, reverse=True):  # one may be the beginning of another
        if len(secret) >= 4:
            text = text.replace(secret, MASK)
    return text


class RedactingFormatter(logging.Formatter):
    """Writes log records, tracebacks included, without the given secrets."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.secrets: list[str] = []

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record), self.secrets)
