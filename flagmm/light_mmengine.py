"""What is used of mmengine, loaded without numpy, rich and yapf, which take longer to load than all of flagmm.

mmengine imports them for training logs, progress bars and pretty-printing; those still work, and load them then.
"""

from __future__ import annotations

from flagmm.deferred_imports import deferred

with deferred(
    "numpy",
    "rich",
    "rich.console",
    "rich.table",
    "rich.text",
    "yapf",
    "yapf.yapflib",
    "yapf.yapflib.yapf_api",
    "mmengine.utils.progressbar_rich",
):
    from mmengine.config import Config, ConfigDict
    from mmengine.registry import Registry

__all__ = ["Config", "ConfigDict", "Registry"]
