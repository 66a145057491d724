"""Prepare a task's data by themselves: `python -m flagevalmm.dataset.data_preprocessor -c my_task.py`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.dataset.prepare import find_or_prepare
from flagmm.errors import ConfigError
from flagmm.light_mmengine import Config


class DataPreprocessor:
    """Runs the process.py that a task's `config` names, where its data are not there yet.

    Args:
        config: a task file, or its `config`.
        config_dir: the folder that `processor` is relative to; that of the task file where one is given.
        force: prepare even where the data are there.
        cache_dir: where prepared data sets live.
    """

    def __init__(
        self,
        config: str | os.PathLike[str] | Mapping[str, Any],
        config_dir: str | os.PathLike[str] | None = None,
        force: bool = False,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(config, Mapping):
            self.cfg: Mapping[str, Any] = config
        else:
            values = Config.fromfile(os.fspath(config), lazy_import=False)
            if not isinstance(values.get("config"), Mapping):
                raise ConfigError(f"{config}: config: expected a dict with dataset_path, processor and so on")
            self.cfg, config_dir = values["config"], Path(config).resolve().parent
        self.config_dir = os.fspath(config_dir or ".")
        self.force = force
        self.cache_dir = os.fspath(cache_dir or datasets_cache_dir())

    def process(self) -> None:
        """Prepare the data.

        Raises:
            ConfigError: the config is not complete, or process.py is missing.
            DataError: process.py wrote no sound data set.
            UserCodeError: process.py raised.
        """
        find_or_prepare(
            data_root=None,
            config=self.cfg,
            cache_dir=self.cache_dir,
            base_dir=self.config_dir,
            anno_file=self.cfg.get("anno_file"),
            force=self.force,
        )


def parse_args(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags of the module run by itself."""
    parser = argparse.ArgumentParser(description="Prepare a task's data.", allow_abbrev=False)
    parser.add_argument("-c", "--config", required=True, metavar="FILE", help="the task file")
    parser.add_argument("-f", "--force", action="store_true", help="prepare even where the data are there")
    parser.add_argument("--cache-dir", metavar="DIR", help="where prepared data sets live")
    return parser.parse_args(argv)


if __name__ == "__main__":
    arguments = parse_args()
    DataPreprocessor(arguments.config, force=arguments.force, cache_dir=arguments.cache_dir).process()
