"""General-VQA and General-VMCQ: a person's own tables of questions with pictures, videos and sounds.

`vqa.py` and `vmcq.py` are the two data sets, `base.py` what they share. `subsets.py` finds the files and names the
rows; `messages.py` reads OpenAI messages; `parts.py` turns cells into parts of a message; `annotations.py` is what
scoring sees of a row. Tables are read row by row by `formats/table.py`, placeholders by `prompt/media_columns.py`.
"""

from flagmm.dataset.general.vmcq import GeneralVmcqDataset
from flagmm.dataset.general.vqa import GeneralVqaDataset

__all__ = ["GeneralVmcqDataset", "GeneralVqaDataset"]
