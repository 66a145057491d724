"""prepare -> infer -> evaluate -> report for each task; the stages meet only through files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from flagmm.assembly import attach_judge, build_dataset, check_judged, dataset_settings, find_evaluator, task_code
from flagmm.config.redaction import redact_error
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import (
    DataError,
    EndpointError,
    FlagMMError,
    JudgeError,
    ModelError,
    OutputError,
    ResumeError,
    UserCodeError,
)
from flagmm.evaluator.aggregate import about_endings, counts_of, what_is_missing
from flagmm.evaluator.answers import read_answers, reply_counts, scope_of
from flagmm.evaluator.tallies import ReplyTally
from flagmm.inference.interrupt import INTERRUPTED
from flagmm.inference.other_data import warn_of_other_data, warn_of_other_prompts
from flagmm.inference.own_code import OwnModels, lent_to
from flagmm.inference.plan import Scope
from flagmm.inference.progress import Progress, SilentProgress
from flagmm.inference.resume import Resume
from flagmm.inference.session import ModelSession
from flagmm.inference.task import infer, restore_answers
from flagmm.jsonio import read_json, write_json
from flagmm.paths import RunPaths, TaskPaths
from flagmm.plugin import user_code
from flagmm.report.results import read_result
from flagmm.report.summary import write_summaries
from flagmm.report.validity import has_losses
from flagmm.types import Counts, TaskResult
from flagmm.unscored import NothingAskedError, refuse_failures, refuse_nothing, summary_rows, warn_of_other_models

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
    resume: Resume = field(default_factory=Resume)
    reprocess: bool = False
    judge: Mapping[str, Any] | None = None
    """A judge taken before the tasks' own: a model file's keys, with `strategy` and `prompt`."""
    score: bool = True
    """False only asks."""
    unfit: Mapping[str, FlagMMError] = field(default_factory=dict)
    """Tasks that are not run -> why."""
    secrets: Sequence[str] = ()
    """Texts that are left out of what reports say of errors."""
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
    missing: list[TaskResult] = field(default_factory=list)
    """A row for each task without a result, those included that the run did not come to."""
    tasks: tuple[str, ...] = ()
    """All that were asked for, in order."""
    interrupted: bool = False

    @property
    def rows(self) -> list[TaskResult]:
        """What tables show: a result for each task, or why there is none."""
        by_name = {result.task: result for result in [*self.missing, *self.results]}
        return [by_name[name] for name in self.tasks if name in by_name]

    @property
    def exit_status(self) -> int:
        """0 all asked items answered and scored, 1 some were not, 2 wrong input, 130 interrupted."""
        if self.interrupted:
            return INTERRUPTED
        if self.errors:
            return max(error.exit_status for _, error in self.errors)
        return int(any(has_losses(result.counts, result.details.get("rules") or ()) for result in self.results))


def run(tasks: Sequence[TaskSpec], session: ModelSession | None, output: RunPaths, options: Options) -> Outcome:
    """Run the tasks one after another; one that fails does not keep the others from running.

    Args:
        session: the model under test; None scores saved answers only.
    """
    outcome = Outcome(tasks=tuple(output.task(task.name).name for task in tasks))
    reached: set[str] = set()
    for task in tasks:
        reached.add(task.name)
        try:
            if task.name in options.unfit:
                raise options.unfit[task.name]
            with user_code(str(task.path)):
                paths = output.saved_task(task.name) if session is None else output.task(task.name)
                result = run_task(task, session, paths, options)
        except FlagMMError as error:
            outcome.errors.append((task.name, error))
            outcome.results += [error.result] if isinstance(error, NothingAskedError) else []
            if _ends_run(error, options):
                break
        except KeyboardInterrupt:  # while data were made ready, or answers scored
            outcome.interrupted = True
            break
        else:
            outcome.results += [result] if result else []
        if session is not None and session.stop.requested:
            outcome.interrupted = True
            break
    _add_missing(outcome, tasks, reached, output, options)
    try:
        if session is not None:
            warn_of_other_models(output, session.spec, own=outcome.tasks)
        write_summaries(summary_rows(output, outcome.missing), output)
    except (OutputError, DataError) as error:  # the tasks' own results are there
        outcome.errors.append(("summary", error))
    return outcome


def _ends_run(error: FlagMMError, options: Options) -> bool:
    """Whether no other task can fare better."""
    if not isinstance(error, EndpointError) or error.of_task:
        return False
    return not isinstance(error, JudgeError) or options.judge is not None  # others may have another judge


def _add_missing(
    outcome: Outcome, tasks: Sequence[TaskSpec], reached: Set[str], output: RunPaths, options: Options
) -> None:
    """Say of each task without a result why it has none."""
    errors = dict(outcome.errors)
    found = {result.task for result in outcome.results}
    why_not_reached = "interrupted"
    for task in tasks:
        paths, error = output.task(task.name), errors.get(task.name)
        if paths.name in found:
            continue
        reason = why_not_reached
        if error is not None:
            reason = " ".join(redact_error(str(error), [*task.secrets(), *options.secrets]).split())
            why_not_reached = f"the run ended at {task.name}: {reason}"
        # What another run asked says nothing of this one.
        is_of_this_run = task.name in reached and not isinstance(error, ResumeError)
        counts = reply_counts(paths.answers) if is_of_this_run else Counts()
        text = f"{'not scored' if counts.asked else 'not run'}: {reason}"
        outcome.missing.append(TaskResult(task=paths.name, metrics={}, counts=counts, missing=text))


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
        evaluator = find_evaluator(task, dataset) if options.score else None
        attach_judge(task, evaluator, paths, given=options.judge, check=session is not None)
        chosen = replace(task, dataset=dataset_settings(task, options.data_root, options.dataset_settings))
        if session is None:
            warn_of_other_data(chosen, paths)
            restore_answers(dataset, paths)
            warn_of_other_prompts(task, dataset, paths)
        else:
            check_judged(task, evaluator, dataset, given=options.judge)
            options.on_stage(task.name, "infer")
            infer(
                chosen,
                dataset,
                session,
                paths,
                scope=options.scope,
                resume=options.resume,
                progress=options.progress,
            )
            if session.stop.requested:
                return None
        if evaluator is None:
            result = count_only(dataset, paths)
        else:
            options.on_stage(task.name, "eval")
            result = evaluate(task, evaluator, dataset, paths)
        if options.export is not None:
            options.export(dataset, paths, result)
        refuse_nothing(task, len(dataset), result)
        if not (options.scope.keep_failed or options.scope.ignore_errors):
            refuse_failures(paths, result)
        return result


def count_only(dataset: Dataset, paths: TaskPaths) -> TaskResult:
    """The result of a task without an evaluator: how many were answered.

    Raises:
        DataError: there are no answers.
    """
    annotations = annotations_of(dataset)
    replies = ReplyTally(read_answers(paths.answers, annotations))
    counts = counts_of(replies, [], len(annotations))
    partial = what_is_missing(replies, len(annotations), paths.config)
    about = about_endings(replies) | ({"partial": partial} if partial else {})
    write_json(paths.result, {"evaluator": None, "counts": asdict(counts), **about})
    return read_result(paths.result)


def evaluate(task: TaskSpec, evaluator: Any, dataset: Dataset, paths: TaskPaths) -> TaskResult:
    """Score the saved answers.

    Raises:
        DataError: there are none.
        UserCodeError: the task's own scoring raised; the answers stay.
    """
    before, where = _last_change(paths), f"{task.where('evaluator')}: {type(evaluator).__name__}"
    models = OwnModels(paths.judgements)
    try:
        with user_code(where), models, lent_to(evaluator) as about_judge:
            values = evaluator.process(dataset, str(paths.folder))
    except (UserCodeError, ModelError) as error:
        paths.result.unlink(missing_ok=True)  # an earlier one, which would pass for this code's
        text = redact_error(str(error), models.secrets)
        if isinstance(error, ModelError):
            text = f"{where}: {text}; what was judged is kept; run the same command again for the rest"
        raise UserCodeError(text) from error
    if _last_change(paths) == before:  # an evaluator with a `process` of its own that wrote no result
        write_json(paths.result, values or {})
    _complete(dataset, paths, about_judge, models.reports())
    return read_result(paths.result)


def _complete(
    dataset: Dataset, paths: TaskPaths, about_judge: Mapping[str, Any], own_models: Sequence[Mapping[str, Any]]
) -> None:
    """Say in a result what it does not say itself: how many were answered, and what its code asked of models."""
    result = read_json(paths.result)
    if not isinstance(result, dict):
        return
    added: dict[str, Any] = {} if "counts" in result else _counts(dataset, paths)
    if about_judge:
        added["judge"] = {**about_judge, **_summed(about_judge, result.get("judge"))}
    if own_models:
        added["own_models"] = list(own_models)
    counts = added.get("counts", result.get("counts"))
    failed = sum(report["failed"] for report in (about_judge, *own_models) if report)
    if failed and isinstance(counts, dict):
        added["counts"] = {**counts, "judge_failed": counts.get("judge_failed", 0) + failed}
    if added:
        write_json(paths.result, {**result, **added})


def _summed(report: Mapping[str, Any], other: Any) -> dict[str, int]:
    """The numbers of two reports on one judge: what a `process` asked before or after the usual one, and in it."""
    if not isinstance(other, Mapping):
        return {}
    numbers = [key for key, value in report.items() if isinstance(value, int) and isinstance(other.get(key), int)]
    return {key: report[key] + other[key] for key in numbers}


def _counts(dataset: Dataset, paths: TaskPaths) -> dict[str, Any]:
    """How many of a task's questions were answered; nothing where that is not known."""
    if not paths.answers.is_file():
        return {}
    annotations = annotations_of(dataset)
    replies = ReplyTally()
    for answer in read_answers(paths.answers, annotations):
        replies.add(answer)
    counts = counts_of(replies, [], len(annotations))
    return {"counts": asdict(counts)} if counts.asked else {}


def _last_change(paths: TaskPaths) -> int | None:
    return paths.result.stat().st_mtime_ns if paths.result.exists() else None


def _is_finished(paths: TaskPaths) -> bool:
    """Whether there is a result of all questions."""
    if not paths.result.exists():
        return False
    result = read_result(paths.result)
    if result.partial is not None:
        return False
    return bool(result.counts.total) or scope_of(paths.config) is None  # an evaluator of one's own may count nothing
