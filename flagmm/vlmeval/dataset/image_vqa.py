"""CustomVQADataset: free questions about pictures."""

from __future__ import annotations

from flagmm.vlmeval.dataset.image_base import ImageBaseDataset

__all__ = ["CustomVQADataset"]


class CustomVQADataset(ImageBaseDataset):
    """A table without options. Patched methods are used by `run_task`; others are flagmm's own."""

    TYPE = "VQA"
