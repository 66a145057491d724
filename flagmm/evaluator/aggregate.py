"""Numbers out of verdicts: accuracy, groups, counts, tokens."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from flagmm.evaluator.answers import Answer, repeats_wanted, scope_of
from flagmm.evaluator.judged_questions import JudgedQuestions
from flagmm.evaluator.result_keys import CUT_WHILE_THINKING, UNKNOWN_FINISH_REASONS
from flagmm.evaluator.tallies import ReplyTally, VerdictTally, group_names
from flagmm.evaluator.verdict import RULE_FAILED, Judged
from flagmm.types import Counts

PERCENT_DIGITS = 2
"""Decimals of percentages, where nothing else is said."""


class Rounded(float):
    """A number as results show it, which knows what it was before it was rounded, for means of several."""

    exact: float
    digits: int
    """Decimals shown."""


def rounded(value: float, digits: int) -> Rounded:
    """The value with so many decimals."""
    shown = Rounded(round(value, digits))
    shown.exact, shown.digits = float(value), digits
    return shown


def exact(value: float) -> float:
    """The value before it was rounded, where that is known: no mean is to be made of rounded numbers."""
    return value.exact if isinstance(value, Rounded) else value


def percent(share: float, *, digits: int = PERCENT_DIGITS) -> Rounded:
    """A share from 0 to 1 as the percentage that tables show."""
    return rounded(share * 100, digits)


def mean_share(items: Iterable[Judged]) -> float | None:
    """The mean score over all questions asked that can be scored, from 0 to 1; None where there is none."""
    scores = counted_scores(items)
    return fmean(scores) if scores else None


def counted_scores(items: Iterable[Judged]) -> list[float]:
    """The scores of the questions asked that can be scored."""
    if isinstance(items, JudgedQuestions):
        return items.counted_scores()
    return [item.score for item in items if item.counts]


def accuracy(items: Iterable[Judged], *, digits: int = PERCENT_DIGITS) -> float | None:
    """The same in percent."""
    share = mean_share(items)
    return None if share is None else percent(share, digits=digits)


def accuracy_answered(items: Sequence[Judged]) -> float | None:
    """Percent over the replies that are answers; None where there is none."""
    scores = verdict_tally(items).answered
    return percent(fmean(scores)) if scores else None


def verdict_tally(items: Sequence[Judged]) -> VerdictTally:
    """The counts of all verdicts."""
    return items.tally() if isinstance(items, JudgedQuestions) else VerdictTally(items)


def unscorable(items: Sequence[Judged]) -> Iterable[Judged]:
    """The questions whose replies cannot be scored."""
    if isinstance(items, JudgedQuestions):
        return items.unscorable()
    return (item for item in items if not item.scorable)


def rule_failures(items: Sequence[Judged]) -> list[tuple[str, str]]:
    """The answers on which a rule raised: (question id, what it raised)."""
    if not verdict_tally(items).rules[RULE_FAILED]:
        return []
    return [
        (item.answer.question_id, verdict.error or "")
        for item in items
        for verdict in item.verdicts
        if verdict is not None and verdict.rule == RULE_FAILED
    ]


def field_values(items: Sequence[Judged], key: str) -> Iterable[Any]:
    """The value of an annotation's field for each question; None where it has none."""
    if isinstance(items, JudgedQuestions):
        return items.values_of(key)
    return (item.answer.annotation.get(key) for item in items)


def groups(items: Sequence[Judged], key: str) -> dict[str, Sequence[Judged]]:
    """The questions by the value of an annotation's field, values in order; a list counts under each of its values.

    Questions without the field are in no group.
    """
    places: dict[str, array[int]] = defaultdict(lambda: array("q"))
    for place, value in enumerate(field_values(items, key)):
        for each in group_names(value):
            places[each].append(place)
    return {value: _chosen(items, places[value]) for value in sorted(places)}


def _chosen(items: Sequence[Judged], places: Iterable[int]) -> Sequence[Judged]:
    return items.chosen(places) if isinstance(items, JudgedQuestions) else [items[place] for place in places]


def without(items: Sequence[Judged], keys: Sequence[str]) -> dict[str, int]:
    """How many questions lack each of the fields, or have an empty list there; fields that none lacks are left out."""
    counts = {key: sum(value in (None, []) for value in field_values(items, key)) for key in keys}
    return {key: count for key, count in counts.items() if count}


def macro(groups: Mapping[str, Mapping[str, Mapping[str, Any]]], headline: str) -> dict[str, float | None]:
    """The mean of the groups' headline scores for each key, every group weighing the same; None where none has one.

    It is made of the scores before they were rounded.
    """
    means: dict[str, float | None] = {}
    for key, values in groups.items():
        scores = [summary.get(headline) for summary in values.values()]
        known = [exact(score) for score in scores if isinstance(score, int | float)]
        means[key] = rounded(fmean(known), 2) if known else None
    return means


def disagreements(items: Sequence[Judged]) -> dict[str, int]:
    """On how many answers a benchmark's own rule and a careful reading differ; {} where only one rule was asked."""
    differing = verdict_tally(items).disagreements
    return {"rule_disagreements": differing} if differing else {}


def count(answers: Iterable[Answer], judged: Sequence[Judged], questions: int) -> Counts:
    """As `counts_of`, for answers that are not counted yet."""
    return counts_of(ReplyTally(answers), judged, questions)


def counts_of(replies: ReplyTally, judged: Sequence[Judged], questions: int) -> Counts:
    """Replies of each kind. With repeats every repetition counts, so `total` is questions times repeats.

    Args:
        judged: verdicts, where there are any; user code leaves none.
    """
    statuses, asked = replies.statuses, replies.statuses.total()
    verdicts = verdict_tally(judged)
    return Counts(
        total=max(questions * (replies.most if replies.questions else 1), asked),
        asked=asked,
        answered=statuses["ok"],
        empty=statuses["empty"],
        refused=statuses["refused"],
        failed=statuses["failed"],
        truncated=replies.truncated,
        unparsed=verdicts.unparsed,
        judge_failed=verdicts.judge_failed,
        unscored=verdicts.unscored,
    )


def rule_counts(judged: Sequence[Judged]) -> dict[str, int]:
    """How many answers each rule read."""
    return dict(sorted(verdict_tally(judged).rules.items()))


def reject_info(counts: Counts) -> dict[str, Any]:
    """Replies that are no answer, under the names FlagEvalMM uses; {} where there are none."""
    missing = counts.asked - counts.answered
    if not missing:
        return {}
    rate = percent(missing / counts.asked)
    return {"reject_info": {"reject_rate": rate, "reject_number": missing, "total_question": counts.asked}}


def what_is_missing(replies: ReplyTally, questions: int, config: Path) -> str | None:
    """Why this is no full run: questions without an answer, or some without all of their repetitions; else None.

    Args:
        questions: how many the data set has.
        config: `<task>_config.json`, which says how often each was to be asked, and of which part.
    """
    texts = []
    if replies.questions < questions:
        scope = scope_of(config)
        texts.append(f"{replies.questions} of {questions} questions" + (f" ({scope})" if scope else ""))
    wanted = replies.questions * max(replies.most, repeats_wanted(config))
    if replies.statuses.total() < wanted:
        texts.append(f"{replies.statuses.total()} of {wanted} repetitions")
    return ", ".join(texts) or None


def about_endings(replies: ReplyTally) -> dict[str, Any]:
    """What the counts do not tell of how replies ended; {} where there is nothing to tell."""
    about: dict[str, Any] = {}
    if replies.cut_while_thinking:
        about[CUT_WHILE_THINKING] = replies.cut_while_thinking
    if replies.unknown_endings:
        about[UNKNOWN_FINISH_REASONS] = dict(replies.unknown_endings.most_common())
    return about


def token_means(replies: ReplyTally) -> dict[str, float]:
    """Mean token counts over the replies that tell theirs."""
    names = {
        "average_tokens": "total_tokens",
        "average_prompt_tokens": "prompt_tokens",
        "average_completion_tokens": "completion_tokens",
    }
    means = {name: replies.mean_tokens(key) for name, key in names.items()}
    return {name: mean for name, mean in means.items() if mean is not None}


def as_dict(counts: Counts) -> dict[str, int]:
    return asdict(counts)
