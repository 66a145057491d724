"""Names under which task folders import a few helpers."""

from flagmm.common.logger import get_logger

__all__ = ["get_logger"]
