"""What a score is worth: how many items are behind it, and where it would be if the missing ones were answered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from flagmm.evaluator.result_keys import CUT_WHILE_THINKING, UNKNOWN_FINISH_REASONS
from flagmm.evaluator.verdict import RULE_FAILED
from flagmm.report.results import HEADLINE, headline, interval_of
from flagmm.types import Counts, TaskResult

_WARN_SHARE = 0.01
_SHOWN_REASONS = 5
_KINDS = ("failed", "empty", "refused", "truncated", "unparsed", "judge_failed")


@dataclass(frozen=True, kw_only=True)
class Validity:
    """One line under a score."""

    text: str
    is_doubtful: bool
    """Whether some kind of loss passes 1 % of the answers asked for."""


def assess(result: TaskResult) -> Validity:
    """The validity line of a result.

    >>> assess(TaskResult(task="t", metrics={"accuracy": 50.0}, counts=Counts(asked=4, answered=4))).text
    'all 4 answered'
    """
    if result.missing:
        return Validity(text=result.missing, is_doubtful=True)
    counts = result.counts
    losses = [(kind, getattr(counts, kind)) for kind in _KINDS if getattr(counts, kind)]
    if not counts.asked:
        return Validity(text="nothing was asked", is_doubtful=True)
    texts = [f"{number} {kind.replace('_', '-')} ({number / counts.asked:.1%})" for kind, number in losses]
    texts += _about_endings(result)
    if counts.unscored:
        texts.append(f"{counts.unscored} not scored")
    name = _mean_metric(result)
    span = _range(result, name)
    if span:
        shown = "score" if name == headline(result) else name
        texts.append(f"{shown} between {span[0]:.2f} and {span[1]:.2f} if the missing were all wrong or all right")
    unknown = sum(_unknown_endings(result).values())
    doubtful = any(number / counts.asked > _WARN_SHARE for number in (unknown, *(number for _, number in losses)))
    return Validity(text="; ".join(texts) or f"all {counts.asked} answered", is_doubtful=doubtful)


def _about_endings(result: TaskResult) -> list[str]:
    """What to say of replies that ended otherwise than the counts tell."""
    texts, cut = [], result.details.get(CUT_WHILE_THINKING)
    if cut:
        texts.append(f"{cut} cut at the token limit while thinking: raise max_tokens")
    unknown = _unknown_endings(result)
    if unknown:
        told = [f"{reason!r} (×{times})" for reason, times in list(unknown.items())[:_SHOWN_REASONS]]
        more = ["…"] if len(unknown) > _SHOWN_REASONS else []
        texts.append(f"{sum(unknown.values())} with an unknown finish_reason: {', '.join([*told, *more])}")
    return texts


def _unknown_endings(result: TaskResult) -> dict[str, int]:
    unknown = result.details.get(UNKNOWN_FINISH_REASONS)
    return unknown if isinstance(unknown, dict) else {}


def _mean_metric(result: TaskResult) -> str:
    """The metric that is a mean over questions: the headline where it has an interval, else the accuracy."""
    name = headline(result)
    return name if interval_of(result, name) else HEADLINE


def _range(result: TaskResult, metric: str) -> tuple[float, float] | None:
    """That metric if every answer that is missing were wrong, and if it were right; None where none is missing."""
    counts, accuracy = result.counts, result.metrics.get(metric)
    missing = counts.asked - counts.answered
    scored = counts.asked - counts.unscored - counts.judge_failed
    if scored <= 0 or not isinstance(accuracy, int | float) or not 0 <= accuracy <= 100:
        return None
    if not missing and not counts.judge_failed:
        return None
    if result.over == "asked":  # the missing count as wrong in it; what the judge failed on is left out of it
        total = scored + counts.judge_failed
        low = accuracy * scored / total
        return low, min(100.0, low + 100 * (missing + counts.judge_failed) / total)
    low = accuracy * counts.answered / counts.asked
    return low, low + 100 * missing / counts.asked


def has_losses(counts: Counts, rules: Collection[str] = ()) -> bool:
    """Whether something asked was not answered or not scored, which the exit status tells.

    Args:
        rules: those that read the answers.
    """
    if RULE_FAILED in rules:
        return True
    return bool(counts.failed or counts.empty or counts.refused or counts.judge_failed or counts.unscored)
