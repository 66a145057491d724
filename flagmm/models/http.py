"""HttpClient: an OpenAI-compatible chat-completions endpoint."""

from __future__ import annotations

import asyncio
import errno
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

from flagmm.config.http_settings import is_azure
from flagmm.config.model import ModelSpec
from flagmm.config.proxies import environment_proxy, is_http, proxy_label, with_scheme
from flagmm.config.redaction import LEAST_IN_REPLIES, Redactor
from flagmm.config.secrets import mask_url, url_secrets
from flagmm.errors import ConfigError, DataError, MissingExtraError, ModelError
from flagmm.models.client import BaseClient, Call
from flagmm.models.openai_body import BodyBuilder
from flagmm.models.openai_reply import bad_reply, parse_completion, parse_json, served_root, setting_hint, status_error
from flagmm.models.sse import EventParser, StreamedReply
from flagmm.registry import MODELS
from flagmm.types import CallSettings, Message, ModelOutput, TextPart

if TYPE_CHECKING:
    import aiohttp

_COMPLETIONS = "/chat/completions"
_MODELS = "/models"
_DEPLOYMENT = re.compile(r"/deployments/[^/]+$")  # of Azure, whose list of models stands beside its deployments
_CONNECT_SECONDS = 30.0
_CHECK_SECONDS = 10.0
MOST_BYTES = 64 * 2**20
"""Length of a reply, decompressed, above which it is no answer; the longest real ones are a hundredth of it."""
_MOST_BYTES_OF_ERROR = 2**18
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, and blanks


def completions_url(url: str) -> str:
    """The URL to post to, from that URL itself or an API root.

    >>> completions_url("http://localhost:8000/v1/")
    'http://localhost:8000/v1/chat/completions'
    >>> completions_url("http://localhost:8000")
    'http://localhost:8000/v1/chat/completions'
    """
    parts = _split_url(url)
    path = parts.path.rstrip("/") or "/v1"
    if not path.endswith(_COMPLETIONS):
        path += _COMPLETIONS
    return urlunsplit(parts._replace(path=path))


def models_url(completions: str) -> str:
    """The URL of an endpoint's list of models, from the one that completions are posted to.

    >>> models_url("http://localhost:8000/v1/chat/completions")
    'http://localhost:8000/v1/models'
    >>> models_url("https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=1")
    'https://me.openai.azure.com/openai/models?api-version=1'
    """
    parts = urlsplit(completions)
    root = _DEPLOYMENT.sub("", parts.path.removesuffix(_COMPLETIONS))
    return urlunsplit(parts._replace(path=root + _MODELS))


def _split_url(url: str) -> SplitResult:
    if not is_http(url):
        raise ConfigError(f"model: url: {mask_url(url)!r} is no http or https URL")
    return urlsplit(url)


@MODELS.register_module("http")
class HttpClient(BaseClient):
    """Posts chat completions, streamed or not, over one session."""

    needs_sounds_as_data = True

    def __init__(self, spec: ModelSpec) -> None:
        if not spec.url:
            raise ConfigError(
                f"model {spec.model_name!r}: url is missing; give the endpoint's URL, or another model_type"
            )
        self.url = completions_url(spec.url)
        self._spec = spec
        self._bodies = BodyBuilder(spec)
        self._session: aiohttp.ClientSession | None = None
        self._proxy = _proxy_for(self.url, spec.proxy)
        self._has_key = bool(spec.secrets())
        self._hide = Redactor([*spec.secrets(), *url_secrets(self._proxy or "")])
        self._way = ""
        if self._proxy is not None:
            named_by = "the model file" if spec.proxy else f"{urlsplit(self.url).scheme}_proxy"
            self._way = f" ({proxy_label(self._proxy, named_by)})"

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def check_reachable(self) -> None:
        """Connect, and ask nothing.

        Raises:
            ModelError: nobody listens there.
        """
        parts = urlsplit(self._proxy or self.url)
        host, port = parts.hostname or "", parts.port or {"https": 443}.get(parts.scheme, 80)
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _CONNECT_SECONDS)
        except (OSError, asyncio.TimeoutError) as error:
            text = f"cannot connect to {host}:{port}: {_reason(error)}{self._way}"
            raise ModelError(text, kind="connection") from None
        writer.close()

    async def check_key(self) -> None:
        """See that the endpoint does not refuse the key; no token is spent.

        The list of models is looked at. As a key may be barred from the list alone, a refusal is one only if a
        conversation without messages, which nothing can answer, is refused as well. An endpoint without such a list,
        or one that is busy, is not found fault with.

        Raises:
            ModelError: of kind "auth".
        """
        if await self._refusal("GET", models_url(self.url)) is None:
            return
        nothing = {"model": self._spec.model_name, "messages": [], "max_tokens": 1}
        refusal = await self._refusal("POST", self.url, json.dumps(nothing).encode())
        if refusal is not None:
            raise refusal

    async def _refusal(self, method: str, url: str, body: bytes | None = None) -> ModelError | None:
        """The error that says the key is refused; None whatever else comes of the request."""
        import aiohttp

        session, limit = self._open_session(), min(_CHECK_SECONDS, self._spec.timeout)
        try:
            async with session.request(
                method, url, data=body, allow_redirects=False, proxy=self._proxy,
                timeout=aiohttp.ClientTimeout(total=limit),
            ) as response:  # fmt: skip
                if response.status < 400:
                    return None
                error = await self._error(response)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError):
            return None
        error.args = (self._hide(f"{error}{self._way}"),)
        return error if error.kind == "auth" else None

    async def model_identity(self) -> str | None:
        """The `root` of the model in the endpoint's list of models, as vLLM and SGLang give it; asks no model."""
        import aiohttp

        limit = aiohttp.ClientTimeout(total=min(_CHECK_SECONDS, self._spec.timeout))
        url = models_url(self.url)
        try:
            async with self._open_session().get(
                url, allow_redirects=False, proxy=self._proxy, timeout=limit
            ) as response:
                body = await _read_beginning(response)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError):
            return None
        root = served_root(body, self._spec.model_name) if response.status == 200 else None
        return root and Redactor(self._spec.secrets(), least=LEAST_IN_REPLIES)(root)

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        return await self._send(await self._build(messages, settings))

    async def prepare(self, messages: Sequence[Message], settings: CallSettings) -> Call:
        return partial(self._send, await self._build(messages, settings))

    async def _send(self, body: list[bytes]) -> ModelOutput:
        try:
            return await self._post(body)
        except ModelError as error:
            error.args = (self._hide(f"{error}{self._way}"),)
            raise
        finally:
            body.clear()  # an error keeps this frame while its call waits to be tried again, but need keep no picture

    async def _build(self, messages: Sequence[Message], settings: CallSettings) -> list[bytes]:
        text_only = all(isinstance(part, TextPart) for message in messages for part in message.content)
        try:
            if text_only:  # a thread would cost more than the work
                return self._bodies.build(messages, settings.repeat)
            return await asyncio.to_thread(self._bodies.build, messages, settings.repeat)
        except MissingExtraError:
            raise
        except DataError as error:
            raise ModelError(str(error), kind="media") from error

    async def _post(self, body: list[bytes]) -> ModelOutput:
        import aiohttp

        session = self._open_session()
        headers = {"Content-Length": str(sum(map(len, body)))}
        try:
            async with session.post(
                self.url, data=_pieces(body), headers=headers, allow_redirects=False, proxy=self._proxy
            ) as response:
                return await self._read(response)
        except asyncio.TimeoutError:
            text = f"no reply within {self._spec.timeout:g} s"
            raise ModelError(text, kind="timeout", retryable=True) from None
        except aiohttp.ClientConnectorError as error:
            raise _broken(error, f"cannot connect to {error.host}:{error.port}") from None
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError) as error:
            raise _broken(error, "the connection broke") from None
        except aiohttp.ClientHttpProxyError as error:
            text = f"the proxy does not connect: HTTP {error.status} {error.message}"
            raise ModelError(text, kind="connection", status=error.status, retryable=error.status >= 500) from None
        except aiohttp.ClientError as error:
            raise bad_reply(f"the reply is no sound HTTP: {_reason(error)}") from None

    async def _read(self, response: aiohttp.ClientResponse) -> ModelOutput:
        if response.status >= 300:
            raise await self._error(response)
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            return await self._read_stream(response)
        return self._parse_body(b"".join([chunk async for chunk in _chunks(response)]))

    async def _read_stream(self, response: aiohttp.ClientResponse) -> ModelOutput:
        parser, reply, begun = EventParser(), StreamedReply(hide=self._hide), b""
        async with aclosing(_chunks(response)) as chunks:
            async for chunk in chunks:
                for data in parser.feed(chunk):
                    reply.add(data)
                if reply.done:
                    return reply.output()
                if not reply.has_begun and len(begun) < _MOST_BYTES_OF_ERROR:  # beyond, it is neither
                    begun += chunk
                    if begun.lstrip(_BEFORE_JSON).startswith((b"{", b"[", b"<")):  # no stream, whatever it says
                        return self._parse_body(begun + b"".join([rest async for rest in chunks]))
        for data in parser.close():
            reply.add(data)
        if not reply.has_begun and begun.strip():
            return self._parse_body(begun)
        return reply.output()

    def _parse_body(self, body: bytes) -> ModelOutput:
        """A whole body: a completion, or all events of a stream that says it is something else."""
        if not body.lstrip(_BEFORE_JSON).startswith((b"data:", b":")):
            return parse_completion(parse_json(body, hide=self._hide), hide=self._hide)
        parser, reply = EventParser(), StreamedReply(hide=self._hide)
        for data in (*parser.feed(body), *parser.close()):
            reply.add(data)
        return reply.output()

    async def _error(self, response: aiohttp.ClientResponse) -> ModelError:
        text = (await _read_beginning(response)).decode("utf-8", "replace")
        error = status_error(response.status, text, response.headers, hide=self._hide)
        if error.status in (401, 403) and error.kind == "auth" and not self._has_key:
            error.args = (f"{error} (no API key is set: give api_key in the model file, or FLAGEVAL_API_KEY)",)
        if error.kind == "bad_request":
            spec = self._spec
            sends_limit = spec.max_tokens is not None and spec.max_tokens_key is None
            hint = setting_hint(str(error), max_tokens=sends_limit, temperature=spec.temperature is not None)
            error.args = (f"{error}{hint}",)
        return error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # num_workers is the limit, kept by the stack
                timeout=aiohttp.ClientTimeout(
                    total=self._spec.timeout, sock_connect=min(_CONNECT_SECONDS, self._spec.timeout)
                ),
                headers=self._headers(),
            )
        return self._session

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._spec.api_key is not None:
            key = self._spec.api_key.reveal()
            headers |= {"api-key": key} if is_azure(self.url) else {"Authorization": f"Bearer {key}"}
        return headers | self._spec.headers


async def _pieces(body: list[bytes]) -> AsyncIterator[bytes]:
    for piece in body:
        yield piece


async def _chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """The body, decompressed, piece by piece.

    Raises:
        ModelError: it is longer than any answer; asking again would bring as much.
    """
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > MOST_BYTES:
            raise ModelError(f"the reply is longer than {MOST_BYTES // 2**20} MB", kind="bad_reply")
        yield chunk


async def _read_beginning(response: aiohttp.ClientResponse) -> bytes:
    """The body of an error, which says what it has to say at once."""
    body = b""
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES_OF_ERROR:
            break
    return body[:_MOST_BYTES_OF_ERROR]


def _proxy_for(url: str, given: str | None = None) -> str | None:
    """The proxy of the model file, else the one that the environment names for this URL.

    aiohttp's own reading of the environment also sends passwords of ~/.netrc.
    """
    if given is None:
        return environment_proxy(url)
    proxy = with_scheme(given)
    if not is_http(proxy):
        raise ConfigError(f"model: proxy: {mask_url(proxy)!r} is no http or https URL")
    return proxy


def _broken(error: Exception, what: str) -> ModelError:
    """Why no reply came; that this process may open no more files says nothing of the endpoint."""
    cause = getattr(error, "os_error", None) or error
    if getattr(cause, "errno", None) in (errno.EMFILE, errno.ENFILE):
        text = "too many open files: give fewer num_workers, or allow more files (ulimit -n)"
        return ModelError(text, kind="system", retryable=True)
    return ModelError(f"{what}: {_reason(error)}", kind="connection", retryable=True)


def _reason(error: BaseException) -> str:
    cause = getattr(error, "os_error", None) or error
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(text.split())
