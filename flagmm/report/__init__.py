"""Scores for people: the table on the terminal, and summary files of a results directory.

`results.py` reads every `_result.json`; `table.py` draws; `summary.py` writes; `validity.py` says what a score is
worth. `vlmevalkit_files.py` writes VLMEvalKit's files of a run: `prediction_table.py` has the rows, `spreadsheet.py`
the sheet, `vlmevalkit.py` the scores; `vlmeval_table.py` draws its command's tables.
"""

from flagmm.report.summary import write_csv, write_json_summary, write_markdown

__all__ = ["write_csv", "write_json_summary", "write_markdown"]
