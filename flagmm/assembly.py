"""A TaskSpec -> its data set and its evaluator, with the task folder's own classes registered meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.config.task import TaskSpec
from flagmm.dataset.prepare import find_or_prepare
from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError, UserCodeError
from flagmm.plugin import imports_from, load_file, user_code
from flagmm.registry import (
    DATASETS,
    EVALUATORS,
    Registry,
    build,
    check_keywords,
    local_registrations,
    takes_keyword,
)


@contextmanager
def task_code(task: TaskSpec) -> Iterator[None]:
    """Let the task use its own data set classes and import its neighbour files; both are forgotten on leaving."""
    with local_registrations(), imports_from(task.folder):
        _register(task, "register_dataset", task.register_dataset, DATASETS)
        yield


def check_tasks(tasks: Sequence[TaskSpec], *, data_root: str | None = None) -> None:
    """Find the mistakes that can be found before anything is prepared or asked.

    Raises:
        ConfigError: two tasks of one name, an unknown type or keyword, a missing file.
    """
    paths: dict[str, Path] = {}
    for task in tasks:
        if task.name in paths:
            raise ConfigError(
                f"{task.path}: dataset: name: {task.name!r} is also that of {paths[task.name]}; rename one"
            )
        paths[task.name] = task.path
        with task_code(task):
            settings = _dataset_settings(task, data_root)
            where = task.where("dataset")
            keywords = settings.keys() - {"type"}
            check_keywords(_lookup(DATASETS, settings, where), keywords, where=where, given=["base_dir"])
            _check_evaluator(task)


def _check_evaluator(task: TaskSpec) -> None:
    try:
        build_evaluator(task)
    except UserCodeError:
        return  # told when the task's turn comes; the others can run


def build_dataset(task: TaskSpec, *, data_root: str | None = None, reprocess: bool = False) -> Dataset:
    """The task's data set, its files made by process.py first where need be.

    Args:
        data_root: taken instead of the task's own data.
        reprocess: run process.py even where the data are there.

    Raises:
        ConfigError: a setting is wrong, or process.py is missing.
        DataError: data are missing or unsound.
        UserCodeError: the task's own code raised.
    """
    settings = _dataset_settings(task, data_root)
    where = task.where("dataset")
    if reprocess and settings.get("config") and settings.get("data_root") is None:
        _reprocess(task, settings)
    if takes_keyword(_lookup(DATASETS, settings, where), "base_dir"):
        settings.setdefault("base_dir", str(task.folder))
    with user_code(where):
        dataset: Dataset = build(DATASETS, settings, where=where)
    return dataset


def build_evaluator(task: TaskSpec) -> Any:
    """The task's evaluator, or None where the task is not scored.

    Raises:
        ConfigError: a setting is wrong, or a file is missing.
        UserCodeError: the task's own code raised, or needs a package that is not installed.
    """
    if task.evaluator is None:
        return None
    _register(task, "register_evaluator", task.register_evaluator, EVALUATORS)
    settings, where = dict(task.evaluator), task.where("evaluator")
    if takes_keyword(_lookup(EVALUATORS, settings, where), "base_dir"):
        settings.setdefault("base_dir", str(task.folder))
    with user_code(where):
        return build(EVALUATORS, settings, where=where)


def _register(task: TaskSpec, key: str, files: Mapping[str, str], registry: Registry) -> None:
    for file, name in files.items():
        load_file(task.folder / file)
        if name not in registry.names():
            raise ConfigError(f"{task.where(key)}: {file} registers no class {name!r}")


def _lookup(registry: Registry, settings: Mapping[str, Any], where: str) -> Any:
    kind = settings.get("type")
    if not isinstance(kind, str):
        raise ConfigError(f"{where}: 'type' is missing, or no text")
    try:
        return registry.lookup(kind)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _dataset_settings(task: TaskSpec, data_root: str | None) -> dict[str, Any]:
    settings = dict(task.dataset)
    if data_root is not None:
        settings["data_root"] = data_root
    return settings


def _reprocess(task: TaskSpec, settings: Mapping[str, Any]) -> None:
    config = settings["config"]
    find_or_prepare(
        data_root=None,
        config=config,
        cache_dir=settings.get("cache_dir") or str(datasets_cache_dir()),
        base_dir=str(task.folder),
        anno_file=settings.get("anno_file") or config.get("anno_file"),
        force=True,
    )
