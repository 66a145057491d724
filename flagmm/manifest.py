"""run.json: what ran, with what, when, and on which machine."""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm import __version__
from flagmm.config.dump import dump_model
from flagmm.config.model import ModelSpec
from flagmm.config.redaction import Redactor
from flagmm.config.secrets import mask_command
from flagmm.errors import DataError, OutputError
from flagmm.jsonio import read_json, write_json

logger = logging.getLogger(__name__)

_PACKAGES = ("mmengine-lite", "aiohttp", "pillow", "datasets", "nltk", "rouge-score", "rapidocr", "onnxruntime", "av")


class Manifest:
    """Writes run.json when entered, and again with the end and its state when left.

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
            "model": dump_model(spec) if spec else _saved_model(path),
        }
        self.state = "ended"

    def __enter__(self) -> Manifest:
        self._values |= {"started": _now(), "state": "running"}
        write_json(self._path, self._values)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._values |= {"ended": _now(), "state": self.state if kind is None else f"stopped by {kind.__name__}"}
        try:
            write_json(self._path, self._values)
        except OutputError as failure:  # the results are there, and what else went wrong is told before this
            logger.warning("%s", failure)


def _saved_model(path: Path) -> Any:
    """The model whose answers lie here already: scoring asks none, and must not make it forgotten."""
    try:
        values = read_json(path)
    except DataError:
        return None
    return values.get("model") if isinstance(values, dict) else None


def saved_model_name(path: Path) -> str | None:
    """What the model is called whose answers lie here; None where `run.json` does not tell."""
    model = _saved_model(path)
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
