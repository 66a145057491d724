"""An LLM judge: puts its word in the place of, or beside, the verdicts of the rules."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from flagmm.chat_tokens import strip_chat_tokens
from flagmm.errors import ModelError
from flagmm.evaluator.judge_cases import (
    Case,
    Scorer,
    cases_of,
    prompt_to_read,
    prompt_to_weigh,
    read,
    said_in_reading,
    said_in_weighing,
    weigh,
)
from flagmm.evaluator.judge_prompts import prompts_hash
from flagmm.evaluator.judge_replies import repeats_instruction
from flagmm.evaluator.judge_settings import Asker, JudgeReport, JudgeSettings, LentJudge, about_call
from flagmm.evaluator.judged_questions import with_verdicts
from flagmm.evaluator.last_statement import lines_of
from flagmm.evaluator.verdict import FOR_THE_JUDGE, JUDGE_FAILED, Judged, Verdict, Verdicts
from flagmm.types import ModelOutput, Usage

logger = logging.getLogger(__name__)

OWN_CODE = "own_code"
_SHOWN_IDS = 5
_MOST_CAUSES = 10
_UNREADABLE = "the reply's last statement is nothing that was asked for"


class Judge:
    """A judge model with the settings of one evaluator."""

    def __init__(self, asker: Asker, settings: JudgeSettings) -> None:
        self._asker = asker
        self._settings = settings

    @property
    def scores_alone(self) -> bool:
        """Whether it judges answers for which there is no rule."""
        return self._settings.strategy in ("auto", "llm", "llm_recall")

    def lend(self) -> AbstractContextManager[LentJudge]:
        """The judge model itself, for scoring code that asks on its own."""
        return self._asker.lend()

    def report_of_code(self, lent: LentJudge) -> JudgeReport:
        """What scoring code asked."""
        return report_of_code(lent, name=self._asker.name, settings=self._asker.settings)

    def review(self, items: Sequence[Judged], score: Scorer | None = None) -> tuple[Sequence[Judged], JudgeReport]:
        """The items with the judge's verdicts in them.

        Args:
            score: scores what was read where there are no options; without it those questions are not asked.

        Raises:
            JudgeError: the judge cannot be used; nothing has been written yet.
        """
        cases = list(cases_of(items, self._settings, score))
        if cases:
            logger.info("%s judges %d answers", self._asker.name, len(cases))
        verdicts, usages = self._judge(cases)
        changed: dict[int, Verdicts] = {}
        failed_ids, faults = [], []
        for case, verdict in zip(cases, verdicts, strict=True):
            before = changed[case.item] if case.item in changed else items[case.item].verdicts
            changed[case.item] = (*before[: case.reply], verdict, *before[case.reply + 1 :])
            if verdict.rule == JUDGE_FAILED:
                failed_ids.append(items[case.item].answer.question_id)
                faults.append((verdict.judge or {}).get("error"))
        errors = _causes(faults)
        _warn_of_failures(failed_ids, errors)
        strategy = self._settings.strategy if self._settings.method == "compare" else self._settings.method
        report = JudgeReport(
            judge=self._asker.name,
            settings=self._asker.settings,
            strategy=strategy,
            prompt=self._settings.prompt,
            prompt_hash=prompts_hash(self._settings.prompt),
            asked=len(cases),
            failed=len(failed_ids),
            failed_ids=list(dict.fromkeys(failed_ids)),
            errors=errors,
            **_tokens(usages),
        )
        return with_verdicts(items, changed), report

    def _judge(self, cases: Sequence[Case]) -> tuple[list[Verdict], list[Usage | None]]:
        """A verdict for each case: first what is to be read is read, then what is to be weighed is weighed."""
        verdicts = [case.before for case in cases]
        usages: list[Usage | None] = []
        to_read = [number for number, case in enumerate(cases) if case.is_read_first]
        readings = [_Question(prompt_to_read(case), partial(_reading_of, case)) for case in _at(cases, to_read)]
        for number, heard in zip(to_read, self._ask(readings, usages), strict=True):
            verdicts[number] = replace(read(cases[number], heard.text), judge=heard.about)
        to_weigh = [
            number
            for number, case in enumerate(cases)
            if not case.is_read_first or verdicts[number].rule == FOR_THE_JUDGE
        ]
        weighings = [
            _Question(prompt_to_weigh(cases[number], verdicts[number]), partial(said_in_weighing, cases[number]))
            for number in to_weigh
        ]
        for number, heard in zip(to_weigh, self._ask(weighings, usages), strict=True):
            before = verdicts[number]
            reading = {"reading": before.judge} if before.judge is not None else {}
            verdicts[number] = replace(weigh(cases[number], before, heard.text), judge={**heard.about, **reading})
        return verdicts, usages

    def _ask(self, questions: Sequence[_Question], usages: list[Usage | None]) -> list[_Heard]:
        """What came of each; equal ones are asked once, and paid for once."""
        if not questions:
            return []
        replies = self._asker.ask({question.prompt: question.accepts for question in questions})
        usages += [reply.usage for reply in replies.values() if isinstance(reply, ModelOutput)]
        return [question.heard(replies[question.prompt]) for question in questions]


def report_of_code(lent: LentJudge, *, name: str, settings: dict[str, Any]) -> JudgeReport:
    """What scoring code asked of a model."""
    ids = [call.question_id for call in lent.calls if call.about["error"] is not None and call.question_id]
    return JudgeReport(
        judge=name,
        settings=settings,
        strategy=OWN_CODE,
        prompt=None,
        prompt_hash=None,
        asked=lent.asked,
        failed=lent.failed,
        failed_ids=list(dict.fromkeys(ids)),
        errors=_causes(call.about["error"] for call in lent.calls),
        **_tokens(lent.usages),
    )


def _tokens(usages: Sequence[Usage | None]) -> dict[str, int]:
    return {
        "tokens": _sum(usage.total_tokens for usage in usages if usage),
        "prompt_tokens": _sum(usage.prompt_tokens for usage in usages if usage),
        "completion_tokens": _sum(usage.completion_tokens for usage in usages if usage),
    }


@dataclass(frozen=True)
class _Question:
    """One prompt, and what is to be read in the reply to it."""

    prompt: str
    said_in: Callable[[str], Any]
    """What a reply says; None where that is nothing."""

    def accepts(self, reply: ModelOutput) -> bool:
        return self._fault(reply) is None

    def heard(self, reply: ModelOutput | ModelError) -> _Heard:
        if isinstance(reply, ModelError):
            return _Heard(None, about_call(words=None, attempts=reply.attempts, error=str(reply)))
        fault = self._fault(reply)
        text = strip_chat_tokens(reply.text)
        said = self.said_in(text) if fault is None else None
        about = about_call(verdict=said, words=reply.text, attempts=reply.attempts, error=fault)
        return _Heard(text if fault is None else None, about)

    def _fault(self, reply: ModelOutput) -> str | None:
        """Why a reply is no verdict."""
        if reply.refused:
            return "the reply was refused by a content filter"
        is_cut = reply.finish_reason == "length"
        if is_cut and len(lines_of(reply.text)) != 1:  # one word may be all that the limit is there for
            return "the reply was cut at its token limit; raise the judge's max_tokens"
        if not reply.text.strip():
            return "the reply is empty"
        if repeats_instruction(reply.text, self.prompt):
            return "the reply only repeats what was asked"
        return _UNREADABLE if self.said_in(strip_chat_tokens(reply.text)) is None else None


class _Heard(NamedTuple):
    text: str | None
    """The reply; None where there is none that can be read."""
    about: dict[str, Any]


def _reading_of(case: Case, reply: str) -> Any:
    found = said_in_reading(case, reply)
    return None if not found.is_said else "none" if found.value is None else found.value


def _at(cases: Sequence[Case], numbers: Iterable[int]) -> Iterator[Case]:
    return (cases[number] for number in numbers)


def _warn_of_failures(ids: Sequence[str], errors: Mapping[str, int]) -> None:
    if not ids:
        return
    shown = ", ".join(ids[:_SHOWN_IDS]) + (", …" if len(ids) > _SHOWN_IDS else "")
    cause, times = next(iter(errors.items()))
    logger.warning(
        "%d answers have no verdict of the judge and are left out of the score: %s (%s, ×%d); scoring again asks anew",
        len(ids),
        shown,
        cause,
        times,
    )


def _causes(errors: Iterable[str | None]) -> dict[str, int]:
    """The most frequent ones, with how often each."""
    return dict(Counter(error for error in errors if error is not None).most_common(_MOST_CAUSES))


def _sum(counts: Iterable[int | None]) -> int:
    return sum(count or 0 for count in counts)
