"""Names and entries of a VlmevalConfig -> tasks and models, all of them checked before anything is asked."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flagmm.assembly import check_tasks, find_judges
from flagmm.config.env import lmu_data_dir
from flagmm.config.locate import find_tasks
from flagmm.config.model import ModelSpec, parse_model
from flagmm.config.secrets import secrets_in
from flagmm.config.task import TaskSpec, load_task
from flagmm.config.vlmeval import VlmevalConfig
from flagmm.config.vlmeval_models import judge_values, model_values, own_class
from flagmm.dataset.tsv.media import is_set
from flagmm.errors import ConfigError
from flagmm.inference.plan import Scope
from flagmm.models.build import check_keywords_of_class, own_keys
from flagmm.paths import installed_tasks
from flagmm.run.vlmeval.refusals import refuse_conversations, refuse_pack
from flagmm.vlmeval.adapter import VlmevalClassDataset, VlmevalClassEvaluator
from flagmm.vlmeval.dataset import CLASSES

logger = logging.getLogger(__name__)

_CLASSES = {
    "ImageMCQDataset": "TsvMcqDataset", "CustomMCQDataset": "TsvMcqDataset", "TextMCQDataset": "TsvMcqDataset",
    "CustomTextMCQDataset": "TsvMcqDataset", "ImageYORNDataset": "TsvYesNoDataset",
    "CustomVQADataset": "TsvVqaDataset", "ImageVQADataset": "TsvVqaDataset",
}  # fmt: skip
_SHORT_ANSWER = frozenset({"ImageVQADataset"})
_VIDEO_NAME = re.compile(
    r"(?P<table>.+?)_(?:(?P<nframe>[1-9]\d*)frame|(?P<fps>\d+(?:\.\d+)?)fps)(?P<subs>_subs)?(?P<pack>_pack|_nopack)?"
)
_OF_SCORING = ("rule", "circular", "match")
_FRAMES = frozenset({"nframe", "fps"})


@dataclass(frozen=True, kw_only=True)
class VlmevalPlan:
    """An evaluation, checked and ready to be run."""

    config: VlmevalConfig
    tasks: tuple[TaskSpec, ...]
    models: Mapping[str, ModelSpec]
    """By the name that files get."""
    judge: Mapping[str, Any] | None

    @property
    def scope(self) -> Scope:
        limit = self.config.limit
        limit = int(limit) if limit is not None and limit == int(limit) else limit
        label = "" if limit is None else f"limit {limit:g}"
        return Scope(limit=limit, label=label, keep_failed=self.config.keep_failed)

    def secrets(self) -> list[str]:
        """Every text that must not be shown."""
        found = [text for spec in self.models.values() for text in spec.secrets()]
        return [*found, *secrets_in(self.judge), *(text for task in self.tasks for text in task.secrets())]


def make_plan(config: VlmevalConfig, *, source: str) -> VlmevalPlan:
    """Check everything that can be checked before anything is read or asked.

    Raises:
        ConfigError: a setting is wrong, or nothing is known under a name.
    """
    models = model_specs(config, source=source)
    tasks = tuple(make_task(name, entry, config.data_settings, source=source) for name, entry in config.data.items())
    check_tasks(tasks)
    judge = judge_values(config) if config.mode != "infer" else None
    find_judges(tasks, given=judge)
    return VlmevalPlan(config=config, tasks=tasks, models=models, judge=judge)


def model_specs(config: VlmevalConfig, *, source: str) -> dict[str, ModelSpec]:
    """The models by the name that files get.

    Raises:
        ConfigError: nothing is known of one, or a setting is wrong.
    """
    specs: dict[str, ModelSpec] = {}
    for name, entry in config.models.items():
        values, where = model_values(name, entry, config, source=source), f"{source}: model: {name}"
        shown = own_class(name) or (Path(name).stem if name.endswith(".json") else name)
        if shown in specs:
            raise ConfigError(f"{where}: two models whose files would be called {shown!r}; rename one")
        specs[shown] = parse_model(values, source=where, own_keys=own_keys)
        if own_class(specs[shown].model_type):
            check_keywords_of_class(specs[shown], where=where)
    return specs


def make_task(
    name: str, entry: Mapping[str, Any], settings: Mapping[str, Any] | None = None, *, source: str
) -> TaskSpec:
    """The task of one data set: a table of `$LMUData`, a table's path, or an installed task.

    Args:
        entry: VLMEvalKit's `class` and keywords, or nothing.
        settings: keywords for all tables, taken where the entry has none.

    Raises:
        ConfigError: neither a table nor a task has this name.
    """
    given = _with_settings(entry, settings or {})
    kind = given.pop("class", None)
    table = str(given.get("dataset", name))
    patched = CLASSES.patched_class(kind, _table(table))
    if patched is not None:
        return _allowing(given, _of_class(name, table, patched))
    if kind is None and not _table(table).is_file() and "url" not in given and "data_root" not in given:
        preset = _video_preset(name)
        if preset is None:
            return _allowing(given, _installed(name, source))
        given = _with_settings(_with_settings(entry, preset), settings or {})
        table = str(given["dataset"])
    refuse_pack(given.pop("pack", False), name=name, where=f"{source}: data: {name}")
    refuse_conversations(kind, _table(table), where=f"{source}: data: {name}")
    task = load_task(installed_tasks() / "tsv" / "tsv.py")
    path = Path(table).expanduser()
    if path.suffix == ".tsv":
        given |= {"data_root": str(path), "dataset": path.stem}
        name = path.stem if name == table else name
    if kind in _SHORT_ANSWER:
        given.setdefault("short_answer", True)
    scoring = {key: given.pop(key) for key in _OF_SCORING if key in given}
    dataset = {**task.dataset, "type": _type(kind, name, source), "name": name, **given}
    return replace(task, name=name, dataset=dataset, evaluator={**(task.evaluator or {}), **scoring})


def _with_settings(entry: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with the settings of all tables where it has none; how many frames are sent is one setting, not two."""
    own, common = ({key: value for key, value in each.items() if key not in _FRAMES or is_set(value)}
                   for each in (entry, settings))  # fmt: skip
    if own.keys() & _FRAMES:
        common = {key: value for key, value in common.items() if key not in _FRAMES}
    return {**common, **own}


def _allowing(given: Mapping[str, Any], task: TaskSpec) -> TaskSpec:
    """A task that is no table, with the folders that its media may be in."""
    roots = given.get("allow_media_roots")
    return replace(task, dataset={**task.dataset, "allow_media_roots": roots}) if roots else task


def _of_class(name: str, table: str, class_name: str) -> TaskSpec:
    """The task of a table whose class a script has patched."""
    logger.info("%s: asked and scored by the patched class %s", name, class_name)
    task = load_task(installed_tasks() / "tsv" / "tsv.py")
    dataset = {"type": VlmevalClassDataset.__name__, "name": name, "dataset": table, "class_name": class_name}
    return replace(task, name=name, dataset=dataset, evaluator={"type": VlmevalClassEvaluator.__name__})


def _type(kind: str | None, name: str, source: str) -> str:
    if kind is not None and kind not in _CLASSES:
        logger.warning(
            "%s: data: %s: class %s is not built here: prompts and scores are those that the table's columns ask for, "
            "and may differ from that class's",
            source,
            name,
            kind,
        )
    return _CLASSES.get(kind or "", "TsvDataset")


def _video_preset(name: str) -> dict[str, Any] | None:
    """What a name such as "Video-MME_16frame_subs" says, if there is a table of the name that it begins with."""
    found = _VIDEO_NAME.fullmatch(name)
    if found is None:
        return None
    tables = [text for text in (found["table"], found["table"].replace("_", "-")) if _table(text).is_file()]
    if not tables:
        return None
    frames = {"nframe": int(found["nframe"])} if found["nframe"] else {"fps": float(found["fps"])}
    return {
        "dataset": tables[0],
        **frames,
        **({"use_subtitle": True} if found["subs"] else {}),
        **({"pack": True} if found["pack"] == "_pack" else {}),
    }


def _table(name: str) -> Path:
    path = Path(name).expanduser()
    return path if path.suffix == ".tsv" else lmu_data_dir() / f"{name}.tsv"


def _installed(name: str, source: str) -> TaskSpec:
    try:
        paths = find_tasks([name])
    except ConfigError:
        raise ConfigError(
            f"{source}: data: {name}: no table {_table(name)}, and no installed task of this name; put the table "
            "there, give its path, or its url with --data-config"
        ) from None
    if len(paths) > 1:
        raise ConfigError(f"{source}: data: {name}: {len(paths)} tasks; name one: {', '.join(map(str, paths))}")
    return load_task(paths[0])
