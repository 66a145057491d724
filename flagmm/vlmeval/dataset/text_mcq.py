"""CustomTextMCQDataset: multiple-choice questions without pictures."""

from __future__ import annotations

from flagmm.vlmeval.dataset.image_mcq import CustomMCQDataset

__all__ = ["CustomTextMCQDataset"]


class CustomTextMCQDataset(CustomMCQDataset):
    """A table with options and no pictures."""

    MODALITY = "TEXT"
