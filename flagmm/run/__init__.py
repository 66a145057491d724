"""`run_task`: one evaluation described by a TaskConfig, run through the same pipeline as task files.

`api.py` is what scripts call; `plan.py` makes tasks, model, judge and folder of a TaskConfig; `tasks.py` puts
`dataset_args` over installed task files; `dry.py` looks at everything and asks nothing; `reports.py` is what comes
back. Parsing is in `config/task_config.py`, the command in `cli/eval.py`. `vlmeval/` runs what VLMEvalKit's command
asks for; `saved_predictions.py` takes the answers of a file that it wrote.
"""

from flagmm.run.api import run_task

__all__ = ["run_task"]
