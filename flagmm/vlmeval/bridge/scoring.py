"""One call of VLMEvalKit's `evaluate`: the sheet it reads, what it was told, and what came of it."""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from flagmm import __version__
from flagmm.config.dump import to_plain
from flagmm.config.secrets import mask
from flagmm.errors import DataError, UserCodeError
from flagmm.jsonio import read_json, write_json, writing
from flagmm.paths import safe_name
from flagmm.plugin import describe
from flagmm.report.prediction_table import PredictionTable
from flagmm.report.vlmevalkit_files import write_predictions
from flagmm.vlmeval.bridge.dataset import VLMEvalKitDataset
from flagmm.vlmeval.bridge.metrics import Metrics, convert, flatten
from flagmm.vlmeval.bridge.official import official, official_code

logger = logging.getLogger(__name__)

SNAPSHOT, METRICS = "vlmevalkit_evaluation.json", "vlmevalkit_metrics.json"
_PLACE = "result_file"  # of the snapshot; where a run lies does not change what it scored
_HIT, _LOG, _INDEX = "hit", "log", "index"
_TABLES = (".xlsx", ".tsv", ".json")


@dataclass(frozen=True, kw_only=True)
class OfficialScore:
    """What one scoring gave."""

    metrics: Metrics
    hits: dict[str, dict[str, Any]]
    """By index: `correct`, and `log` where VLMEvalKit told why; only for data sets that leave it row by row."""
    judge_failed: int
    files: list[str]
    """Names of the files it left, within the task's folder."""


@dataclass(frozen=True)
class Scoring:
    """Scores tables of predictions of a data set.

    Args:
        folder: where the files go; ours and VLMEvalKit's.
        eval_kwargs: for `evaluate`.
        secrets: texts in them that must not be shown.
        shares: see `metrics.convert`.
    """

    dataset: VLMEvalKitDataset
    folder: Path
    eval_kwargs: Mapping[str, Any]
    secrets: Sequence[str]
    shares: bool | None

    def run(self, table: PredictionTable) -> OfficialScore:
        """Write the sheet, score it, write what came of it.

        VLMEvalKit takes up what it finds of an earlier scoring, the judge's replies too; that is left to it only where
        the predictions and what it was told are the same.

        Raises:
            UserCodeError: `evaluate` raised, or returned no number.
            OutputError: a file cannot be written.
        """
        stem = self.folder / safe_name(self.dataset.dataset_name)
        snapshot = self._snapshot(table)
        self._clear_unless(snapshot)
        written = write_predictions(stem, table, "xlsx")
        file = written[-1]  # the whole texts, where a sheet cannot hold them
        write_json(self.folder / SNAPSHOT, {**snapshot, _PLACE: str(file.resolve())})
        metrics, hits, failed = self._evaluated(file.resolve(), len(table.rows))
        write_json(
            self.folder / METRICS,
            {
                "flattened": metrics.flattened,
                "primary": metrics.primary,
                "percent": metrics.percent,
                "scale": metrics.scale,
            },
        )
        files = sorted(path.relative_to(self.folder.parent).as_posix() for path in self.folder.glob("*"))
        logger.info("%s: VLMEvalKit's files of scoring", self.folder)
        return OfficialScore(metrics=metrics, hits=hits, judge_failed=failed, files=files)

    def _evaluated(self, file: Path, rows: int) -> tuple[Metrics, dict[str, dict[str, Any]], int]:
        inner, name = self.dataset.inner, self.dataset.dataset_name
        with official_code(
            self.dataset.data_root, doing=f"evaluate of {name}", secrets=self.secrets, warn_as=logging.WARNING
        ):
            if file.suffix != ".xlsx":  # its own tables, too, must hold long texts
                os.environ["PRED_FORMAT"] = file.suffix[1:]
            try:
                returned = inner.evaluate(str(file), **deepcopy(dict(self.eval_kwargs)))
            except NotImplementedError as error:
                raise UserCodeError(
                    f"VLMEvalKit cannot score {name}: {type(inner).__name__} has no evaluate; a table of one's own is "
                    "scored by TsvDataset and TsvEvaluator"
                ) from error
            report = getattr(inner, "report_primary_metric", None)
            flattened = flatten(returned)
            reported = report(dict(flattened)) if report is not None and flattened else None
            hits = _hits(file)
            failed = _judge_failures(inner, file, rows, self.eval_kwargs.get("model"))
        if not flattened:
            raise UserCodeError(f"VLMEvalKit: evaluate of {name}: returned no number, but {type(returned).__name__}")
        return convert(returned, reported, shares=self.shares), hits, failed

    def _snapshot(self, table: PredictionTable) -> dict[str, Any]:
        digest = hashlib.sha256()
        for row in table.rows:
            digest.update(repr([row.get(column) for column in table.columns]).encode("utf-8", "surrogatepass"))
        return {
            "dataset_name": self.dataset.dataset_name,
            "data_root": str(self.dataset.data_root),
            "dataset_kwargs": mask(to_plain(self.dataset.dataset_kwargs)),
            "sample_limit": self.dataset.sample_limit,
            "eval_kwargs": mask(to_plain(self.eval_kwargs)),
            "predictions_sha256": digest.hexdigest(),
            "flagmm": __version__,
        }

    def _clear_unless(self, snapshot: Mapping[str, Any]) -> None:
        """Remove what an earlier scoring left, unless it was of the same."""
        old = self.folder / SNAPSHOT
        if old.is_file():
            with suppress(DataError):  # a spoilt one is that of another scoring
                before = read_json(old)
                if isinstance(before, dict) and {key: before.get(key) for key in snapshot} == snapshot:
                    return
        with writing(self.folder):
            if self.folder.is_dir():
                shutil.rmtree(self.folder)
            self.folder.mkdir(parents=True)


def mean_score(scores: Sequence[OfficialScore]) -> tuple[OfficialScore, dict[str, Any]]:
    """The scores of several repetitions as one of their means, with what `_result.json` says of their spread."""
    first = scores[0]
    if len(scores) == 1:
        return first, {}
    percent = {
        name: fmean(score.metrics.percent[name] for score in scores if name in score.metrics.percent)
        for name in first.metrics.percent
    }
    headline = next(iter(percent))
    each = [score.metrics.percent[headline] for score in scores if headline in score.metrics.percent]
    files = [name for score in scores for name in score.files]
    return (
        replace(first, metrics=replace(first.metrics, percent=percent), files=files),
        {"mean": fmean(each), "std": stdev(each) if len(each) > 1 else None, "scores": each},
    )


def _judge_failures(inner: Any, file: Path, rows: int, judge: Any) -> int:
    """How many rows VLMEvalKit itself says that its judge failed on."""
    report = getattr(inner, "report_judge_err", None)
    if report is None:
        return 0
    return int(report(str(file), total_samples=rows, judge_model=str(judge) if judge else None).get("failed") or 0)


def _hits(file: Path) -> dict[str, dict[str, Any]]:
    """What the scoring left of each row: the newest of its tables with the columns `index` and `hit`."""
    tables = [path for path in file.parent.glob(f"{glob.escape(file.stem)}_*_result.*") if path.suffix in _TABLES]
    for path in sorted(tables, key=lambda path: path.stat().st_mtime_ns, reverse=True):
        try:
            if hits := _hits_in(official("smp", "load")(str(path))):
                return hits
        except Exception as error:  # noqa: BLE001  # of its own formats; the scores are there without
            logger.warning("%s: what it says of each row is left out: %s", path, describe(error))
    return {}


def _hits_in(table: Any) -> dict[str, dict[str, Any]]:
    columns = list(getattr(table, "columns", ()))
    if not {_INDEX, _HIT} <= set(columns):
        return {}
    logs = table[_LOG] if _LOG in columns else [None] * len(table)
    return {
        str(index): {"correct": float(hit), **({"log": str(log)} if log is not None else {})}
        for index, hit, log in zip(table[_INDEX], table[_HIT], logs, strict=True)
    }
