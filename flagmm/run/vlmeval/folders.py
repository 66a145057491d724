"""VLMEvalKit's folders: `<work dir>/<model>/T<time>/` for each run, and links to the newest files above it."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from flagmm.evaluator.answers import scope_of
from flagmm.formats.prediction_file import find_predictions
from flagmm.jsonio import writing
from flagmm.output_files import temporary_path
from flagmm.paths import RunPaths, safe_name, unused_folder
from flagmm.report.results import read_result
from flagmm.report.vlmevalkit_files import file_stem
from flagmm.types import TaskResult

logger = logging.getLogger(__name__)


def model_folder(work_dir: str, model: str) -> Path:
    """Where all runs of a model are."""
    return Path(work_dir).expanduser() / safe_name(model)


def newest_run(folder: Path, tasks: Iterable[str] = ()) -> RunPaths | None:
    """The run of ours that was started last; None where there is none.

    Args:
        tasks: a run that asked only a part of one of these is taken only where there are no others.
    """
    names = list(tasks)
    runs = sorted((path.parent for path in folder.glob("T*/run.json")), key=_age)
    whole = [run for run in runs if not any(scope_of(RunPaths(run).task(name).config) for name in names)]
    if whole and whole[-1] != runs[-1]:
        logger.info("%s is taken, as the runs after it asked only a part", whole[-1])
    return RunPaths((whole or runs)[-1]) if runs else None


def has_fuller(place: Path, result: TaskResult) -> bool:
    """Whether a link leads to the files of a run that asked more questions of a task than this result is of."""
    if result.partial is None or not place.is_symlink():
        return False
    before = RunPaths(place.resolve().parent).task(result.task).result
    return before.is_file() and read_result(before).counts.asked > result.counts.asked


def _age(run: Path) -> tuple[str, int]:
    """What sorts the folders that `new_run` names."""
    name, _, number = run.name.partition("_")
    return name, int(number) if number.isdecimal() else 1


def new_run(folder: Path) -> RunPaths:
    """A run's folder that is not there yet."""
    return RunPaths(unused_folder(folder / time.strftime("T%Y%m%d-%H%M%S")))


def foreign_predictions(folder: Path, model: str, dataset: str) -> Path | None:
    """The newest file of predictions that VLMEvalKit, or we, wrote for a data set; None where there is none."""
    stem = file_stem(model, dataset)
    places = [folder, *sorted((path for path in folder.glob("T*") if path.is_dir()), reverse=True)]
    return next((found for place in places if (found := find_predictions(place / stem)) is not None), None)


def link(files: Iterable[Path], folder: Path) -> None:
    """Make the files of a run the newest ones of their names in `folder`; a person's own files there stay.

    Raises:
        OutputError: there is no space or no right.
    """
    for file in files:
        place = folder / file.name
        if place.exists() and not place.is_symlink():
            logger.warning("%s: a file of another run, and is left as it is; the new one is %s", place, file)
            continue
        with writing(place):
            _link(file, place)


def _link(file: Path, place: Path) -> None:
    temporary = temporary_path(place)
    temporary.unlink(missing_ok=True)  # of a process that was killed
    try:
        temporary.symlink_to(os.path.relpath(file, place.parent))
    except OSError:  # a file system without links
        shutil.copyfile(file, temporary)
    os.replace(temporary, place)
