"""Metrics of choices and MMMU's mixed questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flagmm.evaluator.aggregate import accuracy, groups
from flagmm.evaluator.metric import Metric, Summary, references
from flagmm.evaluator.rules import TypeRules
from flagmm.evaluator.verdict import Judged, Verdict
from flagmm.extraction import extract_choice
from flagmm.metrics.mmmu import is_choice_correct, is_open_correct, open_correct, parse_choice, parse_open
from flagmm.metrics.mmmu_pro import parse_pro_choice
from flagmm.metrics.option_labels import option_labels
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

    def __init__(self, *, rule: Literal["reference", "careful"] = "reference") -> None:
        self._rule = rule
        self._careful = TypeRules()

    def score(self, text: str, annotation: Annotation) -> Verdict:
        golds = references(annotation)
        if annotation.get("question_type") not in _CHOICE_TYPES:
            return self._open(text, golds)
        options = [str(option) for option in annotation.get("options") or ()]
        labels = option_labels(len(options)) if options else list("ABCD")
        read = self.parse_choice(text, dict(zip(labels, options, strict=False)), labels)
        official = float(is_choice_correct([gold.upper() for gold in golds], read))
        careful = extract_choice(text, options)
        is_right = float(careful.value is not None and careful.value in [gold.upper() for gold in golds])
        if self._rule == "careful":
            return Verdict(correct=is_right, extracted=careful.value, rule=careful.rule)
        differs = is_right if is_right != official else None
        found_by = self.choice_rule if read else "no_answer"
        return Verdict(correct=official, extracted=read, rule=found_by, careful=differs)

    def parse_choice(self, text: str, options: dict[str, str], labels: list[str]) -> str | None:
        """The label that the official script reads."""
        return parse_choice(text, options, labels)

    def _open(self, text: str, golds: list[str]) -> Verdict:
        parsed = parse_open(text)
        official, careful = is_open_correct(golds, parsed), open_correct(text, golds, rule="careful")
        correct = careful if self._rule == "careful" else official
        differs = float(careful) if careful != correct else None
        return Verdict(
            correct=float(correct), extracted=[str(item) for item in parsed], rule="mmmu_open", careful=differs
        )


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
