"""What became of one reply, and of one question."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from flagmm.evaluator.answers import Answer

NO_REFERENCE = "no_reference"
UNKNOWN_TYPE = "unknown_type"
JUDGE_FAILED = "judge_failed"
FOR_THE_JUDGE = "for_the_judge"


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A question with the verdict on each reply; a reply that is no answer has none."""

    answer: Answer
    verdicts: tuple[Verdict | None, ...]
    scorable: bool
    """Whether a reply can be scored at all: there is a reference, and a rule for the type."""

    @property
    def score(self) -> float:
        """Mean over the replies, from 0 to 1; what is no answer scores 0."""
        scores = [
            verdict.correct or 0.0 if verdict else 0.0
            for verdict in self.verdicts
            if verdict is None or verdict.rule != JUDGE_FAILED
        ]
        return fmean(scores) if scores else 0.0

    @property
    def counts(self) -> bool:
        """Whether the question is in the denominator: it can be scored, and the judge did not fail on all of it."""
        failed = [verdict is not None and verdict.rule == JUDGE_FAILED for verdict in self.verdicts]
        return self.scorable and not (failed and all(failed))
