"""Known secrets out of texts that others wrote: log records, errors, and replies, in whatever form they come back."""

from __future__ import annotations

import json
import logging
import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from urllib.parse import quote, quote_plus

from flagmm.config.secrets import MASK, is_secret_key, mask_command, mask_urls, url_secrets
from flagmm.printable import printable, printable_block

LEAST_LENGTH = 4
"""Characters of a secret that is looked for in logs and errors: a shorter one would blank half of any text."""
LEAST_IN_REPLIES = 8
"""The same for the answers of models, where a word that is used as a key must not change what is scored."""
_LEAST_ENCODED = 6  # of which base64 still is long enough not to occur by chance

_SECRET_FLAGS = ("api-key", "apikey", "key", "judge-key", "judge-api-key", "token", "auth-token", "password")

Hide = Callable[[str], str]
"""What takes secrets out of a text."""


class Redactor:
    """Replaces secrets in texts: as they are, in base64 (also inside more of it), hex, URLs and escapes of JSON.

    Args:
        secrets: the texts to be replaced.
        least: secrets of fewer characters are left.
    """

    def __init__(self, secrets: Iterable[str], *, least: int = LEAST_LENGTH) -> None:
        forms = {form for secret in secrets if len(secret) >= least for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)  # one may be the beginning of another

    def __call__(self, text: str) -> str:
        for form in self._forms:  # each a search of C's speed: a thousand characters take less than a microsecond
            text = text.replace(form, MASK)
        return text


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with each of the secrets, where it occurs, replaced. Ones too short to be keys are left."""
    return Redactor(secrets)(text)


def redact_error(text: str, secrets: Iterable[str] = ()) -> str:
    """What went wrong, as it is kept in a file: without the secrets, the environment's, and passwords in URLs."""
    return mask_urls(redact(text, [*secrets, *environment_secrets()]))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield from (quote(secret, errors="replace"), quote(secret, safe="", errors="replace"))
    yield quote_plus(secret, errors="replace")
    yield from (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    if len(secret) < _LEAST_ENCODED:
        return
    data = secret.encode("utf-8", "replace")
    yield data.hex()
    for text in _base64_forms(data):
        yield from (text, text.replace("+", "-").replace("/", "_"))


def _base64_forms(data: bytes) -> Iterator[str]:
    whole = b64encode(data).decode()
    yield from (whole, whole.rstrip("="))
    for before in range(3):  # bytes that stand before it in the group of three where it begins
        text = b64encode(bytes(before) + data).decode()
        sure = (before + len(data)) * 8 // 6  # characters that no byte after it takes part in
        yield text[(before * 8 + 5) // 6 : sure]


def hide_arguments(message: str, arguments: Iterable[str], *, known_flags: Iterable[str]) -> str:
    """A complaint about command-line arguments without the keys among them, misspelt flags and all."""
    arguments, known = list(arguments), frozenset(known_flags)
    hidden: list[tuple[str, str]] = []
    is_value = False
    for argument, masked in zip(arguments, mask_command(arguments), strict=True):
        flag, equals, _ = argument.partition("=")
        if flag.startswith("-") or is_secret_key(flag):
            is_value = flag not in known and _sounds_secret(flag)
            hidden.append((argument, f"{flag}={MASK}" if is_value and equals else masked))
        else:
            hidden.append((argument, MASK if is_value else masked))
    for argument, masked in sorted(hidden, key=lambda pair: len(pair[0]), reverse=True):
        if argument != masked:
            message = message.replace(argument, masked).replace(repr(argument)[1:-1], masked)
    return redact(message, environment_secrets())


def _sounds_secret(flag: str) -> bool:
    """Whether a flag that does not exist may be meant for one that takes a key."""
    name = flag.strip("-").replace("_", "-").lower()
    is_begun = len(name) > 0 and any(known.startswith(name) for known in _SECRET_FLAGS)
    return is_begun or is_secret_key(name, of_request=True) or bool(get_close_matches(name, _SECRET_FLAGS, cutoff=0.7))


def environment_secrets() -> list[str]:
    """Keys, tokens and passwords of proxies in the environment, save what is too short for one or is a path."""
    found: list[str] = []
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy"):
            found += url_secrets(value)
        elif len(value) >= LEAST_IN_REPLIES and not value.startswith("/") and is_secret_key(name, of_request=True):
            found.append(value.strip())
    return found


class RedactingFormatter(logging.Formatter):
    """Writes log records, tracebacks included, without secrets, and each message on one line of printable characters.

    Attributes:
        secrets: those to leave out beside the environment's; may grow.
    """

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.secrets: list[str] = []
        self._known = (-1, -1)
        self._hide = Redactor(())

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        record.message = printable(" ".join(self._clean(record.message).splitlines()))
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:  # noqa: N802  # logging's name
        return printable_block(self._clean(super().formatException(ei)))  # type: ignore[arg-type]

    def _clean(self, text: str) -> str:
        known = (len(self.secrets), len(os.environ))
        if known != self._known:  # a file of variables was read, or a model file
            self._known, self._hide = known, Redactor([*self.secrets, *environment_secrets()])
        return mask_urls(self._hide(text))
