"""The table of scores by subset, as EvalScope prints it: a row for each metric and subset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from flagmm.errors import DataError
from flagmm.evaluator.result_keys import COUNTS, INTERVAL, STDERR, is_metric
from flagmm.jsonio import read_json_object
from flagmm.paths import RunPaths
from flagmm.printable import Show, printable
from flagmm.report.results import HEADLINE, interval_of, stderr_of
from flagmm.report.table import draw_table, notes
from flagmm.types import TaskResult

HEADERS = ["Model", "Dataset", "Metric", "Subset", "Num", "Score", "Cat.0"]
OVERALL = "OVERALL"
_ALIGNMENT = ("left", "left", "left", "left", "right", "right", "left")
_CATEGORY = "default"  # subsets are in no categories here
_FRACTION_DIGITS = 4
_GROUP = "subset"
_COUNT = "n"
_BLEU = re.compile(r"bleu-(\d)", re.IGNORECASE)
_ROUGE = re.compile(r"rouge-(1|2|l)-(r|p|f)", re.IGNORECASE)
_SIDES = {"r": "Recall", "p": "Precision", "f": "F1"}


@dataclass(frozen=True, kw_only=True)
class SubsetScore:
    """One number of one subset."""

    dataset: str
    metric: str
    """The metric's name in `_result.json`."""
    subset: str
    num: int
    """Questions that the score is over."""
    score: float | None
    """As `_result.json` has it: BLEU and ROUGE from 0 to 1, all else in percent."""
    counts: Mapping[str, int] | None = None
    """The subset's own, where the result tells them."""
    stderr: float | None = None
    interval: Sequence[float] | None = None

    @property
    def label(self) -> str:
        return metric_label(self.metric)

    @property
    def percent(self) -> Decimal | None:
        """The score in percent, from which EvalScope rounds: what a float has for 100 times the fraction's four digits.

        So 0.1895 is 18.95, but 0.0515 is 5.1499999999999995.
        """
        if self.score is None:
            return None
        fraction = self.score if _is_fraction(self.metric) else round(self.score / 100, _FRACTION_DIGITS)
        return Decimal(str(fraction * 100))


def has_subsets(result: TaskResult) -> bool:
    """Whether the result has scores by subset."""
    return bool(_groups(result))


def metric_label(name: str) -> str:
    """How the table names a metric: its family, an arrow for the good direction, and its variant.

    >>> metric_label("bleu-1"), metric_label("Rouge-L-F"), metric_label("accuracy")
    ('BLEU ↑ · 1', 'ROUGE ↑ · L · F1', 'Accuracy ↑')
    """
    if match := _BLEU.fullmatch(name):
        return f"BLEU ↑ · {match[1]}"
    if match := _ROUGE.fullmatch(name):
        return f"ROUGE ↑ · {match[1].upper()} · {_SIDES[match[2].lower()]}"
    return "Accuracy ↑" if name == HEADLINE else name


def _is_fraction(name: str) -> bool:
    return bool(_BLEU.fullmatch(name) or _ROUGE.fullmatch(name))


def percent_text(percent: Decimal | None) -> str:
    """A percentage with one decimal, half up, without a trailing zero; "-" for none.

    >>> percent_text(Decimal("71.25")), percent_text(Decimal(40)), percent_text(None)
    ('71.3%', '40%', '-')
    """
    if percent is None:
        return "-"
    rounded = percent.quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{rounded:f}".removesuffix(".0") + "%"


def subset_scores(result: TaskResult, order: Sequence[str] = ()) -> list[SubsetScore]:
    """Every metric of every subset, and over all of them where there are several; [] without subsets.

    Args:
        order: subsets that come first, in this order.
    """
    groups = _groups(result)
    if not groups:
        return []
    names = sorted(groups, key=lambda name: (order.index(name) if name in order else len(order), name))
    rows = []
    for metric in _metrics(groups.values()):
        rows += [_score(result, metric, name, groups[name]) for name in names]
        if len(names) > 1:
            whole = {
                metric: _overall(result, metric, groups.values()),
                _COUNT: sum(groups[name][_COUNT] for name in names),
                COUNTS: asdict(result.counts),
                f"{metric}{STDERR}": stderr_of(result, metric),
                f"{metric}{INTERVAL}": interval_of(result, metric),
            }
            rows.append(_score(result, metric, OVERALL, whole))
    return rows


def _overall(result: TaskResult, metric: str, groups: Iterable[Mapping[str, Any]]) -> float | None:
    """The score over all subsets: of EvalScope's metrics the mean of the subsets' rounded scores, as it takes that.

    Each subset weighs as many times as it has questions. The mean of the questions' own scores, in `_result.json`,
    may differ in the last digit. Other numbers, such as F1, are no means, and are the run's own.
    """
    unit = 1 if _is_fraction(metric) else 100
    if unit == 100 and metric != HEADLINE:
        return result.metrics.get(metric)
    known = [
        (round(values[metric] / unit, _FRACTION_DIGITS), values[_COUNT])
        for values in groups
        if values.get(metric) is not None
    ]
    count = sum(number for _, number in known)
    if not count:
        return None
    mean: float = round(sum(score * number for score, number in known) / count, _FRACTION_DIGITS)
    return round(mean * unit, _FRACTION_DIGITS)


def _groups(result: TaskResult) -> Mapping[str, Mapping[str, Any]]:
    by_field = result.details.get("groups")
    groups = by_field.get(_GROUP) if isinstance(by_field, Mapping) else None
    if not isinstance(groups, Mapping):
        return {}
    is_ours = all(  # scoring of a person's own may call something else so
        isinstance(values, Mapping) and isinstance(values.get(_COUNT), int) for values in groups.values()
    )
    return groups if is_ours else {}


def _score(result: TaskResult, metric: str, subset: str, values: Mapping[str, Any]) -> SubsetScore:
    return SubsetScore(
        dataset=result.task,
        metric=metric,
        subset=subset,
        num=values[_COUNT],
        score=values.get(metric),
        counts=values.get(COUNTS),
        stderr=values.get(f"{metric}{STDERR}"),
        interval=values.get(f"{metric}{INTERVAL}"),
    )


def _metrics(groups: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of all numbers in the groups, in the order of the table: plain ones, then BLEU, then ROUGE."""
    names = dict.fromkeys(
        name
        for values in groups
        for name, value in values.items()
        if name != _COUNT and is_metric(name, values) and (value is None or isinstance(value, int | float))
    )
    return sorted(names, key=_place)


def _place(name: str) -> tuple[int, str, int]:
    if match := _BLEU.fullmatch(name):
        return 1, match[1], 0
    if match := _ROUGE.fullmatch(name):
        return 2, match[1].lower(), "rpf".index(match[2].lower())
    return 0, "", 0


def general_rows(results: Sequence[TaskResult], run: RunPaths, show: Show = printable) -> list[list[str]]:
    """The cells of the table; results without subsets are left out.

    Args:
        show: writes names, which come from data, for where the table goes.
    """
    rows = []
    for result in results:
        model, order = _about(result, run)
        rows += [
            [
                *map(show, (model, result.task, row.label, row.subset)),
                str(row.num),
                percent_text(row.percent),
                _CATEGORY,
            ]
            for row in subset_scores(result, order)
        ]
    return rows


def subset_order(result: TaskResult, run: RunPaths) -> list[str]:
    """The subsets in the order in which the task file or the command names them."""
    return _about(result, run)[1]


def _about(result: TaskResult, run: RunPaths) -> tuple[str, list[str]]:
    """The model's name and the order of the subsets, as `<task>_config.json` has them."""
    try:
        values = read_json_object(run.saved_task(result.task).config, "model", "task")
    except DataError:  # answers of another tool have no such file
        return "-", []
    model, task = values.get("model") or {}, values.get("task") or {}
    dataset = task.get("dataset")
    listed = (dataset.get("subset_list") if isinstance(dataset, Mapping) else None) or []
    name = model.get("chat_name") or model.get("model_name") or "-"
    return str(name), [listed] if isinstance(listed, str) else [str(each) for each in listed] if isinstance(
        listed, list
    ) else []


def draw_report(results: Sequence[TaskResult], run: RunPaths) -> str:
    """The tables of a run with their notes: one of the results with subsets, one of the others."""
    from tabulate import tabulate

    with_subsets = [result for result in results if has_subsets(result)]
    others = [result for result in results if not has_subsets(result)]
    texts = []
    if with_subsets:
        rows = general_rows(with_subsets, run)
        table = tabulate(rows, headers=HEADERS, tablefmt="grid", disable_numparse=True, colalign=_ALIGNMENT)
        texts.append("\n".join([table, "", *notes(with_subsets)]))
    if others or not results:
        texts.append(draw_table(others))
    return "\n\n".join(texts)
