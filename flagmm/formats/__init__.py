"""One reader per file format: a path in, annotations (plain dicts) out.

`READERS` maps a file suffix to its reader; the `FORMATS` registry starts from it, and a task may register more.
`table.py` opens tables of questions (JSON Lines, CSV, TSV, Parquet) that are read a row at a time, `lmu.py` knows the
cells of VLMEvalKit's. `prediction_file.py` reads files of predictions, `xlsx_table.py` sheets.
Reading only: what an annotation must hold is the data set's business.
"""

from __future__ import annotations

from flagmm.formats.json_list import read_json_lines, read_json_list

READERS = {".json": read_json_list, ".jsonl": read_json_lines}

__all__ = ["READERS", "read_json_lines", "read_json_list"]
