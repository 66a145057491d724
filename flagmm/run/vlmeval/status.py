"""`status.json` of a run: how far each data set is and what it came to, in VLMEvalKit's own layout."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any

from flagmm import __version__
from flagmm.config.env import prediction_format
from flagmm.config.redaction import Redactor, redact_error
from flagmm.config.secrets import mask_command
from flagmm.config.vlmeval_models import NO_JUDGE
from flagmm.errors import DataError, FlagMMError
from flagmm.jsonio import read_json, write_json
from flagmm.printable import printable
from flagmm.report.results import headline
from flagmm.report.vlmeval_table import OVERALL, has_report
from flagmm.report.vlmevalkit import score_records
from flagmm.run.vlmeval.plan import VlmevalPlan
from flagmm.types import TaskResult

STATUS_FILE = "status.json"
STAGES = ("pending", "infer", "eval", "done")
NOT_SCORED = "mode_infer"
_SCHEMA_VERSION = "1.0"
_SCORE_FORMAT = "csv"


class RunStatus:
    """Writes the file anew at every step; within a run a data set's status only moves forward.

    A data set that was not finished stays at the stage it had reached, with `error_message` where something raised.
    What earlier runs wrote of other data sets in the same folder is kept.

    Args:
        folder: of the run.
        command: arguments of the command, where there was one.
    """

    def __init__(self, folder: Path, *, model: str, plan: VlmevalPlan, command: Sequence[str] | None) -> None:
        self._path = folder / STATUS_FILE
        self._secrets = plan.secrets()
        hide = Redactor(self._secrets)
        config = plan.config
        argv = [] if command is None else ["flagevalmm", *mask_command(command)]
        self._head: dict[str, Any] = {
            "schema_version": _SCHEMA_VERSION,
            "eval_id": folder.name,
            "created_at": self._saved().get("created_at") or _now(),
            "model_name": model,
            "commit": f"flagmm {__version__}",
            "argv": [hide(argument) for argument in argv],
            "mode": config.mode,
            "reuse": config.reuse,
            "pred_format": prediction_format(),
            "eval_format": _SCORE_FORMAT,
        }
        judge = None if config.mode == "infer" else str((plan.judge or {}).get("model_name") or NO_JUDGE)
        self._entries = {task.name: _entry(status=STAGES[0], judge_model=judge) for task in plan.tasks}
        self._write()

    def reach(self, task: str, stage: str) -> None:
        """A data set comes to a stage; one that is further already stays there."""
        if STAGES.index(stage) > STAGES.index(self._entries[task]["status"]):
            self._update(task, status=stage)

    def found(self, task: str, predictions: Path) -> None:
        """The answers of a data set are those in another file, which is to be scored."""
        self._update(task, source_run=predictions.resolve().parent.name)

    def finish(self, task: str, result: TaskResult, files: Sequence[Path]) -> None:
        """A data set has its result, and `files` are VLMEvalKit's, predictions first; without an answer it failed."""
        has_answers = (
            result.counts.failed < result.counts.asked or not result.counts.total
        )  # which results of one's own may not count
        is_scored = result.details.get("evaluator", "") is not None
        metrics = flat_metrics(result) if is_scored else {}
        self._update(
            task,
            **({"status": STAGES[-1]} if has_answers else {}),
            prediction_file=files[0].name if files else None,
            skip_reason=None if is_scored else NOT_SCORED,
            primary_metric=_primary(metrics, result),
            metrics=metrics,
        )

    def fail(self, task: str, error: Exception) -> None:
        """A data set came to no result."""
        if task in self._entries:
            self._update(task, error_message=printable(redact_error(" ".join(str(error).split()), self._secrets)))

    def skip(self, task: str, reason: str) -> None:
        """The run did not come to a data set, or not to its end."""
        self._update(task, skip_reason=printable(redact_error(reason, self._secrets)))

    @contextmanager
    def failing_all(self) -> Iterator[None]:
        """Let what is raised meanwhile be why no data set that is not finished came to a result."""
        try:
            yield
        except FlagMMError as error:
            for task, entry in self._entries.items():
                if entry["status"] != STAGES[-1]:
                    self.fail(task, error)
            raise

    def _update(self, task: str, **values: Any) -> None:
        self._entries[task] = _entry(**(self._entries[task] | values))
        self._write()

    def _write(self) -> None:
        saved = self._saved().get("datasets")
        datasets = {**(saved if isinstance(saved, Mapping) else {}), **self._entries}
        write_json(self._path, {**self._head, "updated_at": _now(), "datasets": datasets})

    def _saved(self) -> Mapping[str, Any]:
        try:
            values = read_json(self._path)
        except DataError:  # not there yet, or spoilt: it can be made again
            return {}
        return values if isinstance(values, Mapping) else {}


def flat_metrics(result: TaskResult) -> dict[str, float]:
    """The scores by one name each, as in "split=none|Overall": a row's texts, then the column.

    Results without VLMEvalKit's table have the names of nested objects joined in the same way.
    """
    if not has_report(result):
        return dict(_flattened(result.metrics))
    metrics: dict[str, float] = {}
    for number, record in enumerate(score_records(result)):
        texts = [f"{name}={value}" for name, value in record.items() if isinstance(value, str) and value]
        for name, value in record.items():
            if _is_number(value):
                key = "|".join([*texts, name])
                metrics[f"{key}#{number}" if key in metrics else key] = value
    return metrics


def _primary(metrics: Mapping[str, float], result: TaskResult) -> str | None:
    """The name of the score that stands for the data set."""
    overall = next((name for name in metrics if name.rpartition("|")[2] == OVERALL), headline(result))
    return overall if overall in metrics else None


def _flattened(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{name}|")
        elif _is_number(value):
            yield f"{prefix}{name}", value


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _entry(**values: Any) -> dict[str, Any]:
    """What is known of a data set; what is not is left out, as VLMEvalKit does."""
    return {name: value for name, value in values.items() if value is not None and value != {}}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
