"""What repeated questions tell beyond the mean: how far runs lie apart, pass@k, and the vote of the majority."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean
from typing import Any, NamedTuple

from flagmm.evaluator.aggregate import Rounded, exact, mean_share, percent, rounded, verdict_tally
from flagmm.evaluator.answers import Answer
from flagmm.evaluator.judged_questions import JudgedQuestions
from flagmm.evaluator.metric import Metric, headline_of
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged, Verdict
from flagmm.lazy_sequence import LazySequence
from flagmm.metrics.statistics import majority_vote, pass_at_k, standard_deviation

_DIGITS = 6


class _Headline(NamedTuple):
    metric: Metric
    is_mean: bool

    def score(self, items: Sequence[Judged]) -> float | None:
        """Its value: of a mean the unrounded share, of another what the metric gives."""
        if self.is_mean:
            return mean_share(items)
        summary = self.metric.summarize(items)
        value = summary.get(headline_of(self.metric, summary) or "")
        return value if isinstance(value, int | float) else None

    def shown(self, value: float, *, digits: int = _DIGITS) -> float:
        """A value as results show it; of what is no mean, with so many decimals as the metric gives it."""
        return percent(value) if self.is_mean else rounded(value, digits)


class _Vote(NamedTuple):
    verdict: Verdict | None
    """On the answer of the majority."""
    is_tied: bool


class _OneOfEach(LazySequence[Answer]):
    """One reply to each of some questions, as if they had been asked once."""

    def __init__(self, items: Sequence[Judged]) -> None:
        self._items = items
        self._questions = array("q")
        self._replies = array("q")

    def append(self, question: int, reply: int) -> None:
        """Add a reply by the place of the question and its own place among the replies to that."""
        self._questions.append(question)
        self._replies.append(reply)

    def __len__(self) -> int:
        return len(self._questions)

    def at(self, number: int) -> Answer:
        answer = self._items[self._questions[number]].answer
        return answer.with_replies(answer.replies[self._replies[number]])


class _Run:
    """Questions with one verdict each."""

    def __init__(self, items: Sequence[Judged]) -> None:
        self._answers = _OneOfEach(items)
        self.items = JudgedQuestions(self._answers)

    def append(self, place: int, item: Judged, reply: int, verdict: Verdict | None) -> None:
        """Add the question at a place, with the verdict on its reply at another."""
        self._answers.append(place, reply)
        self.items.extend([item.with_verdicts((verdict,))])


def repeats(metric: Metric, items: Sequence[Judged], *, is_mean: bool) -> dict[str, Any]:
    """The block `repeats` of `_result.json`; {} where nothing was asked more than once.

    What is no answer is a wrong one in all of it; what the judge failed on is left out, as in the accuracy.

    Args:
        is_mean: whether the headline is the mean of the questions' scores in percent.
    """
    headline = _Headline(metric, is_mean)
    if not verdict_tally(items).is_repeated:
        return {}
    runs = _runs(items)
    found = [score for score in (headline.score(run) for run in runs) if score is not None]
    digits = max((score.digits for score in found if isinstance(score, Rounded)), default=_DIGITS)
    scores = [exact(score) for score in found]
    deviation = standard_deviation(scores)
    block: dict[str, Any] = {
        "n": len(runs),
        "scores": [headline.shown(score, digits=digits) for score in scores],
        "mean": headline.shown(fmean(scores), digits=digits) if scores else None,
        "std": None if deviation is None else headline.shown(deviation, digits=digits),
    }
    if metric.mean_name is not None:  # else no answer has a mark of its own
        votes, ties = _votes(items)
        voted = headline.score(votes)
        block |= {
            "pass_at_k": _pass_at_k(items, len(runs)),
            "majority_vote": None if voted is None else headline.shown(exact(voted), digits=digits),
            "majority_ties": ties,
        }
    return {"repeats": block}


def _runs(items: Sequence[Judged]) -> list[JudgedQuestions]:
    """The questions of each repetition, as if they had been asked once."""
    runs: dict[int, _Run] = defaultdict(lambda: _Run(items))
    for place, item in enumerate(items):
        for number, (reply, verdict) in enumerate(zip(item.answer.replies, item.verdicts, strict=True)):
            runs[reply.inference].append(place, item, number, verdict)
    return [runs[number].items for number in sorted(runs)]


def _votes(items: Sequence[Judged]) -> tuple[JudgedQuestions, int]:
    """The questions that count as if the majority's answer were the only one, and how many had no majority."""
    run, ties = _Run(items), 0
    for place, item in enumerate(items):
        if item.counts:
            vote = _vote(item)
            run.append(place, item, 0, vote.verdict)
            ties += vote.is_tied
    return run.items, ties


def _scored(item: Judged) -> list[Verdict | None]:
    """The verdicts that count; None for what is no answer."""
    return [verdict for verdict in item.verdicts if verdict is None or verdict.rule != JUDGE_FAILED]


def _pass_at_k(items: Sequence[Judged], most: int) -> dict[str, float | None]:
    """The mean over the questions with at least k scored replies, in percent; an answer passes with a full mark."""
    outcomes: Counter[tuple[int, int]] = Counter()
    for item in items:
        if item.scorable:
            scored = _scored(item)
            outcomes[len(scored), sum(verdict is not None and verdict.correct == 1 for verdict in scored)] += 1
    return {str(k): _mean_pass(outcomes, k) for k in _steps(most)}


def _steps(most: int) -> Iterator[int]:
    """1, 2, 4, … and the number of repeats itself."""
    k = 1
    while k < most:
        yield k
        k *= 2
    yield most


def _mean_pass(outcomes: Counter[tuple[int, int]], k: int) -> float | None:
    chances = [(pass_at_k(n, c, k), questions) for (n, c), questions in outcomes.items()]
    known = [(chance, questions) for chance, questions in chances if chance is not None]
    if not known:
        return None
    return percent(fsum(chance * questions for chance, questions in known) / sum(questions for _, questions in known))


def _vote(item: Judged) -> _Vote:
    """The answer read most often, with the mean of its marks; no answer where two are, or none was read."""
    read = [verdict for verdict in _scored(item) if verdict is not None and verdict.extracted is not None]
    winner = majority_vote(verdict.extracted for verdict in read)
    alike = [verdict for verdict in read if winner is not None and verdict.extracted == winner]
    verdict = None
    if alike:
        verdict = replace(alike[0], correct=fmean(each.correct or 0.0 for each in alike))
    return _Vote(verdict, is_tied=bool(read) and winner is None)
