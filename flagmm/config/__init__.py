"""What a person wrote, checked once and made into frozen objects.

`task.py`: a task file -> TaskSpec.  `model.py`: model JSON, flags and environment -> ModelSpec.
`locate.py`: names given on the command line -> files.  `env.py`: every environment variable flagmm reads.
`secrets.py`: keys that must not be shown.  `dump.py`: configs as JSON for the results directory.
`task_config.py`, `generation.py`, `judge_values.py`: the settings that EvalScope's scripts and commands use.
`vlmeval.py`, `vlmeval_models.py`, `vlmeval_presets.py`: those of VLMEvalKit's command, and its names of models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flagmm.config.task_config import TaskConfig

__all__ = ["TaskConfig"]


def __getattr__(name: str) -> Any:
    if name == "TaskConfig":  # loaded when asked for: task files do without it
        from flagmm.config.task_config import TaskConfig

        return TaskConfig
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
