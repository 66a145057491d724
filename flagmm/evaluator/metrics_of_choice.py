"""Metrics of choices and MMMU's mixed questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from flagmm.evaluator.aggregate import accuracy, groups, percent
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.evaluator.vlmevalkit_choice import infer_choice
from flagmm.extraction import extract_choice, extract_choices, strip_thinking
from flagmm.metrics.flagevalmm_text import response_letters
from flagmm.metrics.general_vmcq import answer_labels
from flagmm.metrics.mmmu import is_choice_correct, is_open_correct, open_correct, parse_choice, parse_open
from flagmm.metrics.mmmu_pro import parse_pro_choice
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.vlmevalkit_infer import REFUSED
from flagmm.metrics.vlmevalkit_report import report_acc
from flagmm.registry import METRICS
from flagmm.types import Annotation

_CHOICE_TYPES = ("multiple-choice", "vision")


@METRICS.register_module("mmmu")
class Mmmu(Metric):
    """MMMU's official parsing of choices and open answers.

    A choice that the official script draws at random is no answer here.

    Args:
        rule: "careful" reads choices and open answers with care instead.
    """

    name = "accuracy"
    choice_rule = "mmmu_choice"

    def __init__(self, *, rule: Rule = "reference") -> None:
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        if not has_answer(annotation) or annotation.get("question_type") not in _CHOICE_TYPES:
            return has_answer(annotation)
        return any(gold.upper() in _labels(annotation) for gold in references(annotation))

    def score(self, text: str, annotation: Annotation) -> Verdict:
        golds = references(annotation)
        if annotation.get("question_type") not in _CHOICE_TYPES:
            return self._open(text, golds)
        options = [str(option) for option in annotation.get("options") or ()]
        labels = _labels(annotation)
        read = self.parse_choice(text, dict(zip(labels, options, strict=False)), labels)
        official = float(is_choice_correct([gold.upper() for gold in golds], read))
        careful = extract_choice(text, options)
        is_right = float(careful.value is not None and careful.value in [gold.upper() for gold in golds])
        is_careful = self._rule == "careful"
        return verdict_by(
            self._rule,
            reference=official,
            careful=is_right,
            extracted=careful.value if is_careful else read,
            read_by=careful.rule if is_careful else self.choice_rule if read else "no_answer",
        )

    def parse_choice(self, text: str, options: dict[str, str], labels: list[str]) -> str | None:
        """The label that the official script reads."""
        return parse_choice(text, options, labels)

    def _open(self, text: str, golds: list[str]) -> Verdict:
        parsed = parse_open(text)
        return verdict_by(
            self._rule,
            reference=float(is_open_correct(golds, parsed)),
            careful=float(open_correct(text, golds, rule="careful")),
            extracted=[str(item) for item in parsed],
            read_by="mmmu_open",
        )


def _labels(annotation: Annotation) -> list[str]:
    options = annotation.get("options")
    return option_labels(len(options)) if options else list("ABCD")


@METRICS.register_module("mmmu_pro")
class MmmuPro(Mmmu):
    """MMMU-Pro's official parsing: the letter after the last "Answer:", else any that is mentioned."""

    choice_rule = "mmmu_pro_choice"

    def parse_choice(self, text: str, options: dict[str, str], labels: list[str]) -> str | None:
        return parse_pro_choice(text, {label: options.get(label, "") for label in labels})


@METRICS.register_module("mmmu_subjects")
class MmmuSubjects(Mmmu):
    """As `mmmu`, with FlagEvalMM's `subject_score` and, where items have a `topic_difficulty`, `difficulty_score`."""

    def summarize(self, items: Sequence[Judged]) -> Summary:
        summary: Summary = {"accuracy": accuracy(items)}
        names = {"subject": "subject_score", "topic_difficulty": "difficulty_score"}
        for key, name in names.items():
            if any(key in item.answer.annotation for item in items):
                summary[name] = {value: accuracy(members) for value, members in groups(items, key).items()}
        return summary


@METRICS.register_module("multiple_response")
class MultipleResponse(Metric):
    """All right letters and no other; `answer` is a text such as "ACD", or a list of letters.

    Args:
        rule: "reference" takes the letters A to I of what FlagEvalMM leaves of a reply.
    """

    name = "accuracy"

    def __init__(self, *, rule: Rule = "careful") -> None:
        self._rule: Rule = rule

    def can_score(self, annotation: Annotation) -> bool:
        return has_answer(annotation) and bool(_right_letters(annotation))

    def score(self, text: str, annotation: Annotation) -> Verdict:
        right = _right_letters(annotation)
        options = [str(option) for option in annotation.get("options") or ()]
        read = extract_choices(text, options, labels=None if options else option_labels(26))
        letters = response_letters(strip_thinking(text))
        is_careful = self._rule == "careful"
        return verdict_by(
            self._rule,
            reference=float(set(letters) == right),
            careful=float(set(read.value or ()) == right),
            extracted=(list(read.value) if read.value else None) if is_careful else letters or None,
            read_by=read.rule if is_careful else "flagevalmm_letters",
        )


def _right_letters(annotation: Annotation) -> set[str]:
    options = annotation.get("options")
    return answer_labels(references(annotation), option_labels(len(options) if options else 26))


@METRICS.register_module("vlmevalkit_choice")
class VlmEvalKitChoice(Metric):
    """VLMEvalKit's accuracy of choices under exact matching; what only its judge could read is no answer.

    The annotations have `options` and, where they apply, `category`, `l2-category` and `split`; `report` has the means
    of each, in percent.

    Args:
        circular: a question is right only if all its copies with rolled options are; copies share the annotation's
            `g_index`, and only the questions themselves (`index` = `g_index`) are counted.
        rule: "careful" replaces what VLMEvalKit reads by a careful reading.
    """

    name = "accuracy"

    def __init__(self, *, circular: bool = False, rule: Rule = "careful") -> None:
        self._circular = circular
        self._rule: Rule = rule

    @property
    def mean_name(self) -> str | None:
        return None if self._circular else self.name

    def can_score(self, annotation: Annotation) -> bool:
        return has_answer(annotation) and str(annotation["answer"]).strip().upper() in _labels(annotation)

    def score(self, text: str, annotation: Annotation) -> Verdict:
        gold = str(annotation["answer"]).strip().upper()
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
        if self._circular:
            rows = _whole_groups(rows)
        records = [_in_percent(record) for record in report_acc(rows)] if rows else []
        shares = [row["hit"] for row in rows]
        return {self.name: percent(fmean(shares)) if shares else None, "report": records}


def _row(item: Judged) -> dict[str, Any]:
    annotation = item.answer.annotation
    index = annotation.get("index", item.answer.question_id)
    columns = {key: annotation.get(key) for key in ("category", "l2-category", "split")}
    return {**columns, "hit": item.score, "index": str(index), "g_index": str(annotation.get("g_index", index))}


def _whole_groups(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The questions without their copies, each as right as the worst of them."""
    worst: dict[str, float] = {}
    for row in rows:
        worst[row["g_index"]] = min(row["hit"], worst.get(row["g_index"], 1.0))
    return [{**row, "hit": worst[row["index"]]} for row in rows if row["index"] == row["g_index"]]


def _in_percent(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: percent(value) if isinstance(value, float | int) else value for key, value in record.items()}
