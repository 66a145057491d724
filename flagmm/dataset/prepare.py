"""Run a task's process.py so that its data set is there whole or not at all.

The data of `config` live in `<cache>/<processed_dataset_path>/<dataset_name>/<split>`. `process(cfg)` writes into a
temporary sibling; what it wrote is checked and then renamed into place. A folder that holds a readable annotation
file is a data set, whoever made it.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from flagmm.dataset.annotations import MEDIA_KEYS, annotation_paths, is_file_path, media_paths, read_annotations
from flagmm.errors import ConfigError, DataError
from flagmm.jsonio import write_text, writing
from flagmm.light_mmengine import ConfigDict
from flagmm.output_files import locked
from flagmm.plugin import load_function, user_code

logger = logging.getLogger(__name__)

AnnoFile = str | Sequence[str] | None


class DataConfig(TypedDict, total=False):
    """A task's `config`, as far as flagmm reads it; further keys are for its process.py."""

    processed_dataset_path: str | os.PathLike[str]
    processor: str | os.PathLike[str]
    dataset_path: str | os.PathLike[str]
    anno_file: str | list[str] | None


def find_or_prepare(
    *,
    data_root: str | None,
    config: Mapping[str, Any] | None,
    cache_dir: str,
    base_dir: str | None,
    anno_file: AnnoFile = None,
    force: bool = False,
) -> Path:
    """The absolute folder of a data set's annotations and media, prepared first where need be.

    Args:
        force: prepare even where the data are there already.

    Raises:
        ConfigError: neither `data_root` nor a complete `config` is given, or process.py is missing.
        DataError: the folder is missing, or process.py wrote no sound data set.
        UserCodeError: process.py raised.
    """
    if data_root is not None:
        return _existing(data_root, base_dir)
    if config is None:
        raise ConfigError("dataset: needs data_root (a folder), or config (with a process.py)")
    root = prepared_root(config, cache_dir)
    if not force and is_data_set(root, anno_file):
        return root
    preparation = _Preparation(config, cache_dir=cache_dir, base_dir=base_dir, anno_file=anno_file)
    preparation.run(force=force)
    return root


def _existing(data_root: str, base_dir: str | None) -> Path:
    path = Path(data_root).expanduser().absolute()
    if path.is_dir():
        return path
    beside = Path(base_dir or ".") / data_root
    hint = f" (there is one beside the task file: {beside})" if beside.is_dir() else ""
    raise DataError(f"dataset: data_root: {path}: no such folder{hint}; it is relative to the working directory")


def prepared_root(config: Mapping[str, Any], cache_dir: str) -> Path:
    """Where the prepared data of `config` are, or will be."""
    path = config.get("processed_dataset_path")
    if not path:
        raise ConfigError("config: 'processed_dataset_path' is missing")
    parts = [str(config.get(key) or "") for key in ("dataset_name", "split")]
    return Path(cache_dir).expanduser().absolute() / str(path) / parts[0] / parts[1]


def is_data_set(root: Path, anno_file: AnnoFile) -> bool:
    """Whether every annotation file is there and looks whole; where none is named, whether there is any."""
    if anno_file is None and not (root / "data.json").exists():
        return any(_looks_whole(path) for suffix in ("json", "jsonl") for path in root.glob(f"**/*.{suffix}"))
    return all(_looks_whole(path) for path in annotation_paths(root, anno_file))


def _looks_whole(path: Path) -> bool:
    """Whether a JSON file ends as it should; a crash while writing leaves one that does not."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 64))
            return file.read().rstrip().endswith((b"]", b"}"))
    except OSError:
        return False


class _Preparation:
    """One call of process.py."""

    def __init__(self, config: Mapping[str, Any], *, cache_dir: str, base_dir: str | None, anno_file: AnnoFile) -> None:
        self.config = config
        self.anno_file = anno_file
        self.root = prepared_root(config, cache_dir)
        self.home = Path(cache_dir).expanduser().absolute() / str(config["processed_dataset_path"])
        self.work = self.home.with_name(f".{self.home.name}.preparing-{os.getpid()}")
        if not config.get("processor"):
            raise ConfigError(f"config: 'processor' is missing, and {self.root} holds no data set")
        self.processor = (Path(base_dir or ".") / str(config["processor"])).resolve()
        if not self.processor.is_file():
            raise ConfigError(f"config: processor: {self.processor}: no such file")

    def run(self, *, force: bool) -> None:
        with writing(self.root):
            self._run(force=force)

    def _run(self, *, force: bool) -> None:
        self.home.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.home.with_name(f".{self.home.name}.lock")):
            if not force and is_data_set(self.root, self.anno_file):
                return  # another process was faster
            with self._work_folder():
                self._process()
                made = self.work / self.root.relative_to(self.home)
                self._check(made)
                self._put_in_place(made)
        logger.info("prepared %s", self.root)

    @contextmanager
    def _work_folder(self) -> Iterator[None]:
        for stale in self.home.parent.glob(f".{self.home.name}.preparing-*"):
            shutil.rmtree(stale)
        self.work.mkdir()
        try:
            yield
        finally:
            shutil.rmtree(self.work, ignore_errors=True)

    def _process(self) -> None:
        values = dict(self.config)
        values["processed_dataset_path"] = str(self.work)
        values["processor"] = str(self.processor)
        if str(values.get("dataset_path", "")).startswith("~"):
            values["dataset_path"] = str(Path(values["dataset_path"]).expanduser())
        process = load_function(self.processor, "process")
        logger.info("preparing %s with %s", self.root, self.processor)
        with user_code(f"{self.processor}: process"):
            process(ConfigDict(values))

    def _check(self, made: Path) -> None:
        if not is_data_set(made, self.anno_file):
            names = [path.name for path in annotation_paths(made, self.anno_file)]
            wrote = sorted(str(path.relative_to(self.work)) for path in self.work.glob("**/*.json*"))
            expected = f"{made.relative_to(self.work)}/{names[0]}"
            raise DataError(
                f"{self.processor}: process wrote no whole {expected} under cfg.processed_dataset_path"
                f" (found {', '.join(wrote[:5]) or 'no JSON file'})"
            )
        paths = annotation_paths(made, self.anno_file)
        if not all(path.is_file() for path in paths):
            return  # a data set class with annotation files of its own; it checks them
        for path in paths:
            self._relocate(path)
        self._check_media(made, paths)

    def _relocate(self, path: Path) -> None:
        """Let absolute paths into the temporary folder point to where the data will be."""
        text = path.read_text(encoding="utf-8")
        if str(self.work) in text:
            write_text(path, text.replace(str(self.work), str(self.home)))

    def _check_media(self, made: Path, paths: Sequence[Path]) -> None:
        missing = []
        for annotation in read_annotations(paths):
            for key in MEDIA_KEYS:
                for value in media_paths(annotation, key):
                    target = Path(str(made / value).replace(str(self.home), str(self.work)))
                    if is_file_path(value) and not target.is_file():
                        missing.append(f"question_id {annotation['question_id']!r}: {key}: {value}: no such file")
        if missing:
            raise DataError(f"{self.processor}: {missing[0]} ({len(missing)} missing in all)")

    def _put_in_place(self, made: Path) -> None:
        aside = self.home.with_name(f".{self.home.name}.replaced-{os.getpid()}")
        if self.root.exists():
            os.rename(self.root, aside)
        for path in sorted(self.work.rglob("*")) if made != self.work else ():
            self._move_shared(path, made)
        self.root.parent.mkdir(parents=True, exist_ok=True)
        os.rename(made, self.root)
        for replaced in self.home.parent.glob(f".{self.home.name}.replaced-*"):  # killed processes' included
            shutil.rmtree(replaced, ignore_errors=True)

    def _move_shared(self, path: Path, made: Path) -> None:
        """Move what process.py wrote beside its split, such as other splits; what is there already stays."""
        target = self.home / path.relative_to(self.work)
        in_split = made in (path, *path.parents) or path in made.parents
        if path.exists() and not in_split and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(path, target)
