"""One answer before the judge: whether it is asked about, with which prompt, and what becomes of the reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from flagmm.evaluator.judge_prompts import (
    COMPARISON,
    GRADING,
    READING,
    READING_OF_SEVERAL,
    comparison_prompt,
    reading_prompt,
    value_prompt,
)
from flagmm.evaluator.judge_replies import Reading, read_choice, read_choices, read_value
from flagmm.evaluator.judge_settings import JudgeSettings
from flagmm.evaluator.judge_verdicts import Grade, read_grade, read_verdict
from flagmm.evaluator.metric import references, verdict_of
from flagmm.evaluator.rules import score_reply
from flagmm.evaluator.verdict import FOR_THE_JUDGE, JUDGE_FAILED, RULE_FAILED, Judged, Verdict
from flagmm.metrics.option_labels import option_labels
from flagmm.metrics.text_match import text_equal
from flagmm.types import Annotation

Scorer = Callable[[str, Annotation], Verdict]

_READ = "judge_extraction"


@dataclass(frozen=True)
class Case:
    """One answer.

    Args:
        score: scores what was read where there are no options; without it such an answer is not read.
    """

    item: int
    """The question's number, and `reply` that of the reply to it."""
    reply: int
    annotation: Annotation
    text: str
    before: Verdict
    settings: JudgeSettings
    score: Scorer | None

    @property
    def options(self) -> dict[str, str]:
        """The options by label: those that the prompt lists, or the `choices` that stand in the question's text."""
        options = [str(option) for option in self.annotation.get("options") or self.annotation.get("choices") or ()]
        labels = self.annotation.get("option_labels") or option_labels(len(options))
        return dict(zip(labels, options, strict=True))

    @property
    def question(self) -> str:
        return str(self.annotation.get("question", ""))

    @property
    def takes_several(self) -> bool:
        return self.annotation.get("question_type") == "multiple-response"

    @property
    def is_closed(self) -> bool:
        """Whether the answer is one of a few labels, which a rule reads exactly where it reads anything."""
        return bool(self.options) or self.annotation.get("question_type") in _CLOSED_TYPES

    @property
    def is_read_first(self) -> bool:
        """Whether the judge is asked what the answer comes to, not yet whether that is right."""
        if self.settings.strategy == "auto":
            return self.before.rule != FOR_THE_JUDGE and self.is_closed
        return self.settings.strategy == "extract" or self.settings.method == "extract_compare"

    @property
    def is_graded(self) -> bool:
        """Whether there is a third verdict, "not attempted"."""
        return self.settings.method == "simpleqa"

    @property
    def is_asked(self) -> bool:
        strategy, before = self.settings.strategy, self.before
        if strategy == "llm_recall":
            return before.correct is None or before.correct < 1
        if strategy == "extract" or (strategy == "auto" and self.is_read_first):
            is_readable = self.score is not None or bool(self.options)
            return before.rule != FOR_THE_JUDGE and before.extracted is None and is_readable
        return strategy in ("auto", "llm")


_CLOSED_TYPES = ("multiple-choice", "multiple-response", "yes-no")


def cases_of(items: Sequence[Judged], settings: JudgeSettings, score: Scorer | None) -> Iterator[Case]:
    """The answers that the judge is asked about."""
    for number, item in enumerate(items):
        for place, (verdict, reply) in enumerate(zip(item.verdicts, item.answer.replies, strict=True)):
            if verdict is None:
                continue
            case = Case(number, place, item.answer.annotation, reply.answer, verdict, settings, score)
            if case.is_asked:
                yield case


def prompt_to_read(case: Case) -> str:
    """Ask what the answer comes to."""
    if not case.options:
        return value_prompt(case.question, case.text)
    template = READING_OF_SEVERAL if case.takes_several else READING
    if case.settings.strategy == "extract" and case.settings.prompt:
        template = case.settings.prompt
    return reading_prompt(case.question, case.options, case.text, template=template)


def read(case: Case, reply: str | None) -> Verdict:
    """The verdict that follows from what the judge read; `FOR_THE_JUDGE` where that is still to be weighed."""
    found = said_in_reading(case, reply) if reply is not None else None
    if found is None or not found.is_said:
        return _failed(case.before)
    if found.value is None:
        return Verdict(correct=0.0, extracted=None, rule=_READ)
    text = ", ".join(found.value) if isinstance(found.value, list) else found.value
    if case.score is not None and case.settings.method == "compare":
        scored = verdict_of(case.score, text, case.annotation)
    elif case.options:
        kind = "multiple-response" if case.takes_several else "multiple-choice"
        of_options = {**case.annotation, "options": list(case.options.values()), "question_type": kind}
        scored = verdict_of(score_reply, text, of_options)
    else:
        return _compared(text, case.annotation)
    return scored if scored.rule == RULE_FAILED else replace(scored, extracted=found.value, rule=_READ)


def said_in_reading(case: Case, reply: str) -> Reading:
    """What the judge says that the answer comes to."""
    if not case.options:
        return read_value(reply)
    return read_choices(reply, case.options) if case.takes_several else read_choice(reply, case.options)


def _compared(value: str, annotation: Annotation) -> Verdict:
    """What was read, right where it is the reference word for word, and else left to be weighed."""
    if text_equal(value, references(annotation)):
        return Verdict(correct=1.0, extracted=value, rule=_READ)
    return Verdict(correct=None, extracted=value, rule=FOR_THE_JUDGE)


def prompt_to_weigh(case: Case, verdict: Verdict) -> str:
    """Ask how the answer, or what was read in it, stands to the reference."""
    listed = case.options if case.annotation.get("options") else {}  # other choices stand in the question
    question = "\n".join([case.question, *(f"{label}. {option}" for label, option in listed.items())])
    answer = str(verdict.extracted) if case.is_read_first else case.text
    built_in = GRADING if case.is_graded else COMPARISON
    return comparison_prompt(question, _reference(case), answer, template=case.settings.prompt or built_in)


def _reference(case: Case) -> str:
    """The accepted answers, with an option's text where one is a letter."""
    options = case.options
    texts = [f"{text}. {options[text]}" if text in options else text for text in references(case.annotation)]
    return (" and " if case.takes_several else " or ").join(texts)


def weigh(case: Case, verdict: Verdict, reply: str | None) -> Verdict:
    """The verdict that the judge gives."""
    said = None if reply is None else said_in_weighing(case, reply)
    if said is None:
        return _failed(verdict)
    correct = float(said == "correct")
    if case.settings.strategy == "llm_recall":
        correct = max(correct, case.before.correct or 0.0)
    extracted = case.text if verdict.extracted is None else verdict.extracted
    return Verdict(correct=correct, extracted=extracted, rule=f"judge_{said}" if case.is_graded else "judge")


def said_in_weighing(case: Case, reply: str) -> Grade | None:
    """What the judge says of the answer; None where that is no verdict."""
    return (read_grade if case.is_graded else read_verdict)(reply, case.settings.meanings)


def _failed(verdict: Verdict) -> Verdict:
    return replace(verdict, correct=None, careful=None, rule=JUDGE_FAILED)
