"""The inference stage of one task: saved answers checked against this run's settings, the rest asked, files written."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from flagmm.config.dump import dump_model, dump_task, to_plain
from flagmm.config.task import TaskSpec
from flagmm.dataset.annotations import MEDIA_KEYS, media_paths
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import OutputError, ResumeError
from flagmm.evaluator.answers import scope_of
from flagmm.inference.other_data import refuse_other_data
from flagmm.inference.own_prompts import worded_by
from flagmm.inference.plan import Plan, Scope
from flagmm.inference.progress import Progress
from flagmm.inference.resume import Resume, Settled, settle
from flagmm.inference.run import Inference
from flagmm.inference.session import ModelSession
from flagmm.inference.store import PredictionStore, count_lines, count_records
from flagmm.jsonio import read_json_list, remove_files, write_json, writing
from flagmm.output_files import locked, remove_strays
from flagmm.paths import TaskPaths

logger = logging.getLogger(__name__)


def infer(
    task: TaskSpec,
    dataset: Dataset,
    session: ModelSession,
    paths: TaskPaths,
    *,
    scope: Scope,
    resume: Resume,
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
        session.identify()
        settled = settle(paths, session, resume)
        _ask(task, dataset, session, paths, settled=settled, scope=scope, progress=progress)


def restore_answers(dataset: Dataset, paths: TaskPaths) -> None:
    """Write `<task>.json` from the saved calls, where it holds less than these or is older.

    A run that was killed did not write it, and a part of it may have been all that an earlier version wrote.

    Raises:
        ResumeError: a run is writing here.
        OutputError: it cannot be written.
    """
    if not paths.predictions.is_file():
        return
    is_old = not paths.answers.is_file() or paths.answers.stat().st_mtime_ns < paths.predictions.stat().st_mtime_ns
    if not is_old and count_records(paths.answers) >= count_lines(paths.predictions):
        return
    with _only_run(paths), PredictionStore(paths.predictions) as store:
        annotations = annotations_of(dataset)
        if is_old or _holds_less(paths.answers, store, annotations):
            store.write_answers(paths.answers, annotations, store.repeats)


def _holds_less(answers: Path, store: PredictionStore, question_ids: Container[str]) -> bool:
    """Whether a saved call to one of the questions is not in `<task>.json`."""
    replies: dict[str, int] = {}
    for record in read_json_list(answers):
        if isinstance(record, Mapping):
            answer = record.get("answer")
            replies[str(record.get("question_id"))] = len(answer) if isinstance(answer, Mapping) else 1
    return any(
        replies.get(question_id, 0) < len(store.repetitions_of(question_id))
        for question_id in store.question_ids()
        if question_id in question_ids
    )


@contextmanager
def _only_run(paths: TaskPaths) -> Iterator[None]:
    """Keep other runs out of the task's folder; the lock ends with the process, however it ends."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(paths.lock, wait=False))
        except BlockingIOError:
            raise ResumeError(f"{paths.folder}: another run is writing here; wait for its end") from None
        remove_strays(paths.folder)
        yield


def _ask(
    task: TaskSpec,
    dataset: Dataset,
    session: ModelSession,
    paths: TaskPaths,
    *,
    settled: Settled,
    scope: Scope,
    progress: Progress,
) -> None:
    spec, name = session.spec, task.name
    with PredictionStore(paths.predictions) as store:
        plan = Plan(dataset, store, fingerprint=settled.fingerprint, repeats=spec.num_infers, scope=scope)
        _refuse_mixture(paths, plan, scope)
        refuse_other_data(task, dataset, paths, plan, saved=len(store) if store.holds_answers() else 0)
        config = _config(task, session, settled, scope_of(paths.config) if plan.kept else scope.label)
        write_json(paths.config, config)
        logger.info("%s: %s, results in %s", name, _what_runs(dataset, plan, spec.num_infers), paths.folder)
        inference = Inference(plan, store, session, progress=progress)
        if plan.open_calls:  # an earlier score is not that of the answers to come
            remove_files(paths.result, paths.evaluated)
        try:
            if plan.open_calls:
                session.run(lambda: inference.run(name))
        finally:
            store.write_answers(paths.answers, plan.question_ids(), plan.repeats)
            if not paths.config.exists():  # the folder was emptied, and the saved answers are of no use without it
                write_json(paths.config, config)
        if store.damage:
            raise OutputError(store.damage)


def _refuse_mixture(paths: TaskPaths, plan: Plan, scope: Scope) -> None:
    """Let a run of a part be scored with all that was saved before, where that is one whole.

    Raises:
        ResumeError: what it leaves out was asked otherwise, and would be lost to the result or mixed with it.
    """
    if not plan.kept:
        return
    part = scope.label or "fewer repetitions"
    if plan.unfit:
        raise ResumeError(
            f"{paths.folder}: {plan.unfit} saved answers that this run ({part}) leaves out are to other prompts, media "
            "or data, and a part must not take the place of a fuller result",
            advice="ask all, give another --output-dir, or --overwrite",
        )
    logger.warning(
        "%s: %d answers of earlier runs are kept, and scored with those of this run (%s); in another results "
        "directory it is scored alone",
        paths.folder,
        plan.kept,
        part,
    )


def _what_runs(dataset: Dataset, plan: Plan, repeats: int) -> str:
    annotations = getattr(dataset, "annotations", None)
    with_media = ""
    if isinstance(annotations, Sequence):
        asked = itertools.islice(annotations, plan.count)
        media = sum(len(media_paths(item, key)) for item in asked for key in MEDIA_KEYS)
        with_media = f" with {media} media files"
    times = f" × {repeats}" if repeats > 1 else ""
    return f"{plan.count} questions{times}{with_media}, {len(plan.open_calls)} still to ask"


def _config(task: TaskSpec, session: ModelSession, settled: Settled, label: str | None) -> dict[str, Any]:
    return {
        "task": dump_task(task),
        "model": dump_model(session.spec),
        "answer_settings": to_plain(session.spec.answer_settings()),
        "identity": settled.identity,
        "fingerprint": settled.fingerprint,
        "scope": label or None,
    }
