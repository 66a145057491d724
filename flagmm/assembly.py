"""A TaskSpec -> its data set and its evaluator, with the task folder's own classes registered meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flagmm.config.env import datasets_cache_dir
from flagmm.config.model import ModelSpec
from flagmm.config.task import TaskSpec
from flagmm.dataset.prepare import find_or_prepare
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError, UserCodeError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.hints import mismatch
from flagmm.inference.judge_choice import JudgeChoice, choose_judges, without_judge
from flagmm.inference.unheeded import check_fields, is_scorable, warn_of_unheeded
from flagmm.models.build import build_client
from flagmm.paths import TaskPaths
from flagmm.plugin import imports_from, load_file, user_code
from flagmm.registry import (
    DATASETS,
    EVALUATORS,
    PROMPTS,
    Registry,
    build,
    check_keywords,
    check_values,
    local_registrations,
    takes_keyword,
)

logger = logging.getLogger(__name__)


@contextmanager
def task_code(task: TaskSpec) -> Iterator[None]:
    """Let the task use its own data set classes and import its neighbour files; both are forgotten on leaving."""
    with local_registrations(), imports_from(task.folder):
        _register(task, "register_dataset", task.register_dataset, DATASETS)
        yield


def check_tasks(
    tasks: Sequence[TaskSpec], *, data_root: str | None = None, settings: Mapping[str, Any] | None = None
) -> None:
    """Find the mistakes that can be found before anything is prepared or asked; `find_judges` finds those of judges.

    What has no effect is told; see `inference.unheeded`.

    Args:
        data_root: taken instead of the tasks' own data.
        settings: as of `build_dataset`.

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
            chosen = dataset_settings(task, data_root, settings)
            where = task.where("dataset")
            _check_dataset(chosen, where)
            warn_of_unheeded(task, _evaluator_to_check(task))


def _check_dataset(settings: Mapping[str, Any], where: str) -> None:
    kind, values = _lookup(DATASETS, settings, where), {key: settings[key] for key in settings if key != "type"}
    check_keywords(kind, values, where=where, given=["base_dir"])
    check_values(kind, values, where=where)
    template = values.get("prompt_template")
    if isinstance(template, Mapping) and isinstance(template.get("type"), str):
        where = f"{where}: prompt_template"
        given = {key: template[key] for key in template if key != "type"}
        entry = _lookup(PROMPTS, template, where)
        check_keywords(entry, given, where=where)
        check_values(entry, given, where=where)


def _evaluator_to_check(task: TaskSpec) -> Any:
    try:
        return build_evaluator(task)
    except UserCodeError:
        return None  # told when the task's turn comes; the others can run


def find_judges(tasks: Sequence[TaskSpec], *, given: Mapping[str, Any] | None = None) -> list[ModelSpec]:
    """The judges that the tasks will ask.

    Args:
        given: taken before the tasks' own.

    Raises:
        ConfigError: a judge's setting is wrong, or a task needs one and has none.
    """
    specs: list[ModelSpec] = []
    for task in tasks:
        with task_code(task):
            evaluator = _evaluator_to_check(task) if task.evaluator is not None else BaseEvaluator()
            for choice in _judges(task, evaluator, given):
                with _named_by(choice.where):
                    build_client(choice.spec)
                specs.append(choice.spec)
    return specs


def build_dataset(
    task: TaskSpec,
    *,
    data_root: str | None = None,
    settings: Mapping[str, Any] | None = None,
    reprocess: bool = False,
) -> Dataset:
    """The task's data set, its files made by process.py first where need be.

    Args:
        data_root: taken instead of the task's own data.
        settings: keywords of the data set from the command line, taken before the task file's.
        reprocess: run process.py even where the data are there.

    Raises:
        ConfigError: a setting is wrong, or process.py is missing.
        DataError: data are missing or unsound.
        UserCodeError: the task's own code raised.
    """
    chosen = dataset_settings(task, data_root, settings)
    where = task.where("dataset")
    with _named_by(task.path):
        if reprocess and chosen.get("config") and chosen.get("data_root") is None:
            _reprocess(task, chosen)
        if takes_keyword(_lookup(DATASETS, chosen, where), "base_dir"):
            chosen.setdefault("base_dir", str(task.folder))
        with user_code(where):
            dataset: Dataset = build(DATASETS, chosen, where=where)
        for keyword, value in (settings or {}).items():
            if keyword not in chosen:  # a class of a task's own, whose base knows it
                setattr(dataset, keyword, value)
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
    with _named_by(task.path), user_code(where):
        return build(EVALUATORS, settings, where=where)


def find_evaluator(task: TaskSpec, dataset: Dataset) -> Any:
    """The task's evaluator, or where it names none, one by question type if that knows all types of its questions.

    Where there is neither, it is told that answers will not be scored.

    Raises:
        ConfigError: a setting is wrong, a file is missing, or no question has the field to cluster by.
        UserCodeError: the task's own code raised, or needs a package that is not installed.
    """
    evaluator = build_evaluator(task)
    if evaluator is None and is_scorable(dataset):
        logger.info("%s: the task file has no evaluator; its answers are scored by question type", task.name)
        evaluator = BaseEvaluator(base_dir=str(task.folder))
    if evaluator is None:
        logger.warning(
            "%s: the task file has no evaluator, and no rule knows all its question types; answers are counted, not "
            "scored",
            task.name,
        )
    check_fields(task, evaluator, dataset)
    return evaluator


@contextmanager
def _named_by(place: object) -> Iterator[None]:
    """Let a wrong setting that is found deep inside name the task file or flag that it stands in."""
    try:
        yield
    except ConfigError as error:
        if str(place) in str(error):
            raise
        raise ConfigError(f"{place}: {error}") from error


def attach_judge(
    task: TaskSpec, evaluator: Any, paths: TaskPaths, *, given: Mapping[str, Any] | None = None, check: bool = False
) -> None:
    """Give the evaluator its judge, where the task or the command line names one.

    Args:
        given: a judge from the command line, taken before the task file's.
        check: see that somebody listens there, as before a model is paid for whose answers it is to judge.

    Raises:
        ConfigError: a setting of the judge is wrong, or the evaluator needs one and has none.
        JudgeError: nobody listens.
    """
    for choice in _judges(task, evaluator, given):
        choice.attach(paths.judgements, check=check)


def check_judged(task: TaskSpec, evaluator: Any, dataset: Dataset, *, given: Mapping[str, Any] | None = None) -> None:
    """See that no answer is paid for that only a judge could score, where there is none.

    Raises:
        ConfigError: some question's data say so.
    """
    for part in without_judge(evaluator, task.evaluator or {}, given=given):
        find = getattr(part, "for_the_judge", None)
        ids = find(annotations_of(dataset)) if find is not None else []
        if ids:
            raise ConfigError(
                f"{task.where('evaluator')}: {type(part).__name__} needs a judge for {len(ids)} of the "
                f"{len(dataset)} questions, the first is question_id {ids[0]!r}: give judge=dict(model_name=…, url=…), "
                "or --judge with a model file; judge=dict(strategy='rule') leaves them unscored"
            )


def _judges(task: TaskSpec, evaluator: Any, given: Mapping[str, Any] | None) -> list[JudgeChoice]:
    if evaluator is None:
        return []
    return list(choose_judges(evaluator, task.evaluator or {}, given=given, where=task.where("evaluator")))


def _register(task: TaskSpec, key: str, files: Mapping[str, str], registry: Registry) -> None:
    for file, name in files.items():
        load_file(task.folder / file)
        if name not in registry.names():
            raise ConfigError(f"{task.where(key)}: {file} registers no class {name!r}")


def _lookup(registry: Registry, settings: Mapping[str, Any], where: str) -> Any:
    kind = settings.get("type")
    if kind is None:
        raise ConfigError(f"{where}: 'type' is missing")
    if text := mismatch(kind, str):
        raise ConfigError(f"{where}: type: {text}")
    try:
        return registry.lookup(kind)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


# Flags of the command line that only some data sets know; their keyword -> how the flag is spelt.
_FLAGS = {"subset_list": "--subset", "strict": "--strict", "allow_media_roots": "--allow-media-root"}


def dataset_settings(task: TaskSpec, data_root: str | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The keywords of the task's data set, with what the command line says put over them.

    Raises:
        ConfigError: the data set does not know a setting.
    """
    settings = dict(task.dataset)
    if data_root is not None:
        settings["data_root"] = data_root
        settings.pop("local_path", None)  # another name of it
    where = task.where("dataset")
    for keyword, value in (given or {}).items():
        kind = _lookup(DATASETS, settings, where)
        if not takes_keyword(kind, keyword):
            if hasattr(kind, keyword):  # `build_dataset` sets it
                continue
            raise ConfigError(f"{where}: {settings['type']} knows no {_FLAGS.get(keyword, keyword)}")
        settings[keyword] = value
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
