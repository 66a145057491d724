"""Keys and passwords: wrapped so that printing does not show them, and masked wherever a config might show them."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MASK = "***"
_SECRET_KEY = re.compile(
    r"(?i)(^|[_-])((api|access|secret|private|subscription|account|judge)[_-]?key"
    r"|(access|auth|api|bearer|refresh|session|security)[_-]?token"
    r"|(hf|hub|huggingface|github|openai|azure|google|gemini|anthropic|claude|dashscope|deepseek|openrouter|stepai|minimax)"
    r"[_-]?(key|token)"
    r"|secret|password|passwd|passphrase|pwd|bearer|jwt|authorization|credentials?|signature|cookie)$"
    r"|^(key|token|sig|auth)$"
)
# Names of what a request carries beside the question: most that end so are keys of the service …
_SECRET_OF_REQUEST = re.compile(r"(?i)(^|[_-])(keys?|tokens?|auth|pass|secrets?|sid|sig|session)$")
_IN_CAMEL_CASE = re.compile(r"[a-z0-9](Key|Token|Auth|Secret|Password)s?$|AccessKeyId$")
# … save these, which are counts, marks of a tokenizer, and names of fields.
_NO_SECRET = re.compile(
    r"(?i)(^|[_-])(max|min|num|n|stop|eos|bos|pad|unk|sep|cls|mask|special|bad|allowed|banned|start|end|image|video|audio"
    r"|think|thinking|reasoning|budget|prompt|completion|total|new|forced|suppress|answer|cache|sort|group|primary|routing"
    r"|response|object|dict|field|column)[_-]?(keys?|tokens?)$"
)
_OF_REQUEST = ("headers", "extra_headers", "default_headers", "extra_body", "extra_args", "reasoning", "thinking",
               "provider", "extra_query")  # fmt: skip
_HEADERS = ("headers", "extra_headers", "default_headers")
_SECRET_IN_TEXT = re.compile(
    r"""(["']?[\w-]*(?:key|token|secret|passwo?r?d|pwd|auth|authorization)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,}]+)""",
    re.IGNORECASE,
)
_SECRET_FLAG = re.compile(r"--?(\w+[-_])?(api)?(key|token|auth|password|secret)")  # --api-key, --key, --judge-key
# The flag with its value, or the flag of another command inside the value of one of ours.
_KEY_IN_ARGUMENT = re.compile(r"(?s)^(--(?:\w+[-_])?(?:api)?key=).+|(--(?:\w+[-_])?(?:api)?key[= ]+)\S+")
_PAIR = re.compile(r"\s*[\w.-]+\s*=")
_PAIR_END = re.compile(r",(?=\s*[\w.-]+\s*=)")
_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_HOST_END = re.compile(r"[/?#\s]")
_PARAMETER = re.compile(r"(?<=[?&;#])([^=&;#?\s]+)=([^&;#\s]+)")
_WITH_PASSWORD = re.compile(r"[^\s/@:]+:[^\s@]+@[^\s/@:]+(:\d+)?(/\S*)?")
_URL_IN_TEXT = re.compile(r"""(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]+""")
_URL_KEY = re.compile(r"(?i)(^|[_-])(url|uri|proxy|proxies|endpoint|base|host)$")
_LEAST_NUMBER = 1000  # a smaller one is no key
_LONG_NUMBER = 8  # digits, from which one is no count


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


def is_secret_key(name: str, *, of_request: bool = False) -> bool:
    """Whether a value under this key is taken for a secret.

    Args:
        of_request: whether it is one of a header, a URL or a request's body, where more names are keys of the service.

    >>> is_secret_key("api_key"), is_secret_key("X-Api-Key"), is_secret_key("max_tokens")
    (True, True, False)
    >>> is_secret_key("my_key"), is_secret_key("my_key", of_request=True)
    (False, True)
    """
    if _SECRET_KEY.search(name):
        return True
    is_one = of_request and (_SECRET_OF_REQUEST.search(name) or _IN_CAMEL_CASE.search(name))
    return bool(is_one) and not _NO_SECRET.search(name)


def mask(value: Any, *, key: str = "", of_request: bool = False) -> Any:
    """A copy of a config value with every secret in it replaced; URLs lose users, passwords and secret parameters.

    Args:
        key: what the value stands under; all of what stands under a secret's name is replaced.
        of_request: as of `is_secret_key`; whatever is under `extra_body`, `headers` and their like is of a request.
    """
    return _masked(value, key, of_request=of_request, is_hidden=False)


def _masked(value: Any, key: str, *, of_request: bool, is_hidden: bool) -> Any:
    hides = is_hidden or is_secret_key(key, of_request=of_request)
    if isinstance(value, Secret) or (hides and _can_be_secret(value, key)):
        return MASK
    if isinstance(value, Mapping):
        hides, of_request = hides or key.lower() in _HEADERS, of_request or key.lower() in _OF_REQUEST
        return {name: _masked(item, str(name), of_request=of_request, is_hidden=hides) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item, key, of_request=of_request, is_hidden=hides) for item in value]
    return _mask_text(value, key) if isinstance(value, str) else value


def _can_be_secret(value: Any, key: str) -> bool:
    """Whether the value is one; what merely sounds like a key or token may be a number of them."""
    if isinstance(value, str) and not value.isdecimal():
        return value != ""
    is_number = isinstance(value, str | int) and not isinstance(value, bool)
    return is_number and (int(value) >= _LEAST_NUMBER if is_secret_key(key) else len(str(value)) >= _LONG_NUMBER)


def _mask_text(text: str, key: str = "") -> str:
    """A text without the passwords of the URL that it is, or of those that are in it."""
    if _is_url(text, key):
        return mask_url(text)
    return mask_urls(text)


def _is_url(text: str, key: str) -> bool:
    is_one = bool(_SCHEME.match(text) or _WITH_PASSWORD.fullmatch(text) or (_URL_KEY.search(key) and "@" in text))
    return is_one and not re.search(r"\s", text)


def secrets_in(value: Any, *, key: str = "", of_request: bool = False) -> list[str]:
    """The texts that `mask` hides in a config value.

    >>> secrets_in({"model": "gpt", "key": "sk-1", "judge": {"headers": {"X": "abc"}}})
    ['sk-1', 'abc']
    """
    return list(_secrets(value, key, of_request=of_request, is_hidden=False))


def _secrets(value: Any, key: str, *, of_request: bool, is_hidden: bool) -> Iterator[str]:
    hides = is_hidden or is_secret_key(key, of_request=of_request)
    if isinstance(value, Secret):
        yield value.reveal()
    elif hides and _can_be_secret(value, key):
        yield from _parts_of(str(value))
    elif isinstance(value, Mapping):
        hides, of_request = hides or key.lower() in _HEADERS, of_request or key.lower() in _OF_REQUEST
        for name, item in value.items():
            yield from _secrets(item, str(name), of_request=of_request, is_hidden=hides)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secrets(item, key, of_request=of_request, is_hidden=hides)
    elif isinstance(value, str):
        urls = [value] if _is_url(value, key) else _URL_IN_TEXT.findall(value) if "://" in value else []
        for url in urls:
            yield from url_secrets(url)


def _parts_of(text: str) -> Iterator[str]:
    """A secret, and what is one by itself in the value of an authorization, as in "Bearer KEY" or "Basic BASE64"."""
    yield text
    scheme, blank, value = text.partition(" ")
    if not blank or not scheme.isalpha():
        return
    yield value
    if scheme.lower() == "basic":
        try:
            decoded = a2b_base64(value).decode("utf-8", "replace")
        except Base64Error:
            return
        yield decoded
        if password := decoded.partition(":")[2]:
            yield password


def mask_urls(text: str) -> str:
    """A text whose URLs have lost their users, passwords and secret parameters."""
    return _URL_IN_TEXT.sub(lambda match: mask_url(match[0]), text) if "://" in text else text


def header_secrets(headers: Mapping[str, str]) -> list[str]:
    """The values of headers that are no mere settings: keys, tokens, and the values of cookies."""
    found: list[str] = []
    for name, value in headers.items():
        if is_secret_key(name, of_request=True):
            found += _parts_of(value)
        if name.lower() == "cookie":
            found += [pair.partition("=")[2].strip() for pair in value.split(";")]
    return [text for text in found if text]


def mask_url(url: str) -> str:
    """The URL, with or without a scheme, without its user and password and with secret parameters masked.

    >>> mask_url("https://u:pw@host/v1?api-key=abc&api-version=1")
    'https://***@host/v1?api-key=***&api-version=1'
    >>> mask_url("u:pw@host:8080")
    '***@host:8080'
    """
    start, at = _user_span(url)
    if at > start and url[start:].count("[") != url[start:].count("]"):
        return f"{url[:start]}{MASK}"  # broken, and nobody knows where its host begins
    if at > start:
        url = f"{url[:start]}{MASK}{url[at:]}"
    return _PARAMETER.sub(_mask_parameter, url)


def _mask_parameter(match: re.Match[str]) -> str:
    return f"{match[1]}={MASK}" if is_secret_key(unquote(match[1]), of_request=True) else match[0]


def _user_span(url: str) -> tuple[int, int]:
    """Where the user and password of a URL stand; an empty span where it has none."""
    scheme = _SCHEME.match(url)
    start = scheme.end() if scheme else 0
    end = found.start() if (found := _HOST_END.search(url, start)) else len(url)
    at = url.rfind("@", start, end)
    if at != -1:
        return start, at
    # A password with a slash in it seems to end the host, at what then is no port.
    name, colon, port = url[start:end].rpartition(":")
    at = url.rfind("@", start)
    is_cut = at != -1 and bool(colon) and not port.isdecimal() and not name.startswith("[")
    return (start, at) if is_cut else (start, start)


def url_secrets(url: str) -> list[str]:
    """What `mask_url` hides, as it stands in the URL and decoded, and what goes over the wire for user and password.

    >>> url_secrets("https://u:p%40w@host/v1?api-key=abc&api-version=1")
    ['p%40w', 'p@w', 'dTpwQHc=', 'abc']
    """
    start, at = _user_span(url)
    user, colon, password = url[start:at].partition(":")
    found = [password if colon else user]
    found += [unquote(text) for text in found]
    if colon and password:
        found.append(b64encode(f"{unquote(user)}:{unquote(password)}".encode("utf-8", "replace")).decode())
    for match in _PARAMETER.finditer(url):
        if is_secret_key(unquote(match[1]), of_request=True):
            found += [match[2], unquote(match[2])]
    return [text for text in dict.fromkeys(found) if text]


def mask_command(arguments: Iterable[str], *, hides: Iterable[str] = ()) -> list[str]:
    """Command-line arguments with the values of `--api-key` and its like masked, and any secrets in URLs.

    Args:
        hides: further flags whose values are masked.
    """
    masked: list[str] = []
    hide_next, hide_value, more = False, False, frozenset(hides)
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        is_secret = not hide_next and (flag in more or _SECRET_FLAG.fullmatch(flag) is not None)
        if hide_next or (hide_value and not argument.startswith("-")):
            masked.append(MASK)
        else:
            masked.append(f"{flag}={MASK}" if is_secret and value else _mask_argument(argument))
        hide_next, hide_value = is_secret and not equals, is_secret and bool(equals) and not value
    return masked


def _mask_argument(argument: str) -> str:
    argument = _KEY_IN_ARGUMENT.sub(lambda match: f"{match[1] or match[2]}{MASK}", argument)
    flag, equals, value = argument.partition("=")
    if equals and flag.startswith("--"):
        return f"{flag}={_mask_value(value, flag)}"
    return _mask_value(argument)


def _mask_value(text: str, name: str = "") -> str:
    """The value of a flag: JSON and pairs, as in "a=1,b=2", lose the secrets in them."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(mask(json.loads(text), of_request=True), ensure_ascii=False)
        except (ValueError, RecursionError):
            return _SECRET_IN_TEXT.sub(rf"\g<1>{MASK}", _mask_text(text))
    if _PAIR.match(text):
        return ",".join(map(_mask_pair, _PAIR_END.split(text)))
    return _mask_text(text, name)


def _mask_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if is_secret_key(name.strip(), of_request=True) and not value.strip().isdecimal():
        return f"{name}{equals}{MASK}"
    return f"{name}{equals}{_mask_value(value, name.strip())}"
