"""flagmm: run evaluations of multimodal models from task files, and score them so that the numbers can be traced.

Start with `pipeline.py`, which calls the four stages (prepare, infer, evaluate, report) in turn.
Every name below loads its module when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flagmm import alias

if TYPE_CHECKING:
    from flagmm.config.task_config import TaskConfig
    from flagmm.registry import DATASETS, EVALUATORS, FORMATS, MODELS, PROMPTS, REPORTERS
    from flagmm.run.api import run_task

__version__ = "0.1.0"
__all__ = [
    "DATASETS", "EVALUATORS", "FORMATS", "MODELS", "PROMPTS", "REPORTERS", "TaskConfig", "__version__", "run_task",
]  # fmt: skip

_HOME = dict.fromkeys(["DATASETS", "EVALUATORS", "FORMATS", "MODELS", "PROMPTS", "REPORTERS"], "flagmm.registry")
_HOME |= {"run_task": "flagmm.run.api", "TaskConfig": "flagmm.config.task_config"}

alias.install()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
