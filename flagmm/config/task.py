"""A task file -> TaskSpec, checked once.

mmengine reads the file (`_base_`, deep merge). Imports and helper names that a task file leaves at top level are
ignored; only the keys below count.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagmm.config.other_files import TASK_FILE, refuse_other_files
from flagmm.config.secrets import secrets_in
from flagmm.errors import ConfigError
from flagmm.hints import mismatch, shown
from flagmm.jsonio import open_to_read
from flagmm.light_mmengine import Config
from flagmm.plugin import describe, imports_from

logger = logging.getLogger(__name__)

_KEYS = ("dataset", "evaluator", "config", "register_dataset", "register_evaluator", "task_name")


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """One evaluation: what to ask and how to score it."""

    name: str
    path: Path
    dataset: dict[str, Any]
    evaluator: dict[str, Any] | None
    """None: the task is only asked, not scored."""
    register_dataset: dict[str, str] = field(default_factory=dict)
    """File beside the task file -> class it registers."""
    register_evaluator: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, Any] = field(default_factory=dict)
    """What else stands at the top level of the file, such as names that its dicts are made of."""

    @property
    def folder(self) -> Path:
        return self.path.parent

    def where(self, key: str) -> str:
        """File and key, as error messages begin."""
        return f"{self.path}: {key}"

    def secrets(self) -> list[str]:
        """Keys that stand in the file as they are; `$NAME` is no secret."""
        found = [*secrets_in(self.dataset), *secrets_in(self.evaluator)]
        return [text for text in found if not text.startswith("$")]


def load_task(path: Path) -> TaskSpec:
    """Read and check a task file.

    Raises:
        ConfigError: the file is missing, has a syntax error, raises, or lacks a key.
    """
    path = path.resolve()
    if path.is_file():
        refuse_other_files(path)
    values = _read(path)
    dataset = _mapping(values, "dataset", path)
    if dataset is None:
        raise ConfigError(f"{path}: defines no 'dataset'; {TASK_FILE}")
    name = dataset.get("name", dataset.get("dataset_name"))  # the latter is VLMEvalKit's
    if name is not None and (text := mismatch(name, str)):
        raise ConfigError(f"{path}: dataset: name: {text}")
    if not name:
        raise ConfigError(f"{path}: dataset: 'name' is missing, or empty")
    return TaskSpec(
        name=name,
        path=path,
        dataset=dataset,
        evaluator=_mapping(values, "evaluator", path),
        register_dataset=_files(values, "register_dataset", path),
        register_evaluator=_files(values, "register_evaluator", path),
        helpers={name: _plain(value) for name, value in values.items() if name not in _KEYS},
    )


def is_task_file(path: Path) -> bool:
    """Whether the file defines a complete task: process.py and shared bases do not.

    Raises:
        ConfigError: it looks like a task file and cannot be read, or its dataset is no dict.
    """
    if not any(name in ("dataset", "_base_") for name, _ in _assignments(_parse(path).body)):
        return False
    values = _read(path.resolve())
    if "dataset" not in values:
        return False
    dataset = values["dataset"]
    if not isinstance(dataset, Mapping):
        raise ConfigError(f"{path}: dataset: expected a dict, found {shown(dataset)}")
    missing = [key for key in ("type", "name") if key not in dataset]
    if "dataset_name" in dataset:
        missing = [key for key in missing if key != "name"]
    if missing:
        logger.info("%s: passed over, as a base of others: its dataset has no %s", path, " and no ".join(missing))
    return not missing


def _read(path: Path) -> Mapping[str, Any]:
    for file in _base_chain(path):
        _parse(file)
    try:
        with imports_from(path.parent):
            config = Config.fromfile(str(path), lazy_import=False)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{path}: needs the package {error.name!r}: pip install it and run again") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a task file is code and may raise anything
        raise ConfigError(f"{path}: {describe(error)}") from error
    return dict(config.items())


def _mapping(values: Mapping[str, Any], key: str, path: Path) -> dict[str, Any] | None:
    value = values.get(key)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path}: {key}: expected a dict, found {type(value).__name__}")
    result: dict[str, Any] = _plain(value)
    _refuse_nul(result, f"{path}: {key}")
    return result


def _refuse_nul(values: Mapping[str, Any], where: str) -> None:
    for name, item in values.items():
        if isinstance(item, str) and "\0" in item:
            raise ConfigError(f"{where}: {name}: a text with a NUL character, which no name can hold; remove it")
        if isinstance(item, Mapping):
            _refuse_nul(item, f"{where}: {name}")


def _files(values: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    """File -> class, of the keys that register classes."""
    files = _mapping(values, key, path) or {}
    if text := mismatch(files, dict[str, str]):
        raise ConfigError(f"{path}: {key}: {text}")
    return files


def _plain(value: Any) -> Any:
    """mmengine's dicts as built-in ones, so that no later code meets their special attributes."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(item) for item in value)
    return value


def _parse(path: Path) -> ast.Module:
    try:
        with open_to_read(path) as file:
            code = file.read()
        if b"\0" in code:  # each version of Python has other words for it
            raise ConfigError(f"{path}: no text, and so no Python; {TASK_FILE}")
        return ast.parse(code, filename=str(path))
    except SyntaxError as error:
        place = path if error.lineno is None else f"{path}:{error.lineno}"
        raise ConfigError(f"{place}: syntax error: {error.msg}") from None
    except OSError as error:
        reason = "no such task file" if isinstance(error, FileNotFoundError) else error.strerror
        raise ConfigError(f"{path}: {reason}") from None


def _assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a file's own statements bind, with the value where one stands there."""
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                yield from ((name, node.value if isinstance(target, ast.Name) else None) for name in names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, None) for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With) and "__name__" not in ast.dump(node):
            yield from _assignments([each for each in ast.walk(node) if isinstance(each, ast.Assign | ast.AnnAssign)])


def _base_chain(path: Path, seen: tuple[Path, ...] = ()) -> Iterator[Path]:
    """The file and those it names in `_base_`, so that a syntax error can be told with its own file and line."""
    yield path
    if path in seen:
        raise ConfigError(f"{path}: _base_: the file is its own base")
    for name, value in _assignments(_parse(path).body):
        if name != "_base_" or value is None:
            continue
        try:
            bases = ast.literal_eval(value)
        except ValueError:
            continue  # computed; mmengine says what it makes of it
        if not isinstance(bases, str | list | tuple):
            raise ConfigError(f"{path}: _base_: expected a text or a list of texts, found {bases!r}")
        for base in [bases] if isinstance(bases, str) else bases:
            if "::" in str(base):  # another package's config
                continue
            target = (path.parent / str(base).replace("\0", "\\0")).resolve()  # a NUL is in no file's name
            if not target.is_file():
                raise ConfigError(f"{path}: _base_: {base!r}: no such file")
            yield from _base_chain(target, (*seen, path))
