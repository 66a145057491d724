"""An LLM judge: puts its word in the place of, or beside, the verdicts of the rules."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from flagmm.chat_tokens import strip_chat_tokens
from flagmm.evaluator.judge_cases import Case, Scorer, cases_of, prompt_to_read, prompt_to_weigh, read, weigh
from flagmm.evaluator.judge_prompts import prompts_hash
from flagmm.evaluator.judge_replies import repeats_instruction
from flagmm.evaluator.judge_settings import Asker, JudgeReport, JudgeSettings, LentJudge
from flagmm.evaluator.judged_questions import with_verdicts
from flagmm.evaluator.verdict import FOR_THE_JUDGE, JUDGE_FAILED, Judged, Verdict, Verdicts
from flagmm.types import ModelOutput, Usage

logger = logging.getLogger(__name__)

OWN_CODE = "own_code"
_SHOWN_IDS = 5


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
        return self._report(OWN_CODE, asked=lent.asked, failed=lent.failed, failed_ids=[], usages=lent.usages)

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
        failed_ids = []
        for case, verdict in zip(cases, verdicts, strict=True):
            before = changed[case.item] if case.item in changed else items[case.item].verdicts
            changed[case.item] = (*before[: case.reply], verdict, *before[case.reply + 1 :])
            if verdict.rule == JUDGE_FAILED:
                failed_ids.append(items[case.item].answer.question_id)
        _warn_of_failures(failed_ids)
        strategy = self._settings.strategy if self._settings.method == "compare" else self._settings.method
        report = self._report(
            strategy,
            asked=len(cases),
            failed=len(failed_ids),
            failed_ids=list(dict.fromkeys(failed_ids)),
            usages=usages,
        )
        return with_verdicts(items, changed), report

    def _judge(self, cases: Sequence[Case]) -> tuple[list[Verdict], list[Usage | None]]:
        """A verdict for each case: first what is to be read is read, then what is to be weighed is weighed."""
        verdicts = [case.before for case in cases]
        to_read = [number for number, case in enumerate(cases) if case.is_read_first]
        prompts = [prompt_to_read(cases[number]) for number in to_read]
        readings = self._ask(prompts)
        for number, text in zip(to_read, _texts(readings, prompts), strict=True):
            verdicts[number] = read(cases[number], text)
        to_weigh = [
            number
            for number, case in enumerate(cases)
            if not case.is_read_first or verdicts[number].rule == FOR_THE_JUDGE
        ]
        prompts = [prompt_to_weigh(cases[number], verdicts[number]) for number in to_weigh]
        weighings = self._ask(prompts)
        for number, text in zip(to_weigh, _texts(weighings, prompts), strict=True):
            verdicts[number] = weigh(cases[number], verdicts[number], text)
        return verdicts, _usages([*readings, *weighings])

    def _ask(self, prompts: Sequence[str]) -> list[ModelOutput | None]:
        return self._asker.ask(prompts) if prompts else []

    def _report(
        self, strategy: str, *, asked: int, failed: int, failed_ids: list[str], usages: Sequence[Usage | None]
    ) -> JudgeReport:
        return JudgeReport(
            judge=self._asker.name,
            settings=self._asker.settings,
            strategy=strategy,
            prompt=None if strategy == OWN_CODE else self._settings.prompt,
            prompt_hash=None if strategy == OWN_CODE else prompts_hash(self._settings.prompt),
            asked=asked,
            failed=failed,
            failed_ids=failed_ids,
            tokens=_sum(usage.total_tokens for usage in usages if usage),
            prompt_tokens=_sum(usage.prompt_tokens for usage in usages if usage),
            completion_tokens=_sum(usage.completion_tokens for usage in usages if usage),
        )


def _warn_of_failures(ids: Sequence[str]) -> None:
    if ids:
        shown = ", ".join(ids[:_SHOWN_IDS]) + (", …" if len(ids) > _SHOWN_IDS else "")
        logger.warning("%d answers have no verdict of the judge and are left out of the score: %s", len(ids), shown)


def _texts(replies: Sequence[ModelOutput | None], prompts: Sequence[str]) -> list[str | None]:
    """What the judge said; None where its call failed, or where it only repeats what it was told to say."""
    return [
        None if reply is None or repeats_instruction(reply.text, prompt) else strip_chat_tokens(reply.text)
        for reply, prompt in zip(replies, prompts, strict=True)
    ]


def _usages(replies: Iterable[ModelOutput | None]) -> list[Usage | None]:
    """What the replies cost; one that stands for several equal prompts was paid for once."""
    return list({id(reply): reply.usage for reply in replies if reply is not None}.values())


def _sum(counts: Iterable[int | None]) -> int:
    return sum(count or 0 for count in counts)
