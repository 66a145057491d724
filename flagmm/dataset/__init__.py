"""Data sets: where their files are, what one item asks, and how an item becomes a Sample.

`vqa_base_dataset.py` and `video_dataset.py` are the classes of task files; `annotations.py` reads and checks their
files; `prepare.py` runs a task's process.py; `sample.py` turns an item into messages. `general/` has the data sets
for a person's own tables, `tsv/` those for VLMEvalKit's.
"""

from typing import Any

from flagmm import generation
from flagmm.dataset.video_dataset import VideoDataset
from flagmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagmm.registry import DATASETS

for _name in generation.DATASETS:
    DATASETS.register_module(name=_name, module=generation.class_named(_name, "dataset"))

DATASETS.register_lazily(
    {
        "GeneralVqaDataset": "flagmm.dataset.general.vqa",
        "GeneralVmcqDataset": "flagmm.dataset.general.vmcq",
        "TsvDataset": "flagmm.dataset.tsv.dataset",
        "TsvMcqDataset": "flagmm.dataset.tsv.dataset",
        "TsvVqaDataset": "flagmm.dataset.tsv.dataset",
        "TsvYesNoDataset": "flagmm.dataset.tsv.dataset",
        "TsvVideoDataset": "flagmm.dataset.tsv.dataset",
        "VLMEvalKitDataset": "flagmm.vlmeval.bridge.dataset",
    }
)

__all__ = ["VideoDataset", "VqaBaseDataset"]


def __getattr__(name: str) -> Any:
    return generation.class_named(name, "dataset")
