"""`get_logger`, by the name under which task folders import it."""

from __future__ import annotations

import logging


def get_logger(name: str = "flagevalmm") -> logging.Logger:
    """Return the logger called `name`; where its messages go is the application's to say."""
    return logging.getLogger(name)
