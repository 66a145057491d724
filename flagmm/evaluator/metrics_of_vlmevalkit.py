"""VLMEvalKit's scores of choices, yes-no questions and free answers, with the rows of its tables of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, get_args

from flagmm.errors import ConfigError
from flagmm.evaluator.aggregate import accuracy, percent
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.metrics_of_yes_no import Reading, YesNo
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.evaluator.vlmevalkit_choice import infer_choice
from flagmm.extraction import strip_thinking
from flagmm.metrics.inclusion import includes
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.text_match import text_equal
from flagmm.metrics.vlmevalkit_infer import REFUSED
from flagmm.metrics.vlmevalkit_report import rating, report_acc
from flagmm.registry import METRICS
from flagmm.types import ROW_ERROR, Annotation

Match = Literal["exact", "inclusion"]
Row = dict[str, Any]

_COLUMNS = ("category", "l2-category", "split")
_ROLL = 1_000_000


@METRICS.register_module(["vlmevalkit_mcq", "vlmevalkit_choice"])
class VlmEvalKitChoice(Metric):
    """VLMEvalKit's accuracy of choices under exact matching; what only its judge could read is no answer.

    The annotations have `options` (with their `option_labels`, where those are not A, B, …) and, where they apply,
    `category`, `l2-category` and `split`; `report` has the rows of VLMEvalKit's table, as fractions.

    Args:
        circular: a question is right only if all its copies with rolled options are. Copies share the annotation's
            `g_index`, or have the question's number plus a multiple of 1,000,000 as `index`; only the questions
            themselves are counted.
        rule: "careful" replaces what VLMEvalKit reads by a careful reading.
    """

    name = "accuracy"

    def __init__(self, *, circular: bool = False, rule: Rule = "careful") -> None:
        self.circular = circular
        self._rule: Rule = rule

    @property
    def mean_name(self) -> str | None:
        return None if self.circular else self.name

    def can_score(self, annotation: Annotation) -> bool:
        return ROW_ERROR in annotation or (has_answer(annotation) and _gold(annotation) in _labels(annotation))

    def score(self, text: str, annotation: Annotation) -> Verdict:
        gold = _gold(annotation)
        choices = dict(zip(_labels(annotation), map(str, annotation.get("options") or ()), strict=False))
        answer = strip_thinking(text)
        careful, reference = infer_choice(answer, choices), infer_choice(answer, choices, compat="vlmevalkit")
        label = careful if self._rule == "careful" else reference
        return verdict_by(
            self._rule,
            reference=float(reference == gold),
            careful=float(careful == gold),
            extracted=label,
            read_by="no_answer" if label is None else "refusal" if label == REFUSED else "can_infer",
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        rows = [_row(item) for item in items if item.counts]
        counted = _whole_groups(rows) if self.circular else rows
        summary: Summary = {self.name: _mean_percent(counted)}
        if self.circular:
            first = [row for row in rows if row["index"] == row["g_index"]]
            summary |= {"n": len(counted), "vanilla_accuracy": _mean_percent(first)}
        return summary | {"report": {"kind": "mcq", "rows": report_acc(counted) if counted else []}}


def _gold(annotation: Annotation) -> str:
    return str(annotation["answer"]).strip().upper()


def _labels(annotation: Annotation) -> list[str]:
    options = annotation.get("options")
    return list(annotation.get("option_labels") or (option_labels(len(options)) if options else "ABCD"))


def _row(item: Judged) -> Row:
    annotation = item.answer.annotation
    index = _plain(annotation.get("index", item.answer.question_id))
    columns = {key: annotation.get(key) or None for key in _COLUMNS}
    return {**columns, "hit": item.score, "index": index, "g_index": _group(annotation.get("g_index"), index)}


def _group(g_index: Any, index: str) -> str:
    if g_index not in (None, ""):
        return _plain(g_index)
    return str(int(index) % _ROLL) if index.isdecimal() and index.isascii() else index


def _plain(index: Any) -> str:
    """An index as text; a program may have made 7 into 7.0."""
    return str(index).strip().removesuffix(".0")


def _whole_groups(rows: Sequence[Row]) -> list[Row]:
    """The questions without their copies, each as right as the worst of them."""
    worst: dict[str, float] = {}
    for row in rows:
        worst[row["g_index"]] = min(row["hit"], worst.get(row["g_index"], 1.0))
    return [{**row, "hit": worst[row["index"]]} for row in rows if row["index"] == row["g_index"]]


def _mean_percent(rows: Iterable[Row]) -> float | None:
    hits = [row["hit"] for row in rows]
    return percent(fmean(hits)) if hits else None


@METRICS.register_module("vlmevalkit_yes_no")
class VlmEvalKitYesNo(YesNo):
    """As `yes_no`; `report` has the row of VLMEvalKit's table, in percent."""

    def __init__(self, *, reading: Reading = "careful") -> None:
        super().__init__(reading=reading)

    def can_score(self, annotation: Annotation) -> bool:
        return ROW_ERROR in annotation or super().can_score(annotation)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        readable = [item for item in items if ROW_ERROR not in item.answer.annotation]
        numbers = super().summarize(readable) | {"accuracy": accuracy(items)}
        return numbers | _rating("yes-no", items)


@METRICS.register_module("vlmevalkit_vqa")
class VlmEvalKitVqa(Metric):
    """Free answers by whole equality with one of the accepted ones; `report` is a row in percent.

    VLMEvalKit has no scorer for custom tables; its `report` has the shape of its other VQA benchmarks.

    Args:
        match: "inclusion" is content with an accepted answer standing anywhere in the reply, as whole words.
        rule: "careful" folds width, outer punctuation and the spelling of numbers; "reference" only case and outer
            white space, and takes parts of words.
    """

    name = "accuracy"
    normaliser = "text_match"
    mean_name = "accuracy"

    def __init__(self, *, match: str = "exact", rule: Rule = "careful") -> None:
        if match not in get_args(Match):
            raise ConfigError(
                f"metric vlmevalkit_vqa: match: expected one of {', '.join(get_args(Match))}, found {match!r}"
            )
        self._match = match
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        return has_answer(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        answer, golds = strip_thinking(text).strip(), references(annotation)
        careful: Callable[[str, list[str]], bool] = includes if self._match == "inclusion" else text_equal
        low, plain = answer.lower(), [gold.strip().lower() for gold in golds]
        official = any(gold in low for gold in plain) if self._match == "inclusion" else low in plain
        return verdict_by(
            self._rule,
            reference=float(official),
            careful=float(careful(answer, golds)),
            extracted=answer,
            read_by=self._match,
        )

    def summarize(self, items: Sequence[Judged]) -> Summary:
        return {self.name: accuracy(items), **_rating("vqa", items)}


def _rating(kind: str, items: Sequence[Judged]) -> Summary:
    rows = [_row(item) for item in items if item.counts]
    return {"report": {"kind": kind, "rows": [rating(rows)] if rows else []}}


@METRICS.register_module("vlmevalkit")
class VlmEvalKit(Metric):
    """VLMEvalKit's score for each type of question: `vlmevalkit_mcq`, `vlmevalkit_yes_no` and `vlmevalkit_vqa`.

    Args:
        circular: of the first.
        match: of the last.
        rule: of all; "reference" reads as VLMEvalKit does.
    """

    def __init__(self, *, circular: bool = False, match: str = "exact", rule: Rule = "careful") -> None:
        self._choice = VlmEvalKitChoice(circular=circular, rule=rule)
        self._yes_no = VlmEvalKitYesNo(reading="careful" if rule == "careful" else "vlmevalkit")
        self._free = VlmEvalKitVqa(match=match, rule=rule)

    @property
    def mean_name(self) -> str | None:
        return self._choice.mean_name

    def use_circular(self, circular: bool) -> None:
        """Score in groups, or not; known only when the data are."""
        self._choice.circular = circular
        self.built_as = self.built_as._replace(settings={**self.built_as.settings, "circular": circular})

    def can_score(self, annotation: Annotation) -> bool:
        return self._metric_of(annotation).can_score(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        return self._metric_of(annotation).score(text, annotation)

    def summarize(self, items: Sequence[Judged]) -> Summary:
        kinds = {self._metric_of(item.answer.annotation) for item in items if ROW_ERROR not in item.answer.annotation}
        metric = next((known for known in (self._choice, self._yes_no) if known in kinds), self._free)
        if metric is self._yes_no and len(kinds) > 1:
            metric = self._free
        return metric.summarize(items)

    def _metric_of(self, annotation: Mapping[str, Any]) -> Metric:
        known: dict[Any, Metric] = {"multiple-choice": self._choice, "yes-no": self._yes_no}
        return known.get(annotation.get("question_type"), self._free)
