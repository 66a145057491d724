"""VLMEvalKit's benchmarks: tables with pictures in base64 or by path, questions, options and answers.

`dataset.py` has the classes; `rows.py` the table's rows, `light_rows.py` and `image_cell.py` what keeps large pictures
from being read in vain; `pictures.py` turns them into files, each once, and `media.py` a row into its pictures or its
video. `places.py` knows `$LMUData` and finds a table by its name; `download.py` fetches one. Prompts are in
`prompt/vlmevalkit.py`, scores in `evaluator/metrics_of_vlmevalkit.py`.
"""

from flagmm.dataset.tsv.dataset import (
    TsvDataset,
    TsvMcqDataset,
    TsvVideoDataset,
    TsvVqaDataset,
    TsvYesNoDataset,
)

__all__ = ["TsvDataset", "TsvMcqDataset", "TsvVideoDataset", "TsvVqaDataset", "TsvYesNoDataset"]
