"""Names given on the command line -> files: task files, folders, globs and installed names; model files."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from flagmm.config.other_files import TASK_FILE, where_tables_go
from flagmm.config.plain_values import check_plain
from flagmm.config.task import is_task_file
from flagmm.errors import ConfigError
from flagmm.formats.table import SUFFIXES
from flagmm.jsonio import read_json
from flagmm.paths import installed_model_configs, installed_tasks
from flagmm.registry import did_you_mean


def find_tasks(names: Iterable[str]) -> list[Path]:
    """The task files that the names stand for, each once, in the order given.

    Raises:
        ConfigError: a name fits nothing.
    """
    found: dict[Path, None] = {}
    for name in names:
        for path in _find_task(name):
            found.setdefault(path.resolve())
    return list(found)


def _find_task(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if path.is_dir():
        return _tasks_in(path)
    if path.exists():
        return [path]
    if glob.has_magic(name):
        matches = [match for root in (Path(), installed_tasks()) for match in _matches(root, name)]
        if not matches:
            raise ConfigError(f"--tasks: {name!r} matches no task file")
        return matches
    if path.suffix in (".py", ".json", *SUFFIXES) or path.is_absolute():
        raise ConfigError(f"{name}: no such {'file' if path.suffix in SUFFIXES else 'task file'}")
    return _installed(name)


def _matches(root: Path, pattern: str) -> Iterator[Path]:
    full = Path(pattern).expanduser() if Path(pattern).expanduser().is_absolute() else root / pattern
    for text in sorted(glob.glob(str(full), recursive=True)):
        match = Path(text)
        if match.is_dir():
            yield from _tasks_in(match)
        elif match.suffix == ".py" and match.is_file() and is_task_file(match):
            yield match


def _installed(name: str) -> list[Path]:
    root = installed_tasks()
    folder = root / name
    for candidate in (root / f"{name}.py", folder / f"{folder.name}.py"):
        if candidate.is_file():
            return [candidate]
    if folder.is_dir() and folder != root:
        return _tasks_in(folder)
    raise ConfigError(
        f"{name}: no such task file, and no task of this name is installed.{did_you_mean(name, _names(root))}"
    )


def _tasks_in(folder: Path) -> list[Path]:
    tasks = [path for path in sorted(folder.glob("*.py")) if path.is_file() and is_task_file(path)]
    if not tasks:
        tables = any(path.suffix in SUFFIXES for path in folder.iterdir())
        raise ConfigError(f"{folder}: holds no task file; {where_tables_go(folder) if tables else TASK_FILE}")
    return tasks


def _names(root: Path) -> list[str]:
    files = (path.relative_to(root).with_suffix("") for path in root.glob("*/*.py"))
    return [path.as_posix() for path in files if path.name not in ("process", "evaluate", "post_prompt")]


def find_model_file(name: str) -> Path:
    """The model file called `name`: a path, or one that comes with flagmm.

    Raises:
        ConfigError: there is none.
    """
    path = Path(name).expanduser()
    if path.exists() and not path.is_dir():
        return path
    installed = installed_model_configs()
    for candidate in (installed / name, installed / f"{name}.json"):
        if candidate.is_file():
            return candidate
    if path.is_dir():
        raise ConfigError(f"{name}: a directory; give the model file in it")
    known = [file.stem for file in installed.glob("*.json")]
    raise ConfigError(f"{name}: no such model file.{did_you_mean(name, known)}")


def read_model_file(name: str) -> dict[str, Any]:
    """The values of the model file called `name`.

    Raises:
        ConfigError: there is none, or it holds no object.
        DataError: it cannot be read.
    """
    path = find_model_file(name)
    values = read_json(path)
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected an object")
    check_plain(values, where=name)
    return values
