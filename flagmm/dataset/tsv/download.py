"""Downloads of tables: resumed where they broke off, checked, and in place only when whole."""

from __future__ import annotations

import errno
import hashlib
import http.client
import logging
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flagmm.config.proxies import environment_proxy, is_bypassed, proxy_label
from flagmm.config.secrets import mask_url
from flagmm.errors import DataError, OutputError
from flagmm.jsonio import dump_line, write_text
from flagmm.output_files import open_plain

logger = logging.getLogger(__name__)

_BLOCK = 1 << 20
_TIMEOUT = 60.0
_ATTEMPTS = 3
_LONGEST_LENGTH = 20  # digits of a Content-Length that can be true
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class _BrokenOffError(Exception):
    """The connection ended before the file did, or could not be made; what came is kept."""


def download(url: str, path: Path, *, md5: str | None = None, pause: float = 1.0) -> None:
    """Fetch a file; what an earlier attempt left in `<name>.part` is gone on with where the server allows it.

    Args:
        md5: what the whole file must have.
        pause: seconds before another attempt; it grows with each.

    Raises:
        DataError: nobody answers, the answer is no file, it breaks off again and again, or has another MD5.
        OutputError: the file cannot be written, or there is no space for it.
    """
    part = path.with_name(f"{path.name}.part")
    for attempt in range(1, _ATTEMPTS + 1):
        was_resumed = part.exists()
        try:
            _fetch(url, part)
        except _BrokenOffError as error:
            if attempt == _ATTEMPTS:
                raise DataError(f"{mask_url(url)}: {error}; run again to go on, or put the file at {path}") from None
            logger.warning("%s: %s; trying again", mask_url(url), error)
            time.sleep(pause * attempt)
            continue
        found = digest(part) if md5 else None
        if found == (md5 or "").lower() or found is None:
            os.replace(part, path)
            _validator_of(part).unlink(missing_ok=True)
            return
        _discard(part)
        if not was_resumed:
            raise DataError(f"{mask_url(url)}: the file has the MD5 {found}, not {md5}; correct md5 or url")
    raise DataError(f"{mask_url(url)}: the file never had the MD5 {md5}; correct md5 or url")


def is_sound(path: Path, md5: str) -> bool:
    """Whether a file has this MD5; it is read again only where it was changed since the last look."""
    status = path.stat()
    note = dump_line({"size": status.st_size, "mtime_ns": status.st_mtime_ns, "md5": md5.lower()})
    remembered = path.with_name(f".{path.name}.md5")
    try:
        if remembered.read_text(encoding="utf-8") == note:
            return True
    except OSError:
        pass  # never looked at
    if digest(path) != md5.lower():
        return False
    try:
        write_text(remembered, note)
    except OutputError as error:  # a folder that may only be read
        logger.debug("%s", error)
    return True


def digest(path: Path) -> str:
    """The MD5 of a file, in hex."""
    found = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _fetch(url: str, part: Path) -> None:
    """Add what is missing to `part`, from its start where the server has another file now."""
    request = urllib.request.Request(url, headers={"User-Agent": "flagmm", "Accept-Encoding": "identity"})
    have = _resumable(part)
    if have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", _validator_of(part).read_text(encoding="utf-8"))
    try:
        with urllib.request.build_opener(_Proxies()).open(request, timeout=_TIMEOUT) as response:
            _receive(response, part, have if response.status == http.client.PARTIAL_CONTENT else 0)
    except urllib.error.HTTPError as error:
        if error.code in _TRANSIENT:
            raise _BrokenOffError(f"HTTP {error.code}{_way(url)}") from None
        _discard(part)  # such as 416, when the file has become shorter
        raise DataError(f"{mask_url(url)}: cannot be downloaded: HTTP {error.code}{_way(url)}") from None
    except urllib.error.URLError as error:
        reason = getattr(error.reason, "strerror", None) or error.reason
        raise _BrokenOffError(f"cannot be downloaded: {reason}{_way(url)}; is this machine offline?") from None
    except ValueError as error:  # of the URL, or of one that it leads to
        raise DataError(f"{mask_url(url)}: cannot be downloaded: {error}; correct url") from None
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise _BrokenOffError(f"the download broke off: {error or type(error).__name__}{_way(url)}") from None


class _Proxies(urllib.request.ProxyHandler):
    """The environment's proxies, but for hosts that are called directly; redirects may lead to either."""

    def proxy_open(self, req: urllib.request.Request, proxy: str, scheme: str) -> Any:
        return None if is_bypassed(urlsplit(req.full_url)) else super().proxy_open(req, proxy, scheme)


def _way(url: str) -> str:
    """The proxy that a URL is called through, for an error message."""
    proxy = environment_proxy(url)
    return f" ({proxy_label(proxy, f'{urlsplit(url).scheme}_proxy')})" if proxy else ""


def _resumable(part: Path) -> int:
    """How many bytes of the same file are there; those of a server that tells no version are worth nothing."""
    try:
        return part.stat().st_size if _validator_of(part).exists() else 0
    except OSError:
        return 0


def _receive(response: Any, part: Path, have: int) -> None:
    rest = (response.headers.get("Content-Length") or "").strip()  # of which a server may make anything
    expected = have + int(rest) if rest.isascii() and rest.isdecimal() and len(rest) < _LONGEST_LENGTH else None
    try:
        _refuse_if_full(part, 0 if expected is None else expected - have)
        how = os.O_APPEND if have else os.O_TRUNC
        with open(open_plain(part, os.O_WRONLY | os.O_CREAT | how), "ab" if have else "wb") as file:
            _remember_version(part, response)
            for block in _blocks(response):
                file.write(block)
        received = part.stat().st_size
    except OSError as error:
        _discard(part)  # on a full disk it would be in the way
        raise OutputError(f"{part}: cannot be written: {error.strerror or error}") from None
    if expected is not None and received < expected:
        raise _BrokenOffError(f"the download broke off after {received} of {expected} bytes")


def _blocks(response: Any) -> Iterator[bytes]:
    """What comes, piece by piece; what goes wrong with the connection is no fault of the disk."""
    try:
        while block := response.read(_BLOCK):
            yield block
    except http.client.IncompleteRead as error:  # of a body that does not tell its length
        yield error.partial
        raise _BrokenOffError("the download broke off before its end") from None
    except OSError as error:
        raise _BrokenOffError(f"the download broke off: {error.strerror or error}") from None


def _refuse_if_full(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"{needed} bytes are needed, {free} are free")


def _remember_version(part: Path, response: Any) -> None:
    etag = response.headers.get("ETag") or ""
    version = etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    if version:
        write_text(_validator_of(part), version)
    else:
        _validator_of(part).unlink(missing_ok=True)


def _validator_of(part: Path) -> Path:
    """The file that tells of which version `part` is."""
    return part.with_name(f"{part.name}.version")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator_of(part).unlink(missing_ok=True)
