"""run.json: what ran, with what, when, and on which machine; the last run in full, and under `runs` each one."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import platform
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm import __version__
from flagmm.config.dump import dump_model
from flagmm.config.model import ModelSpec
from flagmm.config.redaction import Redactor
from flagmm.config.secrets import mask_command
from flagmm.errors import DataError, OutputError
from flagmm.jsonio import read_json, write_json, writing
from flagmm.output_files import locked, remove_strays
from flagmm.paths import RunPaths

logger = logging.getLogger(__name__)

_PACKAGES = ("mmengine-lite", "aiohttp", "pillow", "datasets", "nltk", "rouge-score", "rapidocr", "onnxruntime", "av")
_OF_EACH_RUN = ("tasks", "command", "model", "flagmm", "host", "started", "ended", "state")
_MOST_RUNS = 100
"""Runs that are remembered at least; of older ones only those that were the last with a task."""


class Manifest:
    """Writes run.json when entered, and again with the end and its state when left.

    Runs of several tasks may work in one directory, one after another or at once: none forgets the others.

    Attributes:
        state: what the run came to, where nothing is raised.
    """

    def __init__(
        self,
        path: Path,
        *,
        argv: Sequence[str] | None,
        spec: ModelSpec | None,
        tasks: Sequence[str],
        secrets: Iterable[str] = (),
    ) -> None:
        """Take what the run is; `secrets` are left out of the command, wherever they stand in it."""
        hide = Redactor(secrets)
        self._path = path
        self._values: dict[str, Any] = {
            "flagmm": __version__,
            "python": platform.python_version(),
            "packages": _versions(),
            "host": platform.node(),
            "platform": platform.platform(),
            "command": None if argv is None else ["flagevalmm", *map(hide, mask_command(argv))],
            "tasks": list(tasks),
            "model": dump_model(spec) if spec else _saved_model(path, tasks),
        }
        self.state = "ended"

    def __enter__(self) -> Manifest:
        self._values |= {"started": _now(), "state": "running"}
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self._write()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._values |= {"ended": _now(), "state": self.state if kind is None else f"stopped by {kind.__name__}"}
        try:
            self._write()
        except OutputError as failure:  # the results are there, and what else went wrong is told before this
            logger.warning("%s", failure)

    def _write(self) -> None:
        """Put this run in its place among those that are there, at the end where it is new."""
        own = _short(self._values) | {"process": os.getpid()}
        with locked(RunPaths(self._path.parent).lock):
            remove_strays(self._path.parent)
            saved = _saved(self._path)
            runs = _runs_in(saved)
            place = next((number for number, run in enumerate(runs) if _is_same(run, own)), len(runs))
            runs[place : place + 1] = [own]
            is_last = _is_same(runs[-1], own)  # else one that started later has the word
            write_json(self._path, {**(self._values if is_last else saved), "runs": _worth_keeping(runs)})


def _is_same(run: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(run.get(key) == other.get(key) for key in ("started", "host", "process"))


def _saved(path: Path) -> dict[str, Any]:
    """What the file holds; nothing where it is none of ours."""
    try:
        values = read_json(path) if path.is_file() else {}
    except DataError:
        return {}
    return values if isinstance(values, dict) else {}


def _runs_in(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs that a file tells of, in the order of their start; one of an earlier version tells of the last only."""
    runs = values.get("runs")
    if isinstance(runs, list):
        return [run for run in runs if isinstance(run, dict)]
    return [_short(values)] if "started" in values else []


def _short(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: values[key] for key in _OF_EACH_RUN if key in values}


def _worth_keeping(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest runs, and older ones that were the last with a task or with its model."""
    kept: list[dict[str, Any]] = []
    known: set[tuple[str, bool]] = set()
    for number, run in enumerate(reversed(runs)):
        facts = {(task, run.get("model") is None) for task in _tasks_of(run)}
        if number < _MOST_RUNS or facts - known:
            kept.append(run)
        known |= facts
    return kept[::-1]


def _tasks_of(run: Mapping[str, Any]) -> list[str]:
    tasks = run.get("tasks")
    return [str(task) for task in tasks] if isinstance(tasks, list) else []


def _saved_model(path: Path, tasks: Collection[str] | None = None) -> Any:
    """The model whose answers lie here already: scoring asks none, and must not make it forgotten.

    Args:
        tasks: whose answers are meant, where there may be those of several models.
    """
    values = _saved(path)
    runs = [run for run in _runs_in(values) if tasks is None or set(tasks) & set(_tasks_of(run))]
    models = [run["model"] for run in runs if run.get("model") is not None]
    return models[-1] if models else values.get("model")


def saved_model_name(path: Path, tasks: Collection[str] | None = None) -> str | None:
    """What the model is called whose answers to `tasks` lie here; None where `run.json` does not tell."""
    model = _saved_model(path, tasks)
    names = [model.get(key) for key in ("chat_name", "model_name")] if isinstance(model, dict) else []
    return next((name for name in names if isinstance(name, str)), None)


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
