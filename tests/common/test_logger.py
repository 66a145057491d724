"""The logger of task folders."""

from __future__ import annotations

import logging

from flagmm.common.logger import get_logger


def test_the_logger_is_the_plain_one_of_that_name_without_handlers():
    logger = get_logger("tests.some_task")
    assert logger is logging.getLogger("tests.some_task")
    assert logger.handlers == []
    assert logger.propagate
