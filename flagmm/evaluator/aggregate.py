"""Numbers out of verdicts: accuracy, groups, counts, tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from flagmm.evaluator.answers import Answer
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged
from flagmm.types import Counts


def percent(share: float) -> float:
    """A share from 0 to 1 as the percentage that tables show."""
    return round(share * 100, 2)


def mean_share(items: Iterable[Judged]) -> float | None:
    """The mean score over all questions asked that can be scored, from 0 to 1; None where there is none."""
    scores = [item.score for item in items if item.counts]
    return fmean(scores) if scores else None


def accuracy(items: Iterable[Judged]) -> float | None:
    """The same in percent."""
    share = mean_share(items)
    return None if share is None else percent(share)


def accuracy_answered(items: Iterable[Judged]) -> float | None:
    """Percent over the replies that are answers; None where there is none."""
    scores = [
        verdict.correct or 0.0
        for item in items
        if item.scorable
        for verdict in item.verdicts
        if verdict and verdict.rule != JUDGE_FAILED
    ]
    return percent(fmean(scores)) if scores else None


def groups(items: Sequence[Judged], key: str) -> dict[str, list[Judged]]:
    """The questions by the value of an annotation's field, values in order; a list counts under each of its values.

    Questions without the field are in no group.
    """
    found: dict[str, list[Judged]] = defaultdict(list)
    for item in items:
        value = item.answer.annotation.get(key)
        values = value if isinstance(value, list) else [] if value is None else [value]
        for each in dict.fromkeys(map(str, values)):
            found[each].append(item)
    return dict(sorted(found.items()))


def without(items: Sequence[Judged], keys: Sequence[str]) -> dict[str, int]:
    """How many questions lack each of the fields, or have an empty list there; fields that none lacks are left out."""
    counts = {key: sum(item.answer.annotation.get(key) in (None, []) for item in items) for key in keys}
    return {key: count for key, count in counts.items() if count}


def macro(groups: Mapping[str, Mapping[str, Mapping[str, Any]]], headline: str) -> dict[str, float | None]:
    """The mean of the groups' headline scores for each key, every group weighing the same; None where none has one."""
    means: dict[str, float | None] = {}
    for key, values in groups.items():
        scores = [summary.get(headline) for summary in values.values()]
        known = [score for score in scores if isinstance(score, int | float)]
        means[key] = round(fmean(known), 2) if known else None
    return means


def disagreements(items: Sequence[Judged]) -> dict[str, int]:
    """On how many answers a benchmark's own rule and a careful reading differ; {} where only one rule was asked."""
    verdicts = [verdict for item in items for verdict in item.verdicts if verdict]
    differing = sum(verdict.careful is not None or verdict.reference is not None for verdict in verdicts)
    return {"rule_disagreements": differing} if differing else {}


def count(answers: Sequence[Answer], judged: Sequence[Judged], questions: int) -> Counts:
    """Replies of each kind. With repeats every repetition counts, so `total` is questions times repeats.

    Args:
        judged: verdicts, where there are any; user code leaves none.
    """
    replies = [reply for answer in answers for reply in answer.replies]
    statuses = Counter(reply.status for reply in replies)
    repeats = max((len(answer.replies) for answer in answers), default=1)
    verdicts = [verdict for item in judged for verdict in item.verdicts if verdict]
    return Counts(
        total=max(questions * repeats, len(replies)),
        asked=len(replies),
        answered=statuses["ok"],
        empty=statuses["empty"],
        refused=statuses["refused"],
        failed=statuses["failed"],
        truncated=sum(reply.status == "ok" and reply.finish_reason == "length" for reply in replies),
        unparsed=sum(verdict.correct is not None and verdict.extracted is None for verdict in verdicts),
        judge_failed=sum(verdict.rule == JUDGE_FAILED for verdict in verdicts),
        unscored=sum(len(item.verdicts) for item in judged if not item.scorable),
    )


def rule_counts(judged: Sequence[Judged]) -> dict[str, int]:
    """How many answers each rule read."""
    rules = Counter(verdict.rule for item in judged for verdict in item.verdicts if verdict)
    return dict(sorted(rules.items()))


def reject_info(counts: Counts) -> dict[str, Any]:
    """Replies that are no answer, under the names FlagEvalMM uses; {} where there are none."""
    missing = counts.asked - counts.answered
    if not missing:
        return {}
    rate = percent(missing / counts.asked)
    return {"reject_info": {"reject_rate": rate, "reject_number": missing, "total_question": counts.asked}}


def token_means(answers: Sequence[Answer]) -> dict[str, float]:
    """Mean token counts over the replies that tell theirs."""
    names = {
        "average_tokens": "total_tokens",
        "average_prompt_tokens": "prompt_tokens",
        "average_completion_tokens": "completion_tokens",
    }
    usages = [reply.usage for answer in answers for reply in answer.replies if isinstance(reply.usage, dict)]
    means = {name: _mean(usages, key) for name, key in names.items()}
    return {name: mean for name, mean in means.items() if mean is not None}


def _mean(usages: Sequence[Mapping[str, Any]], key: str) -> float | None:
    values = [value for value in (usage.get(key) for usage in usages) if isinstance(value, (int, float))]
    return round(fmean(values), 2) if values else None


def as_dict(counts: Counts) -> dict[str, int]:
    return asdict(counts)
