"""Media behind http(s) URLs, fetched by us: bounded in size and time, and only from the public network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from flagmm.config.secrets import mask_url
from flagmm.errors import ModelError

if TYPE_CHECKING:
    import aiohttp

_MOST_REDIRECTS = 5
_MOST_AT_ONCE = 32
_BLOCK_BYTES = 1 << 16
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, in text."""


class _RefusedError(Exception):
    """An address or a scheme that we do not go to."""


class _UnfitError(Exception):
    """An answer that is no medium."""

    def __init__(self, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.retryable = retryable


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """What is fetched at most, and from where."""

    max_bytes: int
    timeout: float
    """Seconds for one medium, redirects included."""
    allow_private: bool = False
    """Whether addresses of this machine and of private networks are gone to."""


def is_public(address: str) -> bool:
    """Whether an address in text lies on the public network, also where it is an IPv4 one inside an IPv6 one.

    >>> is_public("93.184.216.34"), is_public("::ffff:127.0.0.1"), is_public("127.1")
    (True, False, False)
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # such as "127.1", which the system would still understand
        return False
    if isinstance(found, ipaddress.IPv6Address):
        found = _embedded(found) or found
    return found.is_global and not found.is_multicast


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


async def resolve_host(host: str, port: int) -> list[str]:
    """The addresses that the system gives for a host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


class MediaFetcher:
    """Fetches media over a session of its own, which carries no key; close it when done."""

    def __init__(
        self, limits: FetchLimits, *, resolve: Resolve = resolve_host, accepts: Callable[[str], bool] = is_public
    ) -> None:
        """Take the limits, how a host is resolved, and which addresses are gone to without `allow_private`."""
        self._limits = limits
        self._resolve = resolve
        self._accepts = accepts
        self._session: aiohttp.ClientSession | None = None
        self._places = asyncio.Semaphore(_MOST_AT_ONCE)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def fetch(self, url: str) -> bytes:
        """The bytes behind a URL.

        Raises:
            ModelError: they cannot be had; it names the URL without its passwords.
        """
        import aiohttp

        retryable = False
        try:
            async with self._places:
                return await asyncio.wait_for(self._follow(url), self._limits.timeout)
        except asyncio.TimeoutError:
            reason, retryable = f"was not fetched within {self._limits.timeout:g} s (fetch_timeout)", True
        except _RefusedError as error:
            reason = str(error)
        except _UnfitError as error:
            reason, retryable = str(error), error.retryable
        except aiohttp.InvalidURL:
            reason = "is no sound URL"
        except (aiohttp.ClientError, OSError) as error:
            reason, retryable = f"cannot be fetched: {_reason(error)}", True
        except ValueError as error:  # a host that cannot be encoded
            reason = f"is no sound URL ({' '.join(str(error).split())[:100]})"
        raise ModelError(f"{mask_url(url)}: {reason}", kind="media", retryable=retryable)

    async def _follow(self, url: str) -> bytes:
        session = self._open_session()
        for _ in range(_MOST_REDIRECTS + 1):
            self._refuse_literal(url)
            async with session.get(url, allow_redirects=False) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await self._read(response)
            url = urljoin(url, location)
            scheme = urlsplit(url).scheme
            if scheme not in ("http", "https"):
                raise _RefusedError(f"redirects to {mask_url(url)!r}; only http and https are followed")
        raise _UnfitError(f"redirects more than {_MOST_REDIRECTS} times")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if response.status != 200:
            raise _UnfitError(f"gives HTTP {response.status}", retryable=response.status in _TRANSIENT)
        most = self._limits.max_bytes
        too_large = _UnfitError(f"is larger than {most} bytes (fetch_media_max_bytes)")
        if (response.content_length or 0) > most:
            raise too_large
        data = bytearray()
        async for block in response.content.iter_chunked(_BLOCK_BYTES):
            data += block
            if len(data) > most:
                raise too_large
        if not data:
            raise _UnfitError("is empty")
        return bytes(data)

    def _refuse_literal(self, url: str) -> None:
        """Check a host that is written as an address, which aiohttp does not resolve."""
        from yarl import URL

        host = URL(url).host
        if not host:
            raise _RefusedError("is no sound URL")
        if ":" in host or host.replace(".", "").isdigit():
            self._refuse_private(host, host)

    def _refuse_private(self, host: str, address: str) -> None:
        if self._limits.allow_private or self._accepts(address):
            return
        shown = host if host == address else f"{host} ({address})"
        raise _RefusedError(
            f"leads to {shown}, which is not on the public network; allow_private_media of the model file allows it"
        )

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, resolver=self._resolver()),
                timeout=aiohttp.ClientTimeout(total=None),  # `fetch` keeps it, redirects included
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "flagmm"},
            )
        return self._session

    def _resolver(self) -> Any:
        """What aiohttp asks for the addresses of a host; it connects to these and no others."""
        from aiohttp.abc import AbstractResolver, ResolveResult

        fetcher = self

        class CheckingResolver(AbstractResolver):
            async def resolve(
                self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
            ) -> list[ResolveResult]:
                addresses = list(dict.fromkeys(await fetcher._resolve(host, port)))
                for address in addresses:
                    fetcher._refuse_private(host, address)
                return [_resolved(host, port, address) for address in addresses]

            async def close(self) -> None:
                return None

        return CheckingResolver()


def _resolved(host: str, port: int, address: str) -> Any:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": family,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    }


def _reason(error: BaseException) -> str:
    cause = getattr(error, "os_error", None) or error
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(text.split())[:200]
