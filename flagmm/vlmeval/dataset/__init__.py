"""The data set classes that scripts patch: those which VLMEvalKit takes for a table that is none of its own.

`CLASSES.patched_class` says whether a table is of a class that was patched, so that the table is run by it.
"""

from __future__ import annotations

from flagmm.vlmeval.dataset.image_base import ImageBaseDataset
from flagmm.vlmeval.dataset.image_mcq import CustomMCQDataset
from flagmm.vlmeval.dataset.image_vqa import CustomVQADataset
from flagmm.vlmeval.dataset.kinds import DATASET_MODALITY, DATASET_TYPE
from flagmm.vlmeval.dataset.patching import DatasetClasses
from flagmm.vlmeval.dataset.text_mcq import CustomTextMCQDataset

__all__ = [
    "CLASSES", "DATASET_MODALITY", "DATASET_TYPE", "CustomMCQDataset", "CustomTextMCQDataset", "CustomVQADataset",
    "ImageBaseDataset",
]  # fmt: skip

CLASSES = DatasetClasses(CustomMCQDataset, CustomTextMCQDataset, CustomVQADataset)
