"""prepare -> infer -> evaluate -> report for each task; the stages meet only through files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from flagmm.assembly import attach_judge, build_dataset, build_evaluator, dataset_settings, task_code
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import DataError, EndpointError, FlagMMError, JudgeError, OutputError, UserCodeError
from flagmm.evaluator.aggregate import count
from flagmm.evaluator.answers import read_answers
from flagmm.inference.interrupt import INTERRUPTED
from flagmm.inference.other_data import warn_of_other_data
from flagmm.inference.plan import Scope
from flagmm.inference.progress import Progress, SilentProgress
from flagmm.inference.session import ModelSession
from flagmm.inference.task import infer, restore_answers
from flagmm.jsonio import write_json
from flagmm.paths import RunPaths, TaskPaths
from flagmm.plugin import user_code
from flagmm.report.results import read_result, read_results
from flagmm.report.summary import write_summaries
from flagmm.report.validity import has_losses
from flagmm.types import TaskResult

logger = logging.getLogger(__name__)

Export = Callable[[Dataset, TaskPaths, TaskResult], object]
Stage = Literal["infer", "eval"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run goes about its tasks."""

    scope: Scope = field(default_factory=Scope)
    data_root: str | None = None
    """Taken instead of the tasks' own."""
    dataset_settings: Mapping[str, Any] = field(default_factory=dict)
    """Keywords of data sets (`subset_list`, `strict`, …), taken before the tasks' own."""
    skip_finished: bool = False
    overwrite: bool = False
    reprocess: bool = False
    judge: Mapping[str, Any] | None = None
    """A judge taken before the tasks' own: a model file's keys, with `strategy` and `prompt`."""
    score: bool = True
    """False only asks."""
    export: Export | None = None
    """Writes a scored task in another tool's layout, too."""
    on_stage: Callable[[str, Stage], object] = lambda task, stage: None
    """Told when a task's questions are about to be asked, and when its answers are about to be scored."""
    progress: Progress = field(default_factory=SilentProgress)


@dataclass
class Outcome:
    """What a run came to."""

    results: list[TaskResult] = field(default_factory=list)
    errors: list[tuple[str, FlagMMError]] = field(default_factory=list)
    """(task, why it has no result)."""
    interrupted: bool = False

    @property
    def exit_status(self) -> int:
        """0 all asked items answered and scored, 1 some were not, 2 wrong input, 130 interrupted."""
        if self.interrupted:
            return INTERRUPTED
        if self.errors:
            return max(error.exit_status for _, error in self.errors)
        return int(any(has_losses(result.counts, result.details.get("rules") or ()) for result in self.results))


class NothingAskedError(DataError):
    """There is a result of a task, but no answer behind it, and so no score."""

    def __init__(self, message: str, result: TaskResult) -> None:
        super().__init__(message)
        self.result = result


def run(tasks: Sequence[TaskSpec], session: ModelSession | None, output: RunPaths, options: Options) -> Outcome:
    """Run the tasks one after another; one that fails does not keep the others from running.

    Args:
        session: the model under test; None scores saved answers only.
    """
    outcome = Outcome()
    for task in tasks:
        try:
            with user_code(str(task.path)):
                result = run_task(task, session, output.task(task.name), options)
        except FlagMMError as error:
            outcome.errors.append((task.name, error))
            outcome.results += [error.result] if isinstance(error, NothingAskedError) else []
            is_judge = isinstance(error, JudgeError) and options.judge is None  # which other tasks may not have
            if isinstance(error, EndpointError) and not is_judge:  # the other tasks have the same model
                break
        else:
            outcome.results += [result] if result else []
        if session is not None and session.stop.requested:
            outcome.interrupted = True
            break
    try:
        if output.results():
            write_summaries(read_results(output), output)
    except OutputError as error:  # the tasks' own results are there
        outcome.errors.append(("summary", error))
    return outcome


def run_task(task: TaskSpec, session: ModelSession | None, paths: TaskPaths, options: Options) -> TaskResult | None:
    """One task from its data to its result; None where it was interrupted.

    Raises:
        NothingAskedError: there is a result, but no answer behind it.
        FlagMMError: it could not be finished; what is finished stays on disk.
    """
    if options.skip_finished and _is_finished(paths):
        logger.info("%s: finished before, skipped", task.name)
        return read_result(paths.result)
    with task_code(task):
        dataset = build_dataset(
            task, data_root=options.data_root, settings=options.dataset_settings, reprocess=options.reprocess
        )
        evaluator = build_evaluator(task) if options.score else None
        attach_judge(task, evaluator, paths, given=options.judge, check=session is not None)
        chosen = replace(task, dataset=dataset_settings(task, options.data_root, options.dataset_settings))
        if session is None:
            warn_of_other_data(chosen, paths)
            restore_answers(dataset, paths)
        else:
            options.on_stage(task.name, "infer")
            infer(
                chosen,
                dataset,
                session,
                paths,
                scope=options.scope,
                overwrite=options.overwrite,
                progress=options.progress,
            )
            if session.stop.requested:
                return None
        if evaluator is None:
            if options.score:
                logger.warning("%s: the task file has no evaluator; its answers are counted, not scored", task.name)
            result = count_only(dataset, paths)
        else:
            options.on_stage(task.name, "eval")
            result = evaluate(task, evaluator, dataset, paths)
        if options.export is not None:
            options.export(dataset, paths, result)
        _refuse_nothing(task, len(dataset), result)
        return result


def _refuse_nothing(task: TaskSpec, questions: int, result: TaskResult) -> None:
    """Keep a run without any answer from passing for a sound one.

    Raises:
        NothingAskedError: there is no question, or none of them has an answer.
    """
    if not questions:
        text = f"{task.where('dataset')}: no question is in it, so there is no score; look at its data"
        raise NothingAskedError(text, result)
    if result.counts.total and not result.counts.asked:  # other tools' results have no counts at all
        raise NothingAskedError(f"none of the {questions} questions has an answer, so there is no score", result)


def count_only(dataset: Dataset, paths: TaskPaths) -> TaskResult:
    """The result of a task without an evaluator: how many were answered.

    Raises:
        DataError: there are no answers.
    """
    annotations = annotations_of(dataset)
    counts = count(read_answers(paths.answers, annotations), [], len(annotations))
    write_json(paths.result, {"evaluator": None, "counts": asdict(counts)})
    return read_result(paths.result)


def evaluate(task: TaskSpec, evaluator: Any, dataset: Dataset, paths: TaskPaths) -> TaskResult:
    """Score the saved answers.

    Raises:
        DataError: there are none.
        UserCodeError: the task's own scoring raised; the answers stay.
    """
    before = _last_change(paths)
    try:
        with user_code(f"{task.where('evaluator')}: {type(evaluator).__name__}"):
            values = evaluator.process(dataset, str(paths.folder))
    except UserCodeError:
        paths.result.unlink(missing_ok=True)  # an earlier one, which would pass for this code's
        raise
    if _last_change(paths) == before:  # an evaluator with a `process` of its own that wrote no result
        write_json(paths.result, values or {})
    return read_result(paths.result)


def _last_change(paths: TaskPaths) -> int | None:
    return paths.result.stat().st_mtime_ns if paths.result.exists() else None


def _is_finished(paths: TaskPaths) -> bool:
    return paths.result.exists() and read_result(paths.result).partial is None
