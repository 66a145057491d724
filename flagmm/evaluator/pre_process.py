"""Names that task folders import; the rules are in `flagmm.metrics.flagevalmm_text`."""

from flagmm.metrics.flagevalmm_text import normalize_string, process_multiple_choice, remove_unit

__all__ = ["normalize_string", "process_multiple_choice", "remove_unit"]
