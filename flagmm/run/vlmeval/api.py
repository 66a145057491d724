"""Run every model of a plan on every data set, and write VLMEvalKit's files beside our own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from flagmm.config.model import ModelSpec
from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset
from flagmm.errors import DataError, FlagMMError, ResumeError
from flagmm.inference.progress import Progress
from flagmm.inference.resume import Resume
from flagmm.inference.session import ModelSession
from flagmm.manifest import Manifest
from flagmm.output_files import remove_strays
from flagmm.paths import RunPaths, TaskPaths
from flagmm.pipeline import Options, Outcome
from flagmm.pipeline import run as run_pipeline
from flagmm.report.vlmevalkit_files import VlmevalkitExport
from flagmm.run.saved_predictions import take_predictions
from flagmm.run.vlmeval.folders import foreign_predictions, has_fuller, link, model_folder, new_run, newest_run
from flagmm.run.vlmeval.plan import VlmevalPlan
from flagmm.run.vlmeval.status import RunStatus
from flagmm.types import TaskResult

logger = logging.getLogger(__name__)


@dataclass
class ModelRun:
    """What one model came to."""

    model: str
    output: RunPaths
    """Our own files."""
    outcome: Outcome
    files: list[Path] = field(default_factory=list)
    """VLMEvalKit's files."""


@dataclass(frozen=True, kw_only=True)
class VlmevalRun:
    """How `run_vlmeval` goes about a plan."""

    plan: VlmevalPlan
    progress: Progress
    command: Sequence[str] | None = None
    """Arguments of the command, where there was one, for `run.json`."""


def run_vlmeval(run: VlmevalRun) -> list[ModelRun]:
    """Run the models one after another; an interrupted one is the last.

    Raises:
        FlagMMError: something that concerns all of a model's data sets.
    """
    runs: list[ModelRun] = []
    for name, spec in run.plan.models.items():
        runs.append(_run_model(name, spec, run))
        if runs[-1].outcome.interrupted:
            break
    return runs


def exit_status(runs: Sequence[ModelRun]) -> int:
    """As of `Outcome.exit_status`, over all models."""
    return max((run.outcome.exit_status for run in runs), default=0)


def _run_model(name: str, spec: ModelSpec, run: VlmevalRun) -> ModelRun:
    plan, config = run.plan, run.plan.config
    folder = model_folder(config.work_dir, name)
    names_in_plan = [task.name for task in plan.tasks]
    output = (newest_run(folder, names_in_plan) if config.reuse or config.mode == "eval" else None) or new_run(folder)
    export = VlmevalkitExport(output.folder, name)
    files: list[Path] = []
    newest: list[Path] = []
    status = RunStatus(output.folder, model=name, plan=plan, command=run.command)
    names = {output.task(task.name).name: task.name for task in plan.tasks}

    def write(dataset: Dataset, paths: TaskPaths, result: TaskResult) -> None:
        written = export(dataset, paths, result)
        status.finish(names[paths.name], result, written)
        files.extend(written)
        if any(has_fuller(folder / file.name, result) for file in written):
            logger.info("%s: %s keeps its links to the files of a run that asked more", result.task, folder)
        else:
            newest.extend(written)

    unfit = _unanswered(plan.tasks, name, folder, output, status) if config.mode == "eval" else {}
    options = Options(
        scope=plan.scope, resume=Resume(same_model=config.same_model), judge=plan.judge, progress=run.progress,
        score=config.mode != "infer", export=write, on_stage=status.reach, unfit=unfit, secrets=plan.secrets(),
    )  # fmt: skip
    asked, secrets = [task.name for task in plan.tasks if task.name not in unfit], plan.secrets()
    with Manifest(output.manifest, argv=run.command, spec=spec, tasks=asked, secrets=secrets) as manifest:
        with status.failing_all():
            outcome = _run_tasks(plan.tasks, None if config.mode == "eval" else spec, output, options)
        outcome.errors = [(task, _with_own_advice(error)) for task, error in outcome.errors]
        manifest.state = "interrupted" if outcome.interrupted else "ended"
    failed = dict(outcome.errors)
    for row in outcome.missing:
        task = names[row.task]
        status.skip(task, str(row.missing)) if task not in failed else status.fail(task, failed[task])
    remove_strays(folder)
    link(newest, folder)
    return ModelRun(model=name, output=output, outcome=outcome, files=files)


def _run_tasks(tasks: Sequence[TaskSpec], spec: ModelSpec | None, output: RunPaths, options: Options) -> Outcome:
    session = None if spec is None else ModelSession(spec)
    with session or nullcontext():
        return run_pipeline(tasks, session, output, options)


def _unanswered(
    tasks: Sequence[TaskSpec], model: str, folder: Path, output: RunPaths, status: RunStatus
) -> dict[str, FlagMMError]:
    """The tasks without answers, ours or a file of predictions -> what is wrong with them."""
    missing: dict[str, FlagMMError] = {}
    for task in tasks:
        paths = output.task(task.name)
        has_own = paths.answers.exists() or paths.predictions.exists()  # only the latter where a run was killed
        file = None if has_own else foreign_predictions(folder, model, task.name)
        try:
            if file is not None:
                logger.info("%s: scoring the predictions in %s", task.name, file)
                take_predictions(file, task, paths)
                status.found(task.name, file)
            elif not has_own:
                raise DataError(f"no predictions of {model} in {folder}; run --mode infer first")
        except FlagMMError as error:
            missing[task.name] = error
    return missing


def _with_own_advice(error: FlagMMError) -> FlagMMError:
    """The error with what to do about it in the words of this command."""
    if not isinstance(error, ResumeError) or not error.advice:
        return error
    advice = "leave --reuse out to ask everything again into a new folder"
    if error.may_be_same_model:
        advice = f"say --same-model where it is, or {advice}"
    return ResumeError(error.found, advice=advice)
