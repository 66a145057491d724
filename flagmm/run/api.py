"""`run_task`: what scripts and notebooks call."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from flagmm.config.env import load_dotenv_file
from flagmm.config.task_config import VLMEVALKIT, TaskConfig, read_task_config
from flagmm.errors import FlagMMError, ResumeError
from flagmm.inference.interruptible import run_anywhere
from flagmm.inference.progress import Progress, make_progress
from flagmm.inference.resume import Resume
from flagmm.inference.session import ModelSession
from flagmm.jsonio import write_json, write_text
from flagmm.manifest import Manifest
from flagmm.pipeline import Options, Outcome
from flagmm.pipeline import run as run_pipeline
from flagmm.printable import printable, printable_block
from flagmm.process import open_closed_streams
from flagmm.run.dry import look
from flagmm.run.plan import RunPlan, make_plan
from flagmm.run.reports import Reports, make_reports
from flagmm.run.vlmeval.legacy import Scores, plan_legacy, run_legacy

logger = logging.getLogger(__name__)

Given = TaskConfig | Mapping[str, Any] | str | Path


Returned = Reports | Scores


def run_task(task_cfg: Given | Sequence[TaskConfig | Mapping[str, Any]]) -> Returned | list[Returned]:
    """Run an evaluation, write its table to stdout, and return a report for each data set.

    `eval_backend: VLMEvalKit` returns the scores by `<model>_<data set>_acc`.

    Args:
        task_cfg: a TaskConfig, a dict with its keys, the path of a YAML or JSON file with them, or a list of the first
            two. Works in a notebook, too, where an event loop is running already.

    Raises:
        FlagMMError: the configuration is wrong, or no data set came to a result; what is finished stays on disk.
        KeyboardInterrupt: it was interrupted; what is finished stays on disk, and `use_cache` goes on with it.
    """
    if isinstance(task_cfg, Sequence) and not isinstance(task_cfg, str):
        return [_run_one(each) for each in task_cfg]
    return _run_one(task_cfg)


def _run_one(given: Given) -> Returned:
    open_closed_streams()
    load_dotenv_file()
    source = str(given) if isinstance(given, str | Path) else "task_cfg"
    config = read_task_config(given)
    if config.eval_backend == VLMEVALKIT:
        return _run_legacy(config, source)
    plan = make_plan(config, source=source)
    if plan.config.dry_run:
        _show(look(plan).text())
        return Reports(folder=plan.output.folder, errors={})
    outcome = _execute_anywhere(plan)
    if outcome.interrupted:
        raise KeyboardInterrupt
    reports = make_reports(outcome, plan.output)
    if not reports and outcome.errors:
        raise outcome.errors[0][1]
    for name, error in outcome.errors:
        logger.error("%s: %s", name, printable(str(error)))
    _show(f"{reports.table}\n\nResults: {plan.output.folder}")
    return reports


def _run_legacy(config: TaskConfig, source: str) -> Scores:
    plan = plan_legacy(config, source=source)
    scores = run_anywhere(lambda: run_legacy(plan))
    _show(scores.text)
    return scores


def _execute_anywhere(plan: RunPlan) -> Outcome:
    session = ModelSession(plan.spec) if plan.spec is not None else None
    progress = make_progress(quiet=False)
    return run_anywhere(lambda: execute(plan, session, progress=progress))


def execute(
    plan: RunPlan, session: ModelSession | None, *, progress: Progress, command: Sequence[str] | None = None
) -> Outcome:
    """Run a plan through the pipeline.

    Args:
        session: of the plan's model; None scores saved answers only.
        command: the arguments of the command, where there was one, for `run.json`.

    Raises:
        FlagMMError: something that concerns all data sets.
    """
    resume = Resume(same_model=plan.config.same_model)
    options = Options(
        scope=plan.scope, resume=resume, judge=plan.judge, secrets=plan.secrets(), progress=progress
    )  # fmt: skip
    names = [task.name for task in plan.tasks]
    config = plan.output.config
    before = config.read_text(encoding="utf-8") if config.is_file() else None
    secrets = plan.secrets()
    with Manifest(plan.output.manifest, argv=command, spec=plan.spec, tasks=names, secrets=secrets) as manifest:
        if session is not None:
            write_json(config, plan.config.to_dict())
        with session or nullcontext():
            outcome = run_pipeline(plan.tasks, session, plan.output, options)
        if before is not None and _is_refused(outcome):
            write_text(config, before)  # the folder is still that of the run before
        outcome.errors = [(name, _with_own_advice(error)) for name, error in outcome.errors]
        manifest.state = "interrupted" if outcome.interrupted else "ended"
    return outcome


def _is_refused(outcome: Outcome) -> bool:
    """Whether nothing was done, as what lies in the folder belongs to another run."""
    return bool(outcome.errors) and all(isinstance(error, ResumeError) for _, error in outcome.errors)


def _with_own_advice(error: FlagMMError) -> FlagMMError:
    """The error with what to do about it in the words of a TaskConfig."""
    if not isinstance(error, ResumeError) or not error.advice:
        return error
    advice = (
        "give rerun_review (--rerun-review) to score them as they are, or leave use_cache (--use-cache) out "
        "to ask again into a new folder"
    )
    if error.may_be_same_model:
        advice = f"give same_model (--same-model) where it is, {advice}"
    return ResumeError(error.found, advice=advice)


def _show(text: str) -> None:
    sys.stdout.write(f"{printable_block(text)}\n")
    sys.stdout.flush()
