"""Metrics of choices and MMMU's mixed questions."""

from __future__ import annotations

from collections.abc import Sequence

from flagmm.evaluator.aggregate import accuracy, groups
from flagmm.evaluator.metric import Metric, Summary, has_answer, references
from flagmm.evaluator.verdict import Judged, Rule, Verdict, verdict_by
from flagmm.extraction import extract_choice, extract_choices, strip_thinking
from flagmm.metrics.flagevalmm_text import response_letters
from flagmm.metrics.general_vmcq import answer_labels
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
