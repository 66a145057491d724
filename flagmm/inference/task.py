"""The inference stage of one task: saved answers checked against this run's settings, the rest asked, files written."""

from __future__ import annotations

import fcntl
import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from flagmm.config.dump import dump_model, dump_task, to_plain
from flagmm.config.task import TaskSpec
from flagmm.dataset.annotations import MEDIA_KEYS, media_paths
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ResumeError
from flagmm.inference.other_data import refuse_other_data
from flagmm.inference.own_prompts import worded_by
from flagmm.inference.plan import Plan, Scope
from flagmm.inference.progress import Progress
from flagmm.inference.run import Inference
from flagmm.inference.session import ModelSession
from flagmm.inference.store import PredictionStore
from flagmm.jsonio import read_json_object, write_json, writing
from flagmm.paths import TaskPaths

logger = logging.getLogger(__name__)


def infer(
    task: TaskSpec,
    dataset: Dataset,
    session: ModelSession,
    paths: TaskPaths,
    *,
    scope: Scope,
    overwrite: bool,
    progress: Progress,
) -> None:
    """Ask what is still to be asked and write `<task>.json`.

    Raises:
        ResumeError: saved answers do not fit this run, or another run is writing here.
        EndpointError: the endpoint cannot answer.
    """
    with writing(paths.folder):
        paths.folder.mkdir(parents=True, exist_ok=True)
    dataset = worded_by(session, dataset)
    with _only_run(paths):
        if overwrite:
            _clear(paths)
        _check_resumable(paths, session)
        _ask(task, dataset, session, paths, scope, progress)


def restore_answers(dataset: Dataset, paths: TaskPaths) -> None:
    """Write `<task>.json` from the calls of a run that was killed before it wrote them itself.

    Raises:
        ResumeError: a run is writing here.
    """
    if not paths.predictions.is_file():
        return
    if paths.answers.is_file() and paths.answers.stat().st_mtime_ns >= paths.predictions.stat().st_mtime_ns:
        return
    with _only_run(paths), PredictionStore(paths.predictions) as store:
        store.write_answers(paths.answers, annotations_of(dataset), store.repeats)


@contextmanager
def _only_run(paths: TaskPaths) -> Iterator[None]:
    """Keep other runs out of the task's folder; the lock ends with the process, however it ends."""
    with ExitStack() as opened:
        with writing(paths.lock):
            file = opened.enter_context(open(paths.lock, "w"))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResumeError(f"{paths.folder}: another run is writing here; wait for its end") from None
        try:
            yield
        finally:
            paths.lock.unlink(missing_ok=True)


def _ask(
    task: TaskSpec, dataset: Dataset, session: ModelSession, paths: TaskPaths, scope: Scope, progress: Progress
) -> None:
    spec, name = session.spec, task.name
    with PredictionStore(paths.predictions) as store:
        plan = Plan(dataset, store, fingerprint=session.fingerprint, repeats=spec.num_infers, scope=scope)
        refuse_other_data(task, dataset, paths, plan, saved=len(store))
        write_json(paths.config, _config(task, session, scope))
        logger.info("%s: %s, results in %s", name, _what_runs(dataset, plan, spec.num_infers), paths.folder)
        inference = Inference(plan, store, session, progress=progress)
        if plan.open_calls:  # an earlier score is not that of the answers to come
            paths.result.unlink(missing_ok=True)
            paths.evaluated.unlink(missing_ok=True)
        try:
            if plan.open_calls:
                session.run(lambda: inference.run(name))
        finally:
            store.write_answers(paths.answers, plan.question_ids(), spec.num_infers)


def _what_runs(dataset: Dataset, plan: Plan, repeats: int) -> str:
    annotations = getattr(dataset, "annotations", None)
    with_media = ""
    if isinstance(annotations, Sequence):
        asked = itertools.islice(annotations, plan.count)
        media = sum(len(media_paths(item, key)) for item in asked for key in MEDIA_KEYS)
        with_media = f" with {media} media files"
    times = f" × {repeats}" if repeats > 1 else ""
    return f"{plan.count} questions{times}{with_media}, {len(plan.open_calls)} still to ask"


def _config(task: TaskSpec, session: ModelSession, scope: Scope) -> dict[str, Any]:
    return {
        "task": dump_task(task),
        "model": dump_model(session.spec),
        "answer_settings": to_plain(session.spec.answer_settings()),
        "fingerprint": session.fingerprint,
        "scope": scope.label or None,
    }


def _check_resumable(paths: TaskPaths, session: ModelSession) -> None:
    """Refuse to mix answers of different settings.

    Raises:
        ResumeError: it says what differs and what to do.
    """
    if not paths.predictions.exists():
        if paths.answers.exists():
            raise ResumeError(
                f"{paths.answers}: answers that this run did not make",
                advice="score them with --without-infer, ask again with --overwrite, or give another --output-dir",
            )
        return
    if paths.predictions.stat().st_size == 0:
        return
    saved = read_json_object(paths.config, "answer_settings", "model") if paths.config.exists() else {}
    if saved.get("fingerprint") == session.fingerprint:
        return
    before, now = saved.get("answer_settings") or {}, to_plain(session.spec.answer_settings())
    keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    changes = [f"{key} was {before.get(key)!r}, is {now.get(key)!r}" for key in keys]
    repeats, repeats_now = (saved.get("model") or {}).get("num_infers", 1), session.spec.num_infers
    if repeats != repeats_now and "temperature" in keys:  # which is 0 or 1 by it, where none is given
        changes.insert(0, f"num_infers was {repeats}, is {repeats_now}")
    raise ResumeError(
        f"{paths.folder}: saved answers were made with other settings ({'; '.join(changes) or 'unknown'})",
        advice="give another --output-dir, or --overwrite to ask everything again",
    )


def _clear(paths: TaskPaths) -> None:
    files: list[Path] = [paths.predictions, paths.answers, paths.evaluated, paths.result, paths.config]
    for file in files:
        file.unlink(missing_ok=True)
