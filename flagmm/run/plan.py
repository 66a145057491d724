"""A TaskConfig -> what the pipeline takes: tasks, a model, a judge, and a folder for the results."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.assembly import check_tasks, find_judges
from flagmm.config.env import resolve_key
from flagmm.config.generation import endpoint_values
from flagmm.config.judge_values import judge_values
from flagmm.config.model import ModelSpec, parse_model
from flagmm.config.secrets import secrets_in
from flagmm.config.task import TaskSpec
from flagmm.config.task_config import TaskConfig
from flagmm.errors import ConfigError
from flagmm.inference.plan import Scope
from flagmm.models.build import own_keys
from flagmm.paths import RunPaths, unused_folder
from flagmm.run.tasks import find_datasets

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One evaluation, checked and ready to be run."""

    config: TaskConfig
    tasks: tuple[TaskSpec, ...]
    spec: ModelSpec | None
    """None: saved answers are scored, and no model is asked."""
    judge: Mapping[str, Any] | None
    output: RunPaths

    @property
    def scope(self) -> Scope:
        """How much of each subset is asked."""
        limit = _limit(self.config)
        label = "" if limit is None else f"limit {limit:g}"
        return Scope(limit=limit, label=label, ignore_errors=self.config.ignore_errors)

    def secrets(self) -> list[str]:
        """Every text that must not be shown."""
        found = self.spec.secrets() if self.spec is not None else []
        return [*found, *secrets_in(self.judge), *(text for task in self.tasks for text in task.secrets())]


def make_plan(config: TaskConfig, *, source: str) -> RunPlan:
    """Check everything that can be checked before anything is read or asked.

    Args:
        source: where the configuration comes from, for error messages.

    Raises:
        ConfigError: a setting is wrong or missing.
    """
    idle = config.meaningless()
    if idle:
        logger.warning("%s: %s: no meaning here, left out", source, ", ".join(idle))
    spec = None
    if not config.rerun_review:
        spec = parse_model(endpoint_values(config, source=source), source=source, own_keys=own_keys)
    tasks = find_datasets(config, source=source)
    check_tasks(tasks)
    judge = _resolved(judge_values(config, source=source), source)
    find_judges(tasks, given=judge)
    return RunPlan(
        config=config,
        tasks=tuple(tasks),
        spec=spec,
        judge=judge,
        output=RunPaths(_folder(config, source)),
    )


def _resolved(judge: dict[str, Any] | None, source: str) -> dict[str, Any] | None:
    """The judge with its key, so that the key is known to be secret before anything is logged."""
    if judge is None or "api_key" not in judge:
        return judge
    return {**judge, "api_key": resolve_key(judge["api_key"], where=f"{source}: judge: models")}


def _limit(config: TaskConfig) -> int | float | None:
    if not config.limit:
        return None
    return int(config.limit) if config.limit == int(config.limit) else float(config.limit)


def _folder(config: TaskConfig, source: str) -> Path:
    """The results folder: that of an earlier run, `work_dir` itself, or a new one in it named after the time."""
    if config.use_cache is not None:
        folder = Path(config.use_cache).expanduser()
        if not RunPaths(folder).manifest.is_file():
            raise ConfigError(f"{source}: use_cache: {folder} is no results folder of a run{_those_in(folder)}")
        return folder
    work_dir = Path(config.work_dir).expanduser()
    if config.no_timestamp:
        return work_dir
    if config.rerun_review:
        raise ConfigError(f"{source}: rerun_review: say with use_cache which run's answers to score again")
    return unused_folder(work_dir / time.strftime("%Y%m%d_%H%M%S"))


def _those_in(folder: Path) -> str:
    runs = sorted(path.parent.name for path in folder.glob("*/run.json"))
    return f"; it holds {', '.join(runs)}" if runs else ""
