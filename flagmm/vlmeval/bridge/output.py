"""Streams for another package's code: one whose lines go to a log, and one that leaves secrets out."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Sequence
from typing import Any

from flagmm.config.redaction import redact


class LineLogger(io.TextIOBase):
    """Takes what is printed, as text or as bytes, and logs it line by line.

    Args:
        logger: where the lines go.
        secrets: texts that are left out; may grow.
    """

    def __init__(self, logger: logging.Logger, secrets: Sequence[str]) -> None:
        self._logger = logger
        self._secrets = secrets
        self._begun = ""
        self._logging = threading.local()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute in typeshed
        return "utf-8"

    @property
    def buffer(self) -> Any:
        """Where programs write bytes."""
        return _Bytes(self)

    def fileno(self) -> int:
        """That of stderr, for child processes."""
        return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2

    def reconfigure(self, **_: Any) -> None:
        """Do nothing: lines are logged as they are."""

    def write(self, text: str, /) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._log(line)
        return len(text)

    def close(self) -> None:
        """Log a last line that did not end; the stream stays usable for code that kept it."""
        self._log(self._begun)
        self._begun = ""

    def _log(self, line: str) -> None:
        line = line.rpartition("\r")[2].rstrip()
        if not line or getattr(self._logging, "is_on", False):  # a handler of the log that prints here
            return
        self._logging.is_on = True
        try:
            self._logger.info("VLMEvalKit: %s", redact(line, self._secrets))
        finally:
            self._logging.is_on = False


class _Bytes(io.RawIOBase):
    def __init__(self, stream: LineLogger) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return self._stream.write(bytes(data).decode("utf-8", "replace"))


class RedactedStream:
    """A stream that writes without the secrets, and is the given one in everything else."""

    def __init__(self, stream: Any, secrets: Sequence[str]) -> None:
        self._stream = stream
        self._secrets = secrets

    def write(self, text: str) -> int:
        self._stream.write(redact(text, self._secrets))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
