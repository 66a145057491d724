"""Every file name of a run and of the installed package; nothing else builds one."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_MAX_NAME_BYTES = 180  # ".<task>_evaluated.json.<pid>.<thread>.tmp" stays under the usual limit of 255
# What no file system takes, or a listing of the folder must not show: control characters, marks of text direction. A
# lone surrogate has no UTF-8 form.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


def safe_name(text: str) -> str:
    """A file name for `text`: itself where it is a fit one, else a cleaned form with a hash that keeps it unique.

    >>> safe_name("mmmu_val")
    'mmmu_val'
    >>> safe_name("a/b")
    'a_b-c14cddc0'
    """
    cleaned = _UNSAFE.sub("_", text).strip(". ")
    if cleaned == text and text and len(text.encode("utf-8", "surrogatepass")) <= _MAX_NAME_BYTES:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    kept = cleaned.encode("utf-8", "ignore")[: _MAX_NAME_BYTES - 9].decode("utf-8", "ignore")  # room for the hash
    return f"{kept}-{digest}" if kept else digest


@dataclass(frozen=True)
class TaskPaths:
    """The files of one task in a results directory."""

    folder: Path
    name: str

    @property
    def config(self) -> Path:
        return self.folder / f"{self.name}_config.json"

    @property
    def predictions(self) -> Path:
        return self.folder / "predictions.jsonl"

    @property
    def answers(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def evaluated(self) -> Path:
        return self.folder / f"{self.name}_evaluated.json"

    @property
    def result(self) -> Path:
        return self.folder / f"{self.name}_result.json"

    @property
    def judgements(self) -> Path:
        return self.folder / "judgements.sqlite"

    @property
    def lock(self) -> Path:
        return self.folder / ".lock"


@dataclass(frozen=True)
class RunPaths:
    """The files of one results directory."""

    folder: Path

    @property
    def manifest(self) -> Path:
        return self.folder / "run.json"

    @property
    def lock(self) -> Path:
        """Held while the manifest is written."""
        return self.folder / ".lock"

    @property
    def config(self) -> Path:
        """What was asked for, where that was not said by task files and a model file."""
        return self.folder / "task_config.json"

    def summary(self, suffix: str) -> Path:
        return self.folder / f"summary.{suffix}"

    def task(self, name: str) -> TaskPaths:
        """The files of the task called `name`; the folder need not exist."""
        safe = safe_name(name)
        return TaskPaths(self.folder / safe, safe)

    def saved_task(self, name: str) -> TaskPaths:
        """The same of a task whose answers are there: in a folder of its own, or else in this one itself."""
        paths = self.task(name)
        flat = TaskPaths(self.folder, paths.name)
        if paths.answers.is_file() or paths.predictions.is_file() or not flat.answers.is_file():
            return paths
        return flat

    def results(self) -> list[Path]:
        """The `_result.json` of every task that has one, by task name: in its folder, or else beside its answers."""
        own = [path for path in self.folder.glob("*/*_result.json") if path.name == f"{path.parent.name}_result.json"]
        flat = [
            path
            for path in self.folder.glob("*_result.json")
            if path.with_name(f"{path.name.removesuffix('_result.json')}.json").is_file()
        ]
        taken = {path.name for path in own}
        return sorted([*own, *(path for path in flat if path.name not in taken)], key=lambda path: path.name)


def evaluated_tasks(folder: Path) -> list[TaskPaths]:
    """The tasks that have an `_evaluated.json`: in this folder itself, then those in task folders below."""
    suffix = "_evaluated.json"
    here = [TaskPaths(folder, path.name.removesuffix(suffix)) for path in sorted(folder.glob(f"*{suffix}"))]
    below = [path for path in sorted(folder.glob(f"*/*{suffix}")) if path.name == f"{path.parent.name}{suffix}"]
    return here + [TaskPaths(path.parent, path.parent.name) for path in below]


def unused_folder(folder: Path) -> Path:
    """The folder, or where it is there already `<folder>_2` and so on, the first that is not."""
    found, number = folder, 1
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}_{number}")
    return found


def default_output_dir(model_name: str) -> Path:
    """`results/<model name>`, where neither a flag nor the model file names a directory."""
    return Path("results") / safe_name(model_name.replace("/", "--"))


def installed_tasks() -> Path:
    """The folder of the task files that come with flagmm."""
    return _beside("tasks")


def installed_model_configs() -> Path:
    """The folder of the model files that come with flagmm."""
    return _beside("model_configs")


def _beside(name: str) -> Path:
    inside = _PACKAGE / name  # a plain install
    return inside if inside.is_dir() else _PACKAGE.parent / name  # a checkout, or an editable install of one
