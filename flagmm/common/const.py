"""The cache folders as strings, by the names under which task folders import them.

Each is looked up in the environment when it is asked for, which for `from … import` is the time of the import.
"""

from __future__ import annotations

from flagmm.config import env

_FOLDERS = {
    "FLAGEVALMM_CACHE": env.cache_root,
    "FLAGEVALMM_CACHE_DIR": env.cache_root,
    "FLAGEVALMM_DATASETS_CACHE_DIR": env.datasets_cache_dir,
    "FLAGEVALMM_MODELS_CACHE_DIR": env.models_cache_dir,
}


def __getattr__(name: str) -> str:
    if name not in _FOLDERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return str(_FOLDERS[name]())
