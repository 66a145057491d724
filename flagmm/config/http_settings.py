"""Headers, key and URL of an endpoint: what no HTTP request can carry is told before the first one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from flagmm.errors import ConfigError

_AZURE_HOSTS = (".azure.com", ".azure.us", ".azure.cn")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def check_http_settings(url: str | None, *, api_key: str | None, headers: Mapping[str, str], source: str) -> None:
    """Refuse what cannot be sent; values are not shown, as they may be secrets.

    Raises:
        ConfigError: it names the key and what is wrong with it.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"{source}: headers: {name!r} is no name of a header")
        _check_value(value, f"{source}: headers: {name}")
    if api_key is not None:
        _check_value(api_key, f"{source}: api_key")
    credentials = _credentials(url)
    if credentials is not None:
        _check_credentials(credentials, url or "", has_key=api_key is not None, headers=headers, source=source)


def _check_credentials(
    credentials: tuple[str, str], url: str, *, has_key: bool, headers: Mapping[str, str], source: str
) -> None:
    for text in credentials:
        _check_value(text, f"{source}: url: user and password")
    if ":" in credentials[0]:
        raise ConfigError(f"{source}: url: the user's name holds a colon, which HTTP does not allow")
    if any(name.lower() == "authorization" for name in headers):
        raise ConfigError(f"{source}: url holds a user, and headers an Authorization; only one can be sent")
    if has_key and not is_azure(url):
        raise ConfigError(
            f"{source}: url holds a user, and there is an API key (of api_key, FLAGEVAL_API_KEY or OPENAI_API_KEY); "
            "only one can be sent, so remove the other"
        )


def is_azure(url: str) -> bool:
    """Whether the endpoint takes its key in a header of its own instead of as an authorization."""
    return (urlsplit(url).hostname or "").endswith(_AZURE_HOSTS)


def _credentials(url: str | None) -> tuple[str, str] | None:
    """User and password in the URL, decoded."""
    try:
        parts = urlsplit(url or "")
    except ValueError:  # told where the URL is used
        return None
    if parts.username is None and parts.password is None:
        return None
    return unquote(parts.username or ""), unquote(parts.password or "")


def _check_value(value: str, where: str) -> None:
    if _CONTROL.search(value):
        raise ConfigError(f"{where}: holds a line break or another control character, which no header can hold")
    try:
        value.encode("latin-1")
    except UnicodeEncodeError as error:
        place = error.start + 1
        raise ConfigError(f"{where}: its character {place} is not of Latin-1, and no header can hold it") from None
