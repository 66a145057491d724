"""Names that task folders import; the rules are in `flagmm.metrics.points`."""

from flagmm.metrics.points import calculate_mask_score, text2pts, text2pts_norm1k

__all__ = ["calculate_mask_score", "text2pts", "text2pts_norm1k"]
