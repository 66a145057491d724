"""Counts that are kept while a run is gone through once, in place of the replies and verdicts themselves."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged, Verdicts
from flagmm.finish_reasons import CUT, ending_of

_MOST_TOKENS = 1e15  # what is more is no number of tokens, nor does every one of them fit
_USUAL = (None, "stop")
_NUMBERS = (int, float)  # as a tuple, which is looked through faster than a union


class ReplyTally:
    """What the replies of a run are like, scored or not."""

    _TOKENS = ("total_tokens", "prompt_tokens", "completion_tokens")

    def __init__(self, answers: Iterable[Answer] = (), *, with_tokens: bool = True) -> None:
        self.questions = 0
        self.most = 0
        """Replies to one question."""
        self.statuses: Counter[str] = Counter()
        self.truncated = 0
        self.cut_while_thinking = 0
        """Those of the truncated that have no text."""
        self.unknown_endings: Counter[str] = Counter()
        """Finish reasons that are not known, of replies that are taken for answers all the same."""
        self._tokens = [(name, array("d")) for name in self._TOKENS] if with_tokens else []
        for answer in answers:
            self.add(answer)

    def add(self, answer: Answer) -> None:
        """Count the replies to one more question."""
        self.questions += 1
        if len(answer.replies) > self.most:
            self.most = len(answer.replies)
        for reply in answer.replies:
            self.statuses[reply.status] += 1
            if reply.finish_reason not in _USUAL:
                self._add_ending(reply)
            usage = reply.usage
            if self._tokens and isinstance(usage, dict):
                for name, counts in self._tokens:
                    tokens = usage.get(name)
                    if isinstance(tokens, _NUMBERS) and 0 <= tokens < _MOST_TOKENS:
                        counts.append(tokens)

    def _add_ending(self, reply: Reply) -> None:
        if reply.status not in ("ok", "empty"):
            return
        if reply.finish_reason == CUT:
            self.truncated += 1
            self.cut_while_thinking += reply.status == "empty"
        elif reply.finish_reason is not None and ending_of(reply.finish_reason) == "unknown":
            self.unknown_endings[reply.finish_reason] += 1

    def mean_tokens(self, name: str) -> float | None:
        """The mean over the replies that tell theirs."""
        counts = dict(self._tokens)[name]
        return round(fmean(counts), 2) if counts else None


def group_names(value: Any) -> list[str]:
    """The groups that a question with this value of a field is in: a list's each, none without a value."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    return list(dict.fromkeys(map(str, values)))


class GroupTallies:
    """What the replies to each group of questions are like, by annotation field and value."""

    def __init__(self, fields: Iterable[str], answers: Iterable[Answer] = ()) -> None:
        self._groups: dict[str, dict[str, ReplyTally]] = {field: {} for field in fields}
        for answer in answers:
            self.add(answer)

    def add(self, answer: Answer) -> None:
        """Count the replies to one more question in each of its groups."""
        for field, groups in self._groups.items():
            for name in group_names(answer.annotation.get(field)):
                if name not in groups:
                    groups[name] = ReplyTally(with_tokens=False)
                groups[name].add(answer)

    def of(self, field: str, name: str) -> ReplyTally:
        """The tally of one group."""
        return self._groups[field][name]


class VerdictTally:
    """What the verdicts of a run are like."""

    def __init__(self, items: Iterable[Judged] = ()) -> None:
        self.rules: Counter[str] = Counter()
        """How many answers each rule read."""
        self.disagreements = 0
        """Answers on which a benchmark's own rule and a careful reading differ."""
        self.unparsed = 0
        self.judge_failed = 0
        self.unscored = 0
        self.is_repeated = False
        """Whether some question has several verdicts."""
        self.answered = array("d")
        """The scores of all replies that are answers to questions that can be scored."""
        for item in items:
            self.add(item.verdicts, scorable=item.scorable)

    def add(self, verdicts: Verdicts, *, scorable: bool, times: int = 1) -> None:
        """Count the verdicts on a question, or on so many that have the same."""
        self.is_repeated = self.is_repeated or len(verdicts) > 1
        if not scorable:
            self.unscored += len(verdicts) * times
        for verdict in verdicts:
            if verdict is None:
                continue
            self.rules[verdict.rule] += times
            if verdict.careful is not None or verdict.reference is not None:
                self.disagreements += times
            if verdict.correct is not None and verdict.extracted is None:
                self.unparsed += times
            if verdict.rule == JUDGE_FAILED:
                self.judge_failed += times
            elif scorable:
                self.answered.extend([verdict.correct or 0.0] * times)
