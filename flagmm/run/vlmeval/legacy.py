"""EvalScope's old backend: `eval_backend: VLMEvalKit` with an `eval_config`, run by `run_task`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flagmm.config.task_config import TaskConfig, read_config_file
from flagmm.config.vlmeval import parse_vlmeval
from flagmm.errors import ConfigError
from flagmm.inference.progress import make_progress
from flagmm.report.vlmeval_table import draw_scores, draw_summary, has_report
from flagmm.report.vlmevalkit import score_records
from flagmm.run.vlmeval.api import ModelRun, VlmevalRun, run_vlmeval
from flagmm.run.vlmeval.plan import VlmevalPlan, make_plan

logger = logging.getLogger(__name__)

_OF_THE_BACKEND = frozenset({"eval_backend", "eval_config", "work_dir", "limit", "debug", "allow_media_roots"})


class Scores(dict[str, dict[str, str]]):
    """Scores by `<model>_<data set>_acc`, as texts, with the names that VLMEvalKit's tables have.

    Attributes:
        runs: what each model came to.
        text: what is printed.
    """

    def __init__(self, runs: list[ModelRun], plan: VlmevalPlan) -> None:
        super().__init__()
        self.runs = runs
        texts = []
        for run in runs:
            for result in run.outcome.results:
                if has_report(result):
                    records = score_records(result)
                    name = f"{run.model}_{result.task}_acc"
                    self[name] = {key: str(value) for record in records[:1] for key, value in record.items()}
                    texts.append(draw_scores(result))
            names = [task.name for task in plan.tasks]
            outcome = run.outcome
            table = draw_summary(names, outcome.results, outcome.errors, outcome.missing)
            texts += [table, f"Results: {run.output.folder}"]
        self.text = "\n\n".join([*texts, str(dict(self))])


def plan_legacy(config: TaskConfig, *, source: str) -> VlmevalPlan:
    """Check the `eval_config` of a configuration.

    Raises:
        ConfigError: it is missing or wrong, or the configuration says something that only other backends know.
    """
    strangers = sorted(config.to_dict().keys() - _OF_THE_BACKEND)
    if strangers:
        logger.warning("%s: %s: no meaning with eval_backend VLMEvalKit, left out", source, ", ".join(strangers))
    given = config.eval_config
    if isinstance(given, str):
        given = read_config_file(Path(given))
    if not isinstance(given, Mapping):
        raise ConfigError(f"{source}: eval_config: expected an object with model and data, or the path of a file")
    values: dict[str, Any] = {"work_dir": config.work_dir, "limit": config.limit, **given}
    if config.allow_media_roots:
        values.setdefault("allow_media_roots", config.allow_media_roots)
    return make_plan(parse_vlmeval(values, source=f"{source}: eval_config"), source=f"{source}: eval_config")


def run_legacy(plan: VlmevalPlan) -> Scores:
    """Run a plan.

    Raises:
        KeyboardInterrupt: it was interrupted; what is finished stays on disk.
        FlagMMError: no data set came to a result.
    """
    runs = run_vlmeval(VlmevalRun(plan=plan, progress=make_progress(quiet=False)))
    if any(run.outcome.interrupted for run in runs):
        raise KeyboardInterrupt
    errors = [(run.model, name, error) for run in runs for name, error in run.outcome.errors]
    if errors and not any(run.outcome.results for run in runs):
        raise errors[0][2]
    for model, name, error in errors:
        logger.error("%s: %s: %s", model, name, error)
    return Scores(runs, plan)
