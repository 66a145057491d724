"""A TaskSpec -> its data set and its evaluator, with the task folder's own classes registered meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.config.model import parse_model
from flagmm.config.task import TaskSpec
from flagmm.dataset.prepare import find_or_prepare
from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError, UserCodeError
from flagmm.evaluator.judge import Judge, parse_settings
from flagmm.inference.judging import JudgeModel
from flagmm.models.build import own_keys
from flagmm.paths import TaskPaths
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
    with _named_by(task):
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
    with _named_by(task), user_code(where):
        return build(EVALUATORS, settings, where=where)


@contextmanager
def _named_by(task: TaskSpec) -> Iterator[None]:
    """Let a wrong setting that is found deep inside name the task file that it stands in."""
    try:
        yield
    except ConfigError as error:
        if str(task.path) in str(error):
            raise
        raise ConfigError(f"{task.path}: {error}") from error


def attach_judge(task: TaskSpec, evaluator: Any, paths: TaskPaths, *, given: Mapping[str, Any] | None = None) -> None:
    """Give the evaluator its judge, where the task or the command line names one.

    Args:
        given: a judge from the command line, taken before the task file's.

    Raises:
        ConfigError: a setting of the judge is wrong.
    """
    values = _judge_values(task, given)
    if values is None and getattr(evaluator, "needs_judge", False):
        raise ConfigError(
            f"{task.where('evaluator')}: {type(evaluator).__name__} needs a judge: give judge=dict(…), or --judge"
        )
    if values is None or not hasattr(evaluator, "use_judge"):
        return
    where = "--judge" if given is not None else task.where("evaluator: judge")
    settings, model = parse_settings(values, where=where)
    if settings.strategy == "rule":
        return
    model.setdefault("temperature", 0)
    spec = parse_model(model, source=where, own_keys=own_keys)
    evaluator.use_judge(Judge(JudgeModel(spec, paths.judgements), settings))


def _judge_values(task: TaskSpec, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What is known of the judge: a model file's keys, `strategy` and `prompt`; None where there is none."""
    if given is not None:
        return dict(given)
    settings = task.evaluator or {}
    if settings.get("judge") is not None:
        return dict(settings["judge"])
    if not settings.get("use_llm_evaluator"):
        return None
    names = {"eval_model_name": "model_name", "base_url": "url", "api_key": "api_key", "chat_name": "chat_name"}
    values = {new: settings[old] for old, new in names.items() if settings.get(old)}
    return {**values, "use_cache": settings.get("use_cache", True), "strategy": "llm"}


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
