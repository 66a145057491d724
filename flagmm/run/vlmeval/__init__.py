"""`flagevalmm vlmeval`: models and data sets as VLMEvalKit names them, run through the same pipeline as task files.

`api.py` runs everything, for the command and for EvalScope's old backend; `plan.py` makes tasks and models of what was
asked for, and `refusals.py` says what cannot be; `status.py` writes how far it is; `folders.py` knows VLMEvalKit's
folders; `check.py` asks one model two questions. What the names mean is in `config/vlmeval*.py`, the files are written
by `report/vlmevalkit_files.py`.
"""
