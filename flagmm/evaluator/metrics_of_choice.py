"""Metrics of choices and MMMU's mixed questions."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from flagmm.evaluator.aggregate import accuracy, groups, percent
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged, Rule, Verdict, verdict_by
from flagmm.extraction import extract_choice, extract_choices, strip_thinking
from flagmm.metrics.flagevalmm_text import response_letters
from flagmm.metrics.general_vmcq import answer_labels
from flagmm.metrics.mmmu import is_choice_correct, is_open_correct, open_correct, parse_choice, parse_open
from flagmm.metrics.mmmu_pro import parse_pro_choice
from flagmm.metrics.option_labels import labels_in, option_labels
from flagmm.registry import METRICS
from flagmm.types import Annotation

_CHOICE_TYPES = ("multiple-choice", "vision")


@METRICS.register_module("mmmu")
class Mmmu(Metric):
    """MMMU: choices read with care, open answers as the official script does; `official_accuracy` stands beside.

    A choice that the official script draws at random is no answer there.

    Args:
        rule: reads choices and open answers alike: "reference" by the official script, "careful" with care.
    """

    name = "accuracy"
    version = 2
    choice_rule = "mmmu_choice"

    def __init__(self, *, rule: Rule | None = None) -> None:
        self._rule: Rule = rule or "careful"
        self._open_rule: Rule = rule or "reference"

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
        careful = extract_choice(text, options, labels=None if options else _labels_to_read(annotation))
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

    def summarize(self, items: Sequence[Judged]) -> Summary:
        beside = {"official_accuracy": _official_accuracy(items)} if self._rule == "careful" else {}
        return {self.name: accuracy(items), **beside}

    def _open(self, text: str, golds: list[str]) -> Verdict:
        parsed = parse_open(text)
        return verdict_by(
            self._open_rule,
            reference=float(is_open_correct(golds, parsed)),
            careful=float(open_correct(text, golds, rule="careful")),
            extracted=[str(item) for item in parsed],
            read_by="mmmu_open",
        )


def _labels(annotation: Annotation) -> list[str]:
    """The labels that an answer can have; any letter where the options stand in the picture only."""
    options = annotation.get("options")
    return option_labels(len(options) if options else 26)


def _labels_to_read(annotation: Annotation) -> list[str]:
    """Those to look for in a reply to a question without options: the ones in its text, or else any letter."""
    return labels_in(str(annotation.get("question", ""))) or option_labels(26)


def _official_accuracy(items: Sequence[Judged]) -> float | None:
    """Percent of the questions that count, as the official script reads the replies."""
    scores = []
    for item in items:
        verdicts = [each for each in item.verdicts if each is None or each.rule != JUDGE_FAILED]
        if item.counts and verdicts:
            scores.append(fmean(0.0 if each is None else _official_score(each) for each in verdicts))
    return percent(fmean(scores)) if scores else None


def _official_score(verdict: Verdict) -> float:
    return (verdict.correct or 0.0) if verdict.reference is None else verdict.reference


@METRICS.register_module("mmmu_pro")
class MmmuPro(Mmmu):
    """MMMU-Pro's official parsing: the letter after the last "Answer:", else any that is mentioned."""

    choice_rule = "mmmu_pro_choice"

    def __init__(self, *, rule: Rule = "reference") -> None:
        super().__init__(rule=rule)

    def parse_choice(self, text: str, options: dict[str, str], labels: list[str]) -> str | None:
        return parse_pro_choice(text, {label: options.get(label, "") for label in labels})


@METRICS.register_module("mmmu_subjects")
class MmmuSubjects(Mmmu):
    """As `mmmu`, with FlagEvalMM's `subject_score` and, where items have a `topic_difficulty`, `difficulty_score`."""

    def summarize(self, items: Sequence[Judged]) -> Summary:
        summary = super().summarize(items)
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
