"""A stream whose lines go to a log."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence

from flagmm.config.secrets import redact


class LineLogger(io.TextIOBase):
    """Takes what is printed and logs it line by line.

    Args:
        logger: where the lines go.
        secrets: texts that are left out; may grow.
    """

    def __init__(self, logger: logging.Logger, secrets: Sequence[str]) -> None:
        self._logger = logger
        self._secrets = secrets
        self._begun = ""

    def writable(self) -> bool:
        return True

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
        if line:
            self._logger.info("VLMEvalKit: %s", redact(line, self._secrets))
