"""Names of data sets and `dataset_args` -> tasks: installed task files with a person's settings put over theirs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flagmm.assembly import task_code
from flagmm.config.locate import find_tasks
from flagmm.config.task import TaskSpec, load_task
from flagmm.config.task_config import TaskConfig
from flagmm.errors import ConfigError
from flagmm.hints import hints_of
from flagmm.registry import DATASETS, check_keywords, check_values, did_you_mean

logger = logging.getLogger(__name__)

_RENAMED = {"local_path": "data_root", "dataset_id": "data_root", "eval_split": "split"}
_MEANINGLESS = {
    "train_split", "default_subset", "few_shot_prompt_template", "few_shot_random", "query_template", "metric_list",
    "aggregation", "filters", "force_redownload", "review_timeout", "max_image_bytes", "extra_params",
    "sandbox_config",
}  # fmt: skip
_OF_THE_RUN = ("seed", "allow_media_roots", "strict")
"""Keys of a TaskConfig that data sets may take."""


def find_datasets(config: TaskConfig, *, source: str) -> list[TaskSpec]:
    """The tasks that `datasets` names, with their `dataset_args` and the run's own settings in them.

    Raises:
        ConfigError: no or an unknown name, or a setting that the data set does not take.
    """
    if not config.datasets:
        raise ConfigError(f"{source}: datasets is missing: name one or more, such as general_vqa")
    tasks = []
    used = set()
    for name in config.datasets:
        for path in find_tasks([name]):
            task = load_task(path)
            used |= {name, task.name} & config.dataset_args.keys()
            own = {**config.dataset_args.get(task.name, {}), **config.dataset_args.get(name, {})}
            tasks.append(_configured(task, own, config, where=f"{source}: dataset_args: {name}"))
    for name in config.dataset_args.keys() - used:
        raise ConfigError(f"{source}: dataset_args: {name!r} is not in datasets.{did_you_mean(name, config.datasets)}")
    return tasks


def _configured(task: TaskSpec, own: Mapping[str, Any], config: TaskConfig, *, where: str) -> TaskSpec:
    with task_code(task):
        kind = DATASETS.lookup(str(task.dataset.get("type")))
    settings = _of_run(kind, config) | _translated(own, where)
    check_keywords(kind, settings, where=where, given=[*task.dataset, "base_dir", "name"])
    check_values(kind, settings, where=where, spelt={_RENAMED.get(name, name): name for name in own})
    return replace(task, dataset={**task.dataset, **settings})


def _of_run(kind: Any, config: TaskConfig) -> dict[str, Any]:
    given = {name: getattr(config, name) for name in _OF_THE_RUN}
    named = hints_of(kind)  # a class of a person's own may hand all other keywords on to one that does not know them
    return {name: value for name, value in given.items() if value not in (None, []) and name in named}


def _translated(own: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The keywords of a data set class that `dataset_args` stand for."""
    if own.get("few_shot_num"):
        raise ConfigError(f"{where}: few_shot_num: questions are asked without examples here; put them into the prompt")
    idle = [name for name in own if name in _MEANINGLESS and own[name] not in (None, False, [], {}, "")]
    if idle:
        logger.warning("%s: %s: no meaning here, left out", where, ", ".join(idle))
    kept = {name: value for name, value in own.items() if name not in _MEANINGLESS and name != "few_shot_num"}
    translated: dict[str, Any] = {}
    for name, value in kept.items():
        new = _RENAMED.get(name, name)
        if new in translated:
            raise ConfigError(f"{where}: {name}: said twice, under an old name too")
        if value is not None:
            translated[new] = value
    return translated
