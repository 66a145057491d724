"""Which proxy of the environment a URL is called through: none to this machine, or where `no_proxy` says so."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import SplitResult, urlsplit

from flagmm.config.secrets import mask_url
from flagmm.errors import ConfigError

_PORTS = {"http": 80, "https": 443}


def environment_proxy(url: str) -> str | None:
    """The URL of the proxy that the environment names for a URL; None where it is called directly.

    Raises:
        ConfigError: the proxy is no http or https URL.
    """
    parts = urlsplit(url)
    found = urllib.request.getproxies().get(parts.scheme)
    if found is None or is_bypassed(parts):
        return None
    proxy = with_scheme(found)
    if not is_http(proxy):
        raise ConfigError(
            f"{parts.scheme}_proxy: {mask_url(proxy)!r} is no http or https URL; set another in the environment, "
            f"or no_proxy={parts.hostname}"
        )
    return proxy


def proxy_label(proxy: str, named_by: str) -> str:
    """How an error message names a proxy, without its user and password.

    >>> proxy_label("http://me:secret@proxy:3128", "http_proxy")
    'through the proxy http://***@proxy:3128 of http_proxy'
    """
    return f"through the proxy {mask_url(proxy)} of {named_by}"


def with_scheme(proxy: str) -> str:
    """A proxy's URL, which may be given without "http://"."""
    return proxy if "://" in proxy else f"http://{proxy}"


def is_http(url: str) -> bool:
    """Whether it is a URL that HTTP can be spoken to."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # broken brackets, or a port that is no number
        return False


def is_bypassed(parts: SplitResult) -> bool:
    """Whether a URL's host is this machine, which no proxy elsewhere can reach, or one that `no_proxy` names.

    Entries of `no_proxy` are hosts (of which all hosts below are meant, too), addresses, networks as in 10.0.0.0/8,
    each with or without a port, or `*`.
    """
    host = (parts.hostname or "").rstrip(".")
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return True
    port = parts.port or _PORTS.get(parts.scheme)
    entries = (entry.strip().lower() for entry in urllib.request.getproxies().get("no", "").split(","))
    return any(_names(entry, host, port) for entry in entries if entry)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself.

    >>> is_loopback("localhost"), is_loopback("127.0.1.1"), is_loopback("::1"), is_loopback("10.0.0.1")
    (True, True, True, False)
    """
    name = host.lower().rstrip(".")
    address = _address(name)
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _names(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of `no_proxy` names a host, beyond what urllib finds in it."""
    name, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and (name.endswith("]") or ":" not in name):
        if int(number) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*.").lstrip(".")
    address = _address(host)
    if address is None:
        return host == entry or host.endswith(f".{entry}")
    try:
        return address in ipaddress.ip_network(entry, strict=False)
    except ValueError:  # a name
        return False


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
