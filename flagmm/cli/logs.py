"""Logging of the command: everything to stderr, secrets left out."""

from __future__ import annotations

import logging
import sys

from flagmm.config.redaction import RedactingFormatter


def set_up_logging(*, quiet: bool, debug: bool) -> RedactingFormatter:
    """Send log records to stderr; secrets given to the formatter later are left out of them."""
    formatter = RedactingFormatter("%(asctime)s %(levelname)s %(message)s")
    formatter.datefmt = "%H:%M:%S"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("flagmm").setLevel(logging.DEBUG if debug else logging.WARNING if quiet else logging.INFO)
    logging.captureWarnings(True)
    return formatter


def one_line(text: object) -> str:
    return " ".join(str(text).split())
