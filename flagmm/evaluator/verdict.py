"""What became of one reply, and of one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

from flagmm.evaluator.answers import Answer

Rule = Literal["reference", "careful"]
"""How a reply is read and compared: as the benchmark's own code does, or with care."""

NO_REFERENCE = "no_reference"
UNKNOWN_TYPE = "unknown_type"
JUDGE_FAILED = "judge_failed"
FOR_THE_JUDGE = "for_the_judge"
RULE_FAILED = "rule_failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What became of one reply."""

    correct: float | None
    """From 0 to 1; None where nothing can be said: no reference answer, or a type without a rule."""
    extracted: Any
    """The answer that was read; None where no rule could read one."""
    rule: str
    """The rule that read it, or why there is no verdict."""
    careful: float | None = None
    """What a careful reading says where a benchmark's own rule scored; None where both agree, or it was not asked."""
    reference: float | None = None
    """What a benchmark's own rule says where a careful reading scored; None as above."""
    scores: Mapping[str, float] | None = None
    """The values by name, of a metric that gives several."""
    judge: Mapping[str, Any] | None = None
    """What a judge was asked came to, where one was asked; see `judge_cases.about_call`."""
    error: str | None = None
    """What the rule raised, where it failed on the answer."""


def verdict_by(
    rule: Rule,
    *,
    reference: float,
    careful: float,
    extracted: Any,
    read_by: str,
    scores: Mapping[str, float] | None = None,
) -> Verdict:
    """The verdict by one of two rules; where the other one disagrees, it holds that one's score, too."""
    differ = reference != careful
    return Verdict(
        correct=reference if rule == "reference" else careful,
        extracted=extracted,
        rule=read_by,
        careful=careful if differ and rule == "reference" else None,
        reference=reference if differ and rule == "careful" else None,
        scores=scores,
    )


Verdicts = tuple[Verdict | None, ...]
"""Those on the replies to one question; a reply that is no answer has none."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A question with the verdict on each reply."""

    answer: Answer
    verdicts: Verdicts
    scorable: bool
    """Whether a reply can be scored at all: there is a reference, and a rule for the type."""

    def with_verdicts(self, verdicts: Verdicts) -> Judged:
        """The same question with other verdicts."""
        return Judged(answer=self.answer, verdicts=verdicts, scorable=self.scorable)

    @property
    def score(self) -> float:
        """Mean over the replies, from 0 to 1; what is no answer scores 0."""
        if len(self.verdicts) == 1:
            only = self.verdicts[0]
            return 0.0 if only is None or only.rule == JUDGE_FAILED else float(only.correct or 0.0)
        scores = [
            verdict.correct or 0.0 if verdict else 0.0
            for verdict in self.verdicts
            if verdict is None or verdict.rule != JUDGE_FAILED
        ]
        return fsum(scores) / len(scores) if scores else 0.0

    @property
    def counts(self) -> bool:
        """Whether the question is in the denominator: it can be scored, and the judge did not fail on all of it."""
        if not self.scorable:
            return False
        for verdict in self.verdicts:
            if verdict is None or verdict.rule != JUDGE_FAILED:
                return True
        return not self.verdicts
