"""Run a task's process.py so that its data set is there whole or not at all.

The data of `config` live in `<cache>/<processed_dataset_path>/<dataset_name>/<split>`. `process(cfg)` writes into a
working folder beside it (`working_folder.py`); what it wrote is checked and then renamed into place. A folder that
holds a readable annotation file with something in it is a data set, whoever made it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from flagmm.dataset.annotations import MEDIA_KEYS, annotation_paths, is_file_path, media_paths, read_annotations
from flagmm.dataset.working_folder import WorkingFolder
from flagmm.errors import ConfigError, DataError, FlagMMError
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
    return prepared_home(config, cache_dir) / parts[0] / parts[1]


def prepared_home(config: Mapping[str, Any], cache_dir: str) -> Path:
    """The folder of all that one process.py makes, such as several splits and the media that they share."""
    return Path(cache_dir).expanduser().absolute() / str(config["processed_dataset_path"])


def is_data_set(root: Path, anno_file: AnnoFile) -> bool:
    """Whether every annotation file is there and looks whole, and not all are empty; without a name, whether any is."""
    if anno_file is None and not (root / "data.json").exists():
        found = [path for suffix in ("json", "jsonl") for path in root.glob(f"**/*.{suffix}")]
        return any(_looks_whole(path) and not _is_empty_list(path) for path in found)
    paths = annotation_paths(root, anno_file)
    return all(map(_looks_whole, paths)) and not all(map(_is_empty_list, paths))


def _looks_whole(path: Path) -> bool:
    """Whether a JSON file ends as it should; a crash while writing leaves one that does not."""
    return _end_of(path).endswith((b"]", b"}"))


def _is_empty_list(path: Path) -> bool:
    """Whether a JSON file holds a list of nothing, which is what a preparation that found no data writes."""
    return b"".join(_end_of(path).split()) == b"[]"


def _end_of(path: Path) -> bytes:
    """The last bytes of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 64))
            return file.read().rstrip()
    except OSError:
        return b""


class _Preparation:
    """One call of process.py."""

    def __init__(self, config: Mapping[str, Any], *, cache_dir: str, base_dir: str | None, anno_file: AnnoFile) -> None:
        self.config = config
        self.anno_file = anno_file
        self.root = prepared_root(config, cache_dir)
        self.home = prepared_home(config, cache_dir)
        source = str(config.get("dataset_path") or "")
        self.work = WorkingFolder(self.home, self.root, anno_file=anno_file, source=source)
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
            self.work.open(anew=force)
            with self._kept_where_it_breaks():
                self._process()
                self._check(self.work.made)
            self.work.put_in_place(anew=force)
        logger.info("prepared %s", self.root)

    @contextmanager
    def _kept_where_it_breaks(self) -> Iterator[None]:
        """Leave what was made to the next start, and say so."""
        try:
            yield
        except BaseException as error:
            if self.work.keep() and isinstance(error, FlagMMError):
                kept = f"the next start goes on with what is in {self.work.path}, and --reprocess starts anew"
                error.args = (f"{error}; {kept}",)
            raise

    def _process(self) -> None:
        values = dict(self.config)
        values["processed_dataset_path"] = str(self.work.path)
        values["processor"] = str(self.processor)
        if str(values.get("dataset_path", "")).startswith("~"):
            values["dataset_path"] = str(Path(values["dataset_path"]).expanduser())
        process = load_function(self.processor, "process")
        logger.info("preparing %s with %s", self.root, self.processor)
        with user_code(f"{self.processor}: process"):
            is_over = False
            while not is_over:
                try:
                    process(ConfigDict(values))
                    is_over = True
                except FileExistsError as error:  # of a process.py that does not know of earlier starts
                    if not self.work.drop(Path(os.fsdecode(error.filename or ""))):
                        raise

    def _check(self, made: Path) -> None:
        if not is_data_set(made, self.anno_file):
            self._tell_what_is_missing(made)
        paths = annotation_paths(made, self.anno_file)
        if not all(path.is_file() for path in paths):
            return  # a data set class with annotation files of its own; it checks them
        for path in paths:
            self._relocate(path)
        self._check_media(made, paths)

    def _tell_what_is_missing(self, made: Path) -> None:
        work = self.work.path
        expected = annotation_paths(made, self.anno_file)
        wrote = sorted(str(path.relative_to(work)) for path in work.glob("**/*.json*"))
        name = str(expected[0].relative_to(work))
        if all(map(_is_empty_list, expected)):
            raise DataError(f"{self.processor}: process wrote no question: {name} is an empty list")
        raise DataError(
            f"{self.processor}: process wrote no whole {name} under cfg.processed_dataset_path"
            f" (found {', '.join(wrote[:5]) or 'no JSON file'})"
        )

    def _relocate(self, path: Path) -> None:
        """Let absolute paths into the working folder point to where the data will be."""
        text = before = path.read_text(encoding="utf-8")
        for spelt in (str, lambda place: json.dumps(str(place))[1:-1]):  # as it stands, and with escapes
            text = text.replace(spelt(self.work.path), spelt(self.home))
        if text != before:
            write_text(path, text)

    def _check_media(self, made: Path, paths: Sequence[Path]) -> None:
        missing = []
        for annotation in read_annotations(paths):
            for key in MEDIA_KEYS:
                for value in media_paths(annotation, key):
                    target = made / value
                    if self.home in target.parents:  # where it will be
                        target = self.work.path / target.relative_to(self.home)
                    if is_file_path(value) and not target.is_file():
                        missing.append(f"question_id {annotation['question_id']!r}: {key}: {value}: no such file")
        if missing:
            raise DataError(f"{self.processor}: {missing[0]} ({len(missing)} missing in all)")
