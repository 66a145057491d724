"""What `run_task` returns: a report for each data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from flagmm.errors import FlagMMError
from flagmm.paths import RunPaths
from flagmm.pipeline import Outcome
from flagmm.report.general_table import OVERALL, SubsetScore, draw_report, subset_order, subset_scores
from flagmm.report.results import headline, metric_rows
from flagmm.report.validity import assess
from flagmm.types import Counts, TaskResult

Scores = dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class SubsetReport:
    """The scores of one subset."""

    num: int
    """Questions that the scores are over."""
    metrics: Scores


@dataclass(frozen=True, kw_only=True)
class Report:
    """The scores of one data set, as its `_result.json` has them: BLEU and ROUGE from 0 to 1, accuracy in percent."""

    dataset: str
    num: int
    """Questions that the scores are over."""
    score: float | None
    """The headline among the metrics; None where nothing could be scored."""
    metrics: Scores
    subsets: dict[str, SubsetReport] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    validity: str = ""
    """How much of what was asked is behind the score."""
    partial: str | None = None

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={_text(value)}" for name, value in self.metrics.items())
        return f"{self.dataset}: score={_text(self.score)}, num={self.num} ({shown}; {self.validity})"


class Reports(dict[str, Report]):
    """Reports by data set.

    Attributes:
        folder: where the results are.
        errors: data sets without a result -> why.
        table: the table of scores, as the command prints it.
    """

    def __init__(
        self, reports: Iterable[Report] = (), *, folder: Path, table: str = "", errors: dict[str, FlagMMError]
    ) -> None:
        super().__init__({report.dataset: report for report in reports})
        self.folder = folder
        self.table = table
        self.errors = errors

    def __str__(self) -> str:
        lines = [str(report) for report in self.values()]
        lines += [f"{name}: no result: {error}" for name, error in self.errors.items()]
        return "\n".join(lines)


def make_reports(outcome: Outcome, run: RunPaths) -> Reports:
    """The reports of a run that has ended."""
    not_reached = {result.task: FlagMMError(str(result.missing)) for result in outcome.missing}
    return Reports(
        (make_report(result, run) for result in outcome.results),
        folder=run.folder,
        table=draw_report(outcome.rows, run) if outcome.rows else "",
        errors={**not_reached, **dict(outcome.errors)},
    )


def make_report(result: TaskResult, run: RunPaths) -> Report:
    """One result as a report."""
    rows = subset_scores(result, subset_order(result, run))
    names = list(dict.fromkeys(row.subset for row in rows))
    whole = {name: value for name, value in metric_rows(result) if name not in names}
    subsets = _subsets(rows)
    counts = result.counts
    return Report(
        dataset=result.task,
        num=sum(report.num for report in subsets.values()) if rows else counts.asked - counts.unscored,
        score=whole.get(headline(result)),
        metrics=whole,
        subsets=subsets,
        counts=counts,
        validity=assess(result).text,
        partial=result.partial,
    )


def _subsets(rows: Iterable[SubsetScore]) -> dict[str, SubsetReport]:
    found: dict[str, SubsetReport] = {}
    for row in rows:
        if row.subset != OVERALL:
            known = found.setdefault(row.subset, SubsetReport(num=row.num, metrics={}))
            known.metrics[row.metric] = row.score
    return found


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
