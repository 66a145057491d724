"""`get_data_root`, by the name under which task folders import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.dataset.prepare import find_or_prepare


def get_data_root(
    data_root: str | None = None,
    config: Mapping[str, Any] | None = None,
    cache_dir: str | None = None,
    base_dir: str | None = None,
) -> str:
    """The folder of a data set, prepared with its process.py where need be; see `prepare.find_or_prepare`."""
    root = find_or_prepare(
        data_root=data_root, config=config, cache_dir=cache_dir or str(datasets_cache_dir()), base_dir=base_dir
    )
    return str(root)
