"""An LLM judge: what it is asked about which answers, and what its replies do to the verdicts of the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

from flagmm.errors import ConfigError
from flagmm.evaluator.judge_prompts import (
    EQUIVALENCE,
    EXTRACTION,
    equivalence_prompt,
    extraction_prompt,
    read_choice,
    read_value,
    read_verdict,
    value_prompt,
)
from flagmm.evaluator.verdict import JUDGE_FAILED, Judged, Verdict
from flagmm.metrics.option_labels import option_labels
from flagmm.types import Annotation, ModelOutput

Strategy = Literal["llm", "llm_recall", "extract", "rule"]
Scorer = Callable[[str, Annotation], Verdict]

STRATEGIES = get_args(Strategy)


class Asker(Protocol):
    """A judge model as the evaluator sees it: many prompts in, a reply or None (it failed) for each out."""

    name: str

    def ask(self, prompts: Sequence[str]) -> list[ModelOutput | None]:
        """The replies in the order of the prompts.

        Raises:
            EndpointError: the judge cannot be reached at all.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """How an evaluator uses its judge.

    `llm` judges every answer; `llm_recall` only what the rules call wrong, and a right one stays right; `extract` reads
    an answer out of what no rule could read; `rule` asks nothing.
    """

    strategy: Strategy = "llm"
    prompt: str | None = None
    """A prompt of one's own, with {question}, {reference} and {answer}; for `extract`, which takes it for choices only,
    with {options} instead of {reference}."""


@dataclass(frozen=True, kw_only=True)
class JudgeReport:
    """What was asked of the judge, and what it cost; `tokens` are apart from those of the model under test."""

    judge: str
    strategy: str
    asked: int
    failed: int
    failed_ids: list[str]
    tokens: int


@dataclass(frozen=True)
class _Place:
    """Where a verdict stands: the question's number and the reply's."""

    item: int
    reply: int


def parse_settings(values: Mapping[str, Any], *, where: str) -> tuple[JudgeSettings, dict[str, Any]]:
    """The judge's settings, and the rest: a model file's keys.

    Raises:
        ConfigError: an unknown strategy.
    """
    rest = dict(values)
    strategy = rest.pop("strategy", "llm")
    if strategy not in STRATEGIES:
        raise ConfigError(f"{where}: strategy: expected one of {', '.join(STRATEGIES)}, found {strategy!r}")
    return JudgeSettings(strategy=strategy, prompt=rest.pop("prompt", None)), rest


class Judge:
    """Puts a judge's word in the place of, or beside, the verdicts of the rules."""

    def __init__(self, asker: Asker, settings: JudgeSettings) -> None:
        self._asker = asker
        self._settings = settings

    def review(self, items: Sequence[Judged], score: Scorer | None = None) -> tuple[list[Judged], JudgeReport]:
        """The items with the judge's verdicts in them.

        Args:
            score: scores what `extract` reads where there are no options; without it those questions are not asked.

        Raises:
            EndpointError: the judge cannot be reached; nothing has been written yet.
        """
        places = [place for place in _places(items) if self._is_asked(items[place.item], place, score)]
        replies = self._asker.ask([self._prompt(items[place.item], place) for place in places])
        changed = [list(item.verdicts) for item in items]
        failed_ids = []
        for place, reply in zip(places, replies, strict=True):
            verdict = self._verdict(items[place.item], place, reply, score)
            changed[place.item][place.reply] = verdict
            if verdict.rule == JUDGE_FAILED:
                failed_ids.append(items[place.item].answer.question_id)
        report = JudgeReport(
            judge=self._asker.name,
            strategy=self._settings.strategy,
            asked=len(places),
            failed=len(failed_ids),
            failed_ids=failed_ids,
            tokens=sum(_tokens(reply) for reply in replies),
        )
        return [replace(item, verdicts=tuple(new)) for item, new in zip(items, changed, strict=True)], report

    def _is_asked(self, item: Judged, place: _Place, score: Scorer | None) -> bool:
        verdict = item.verdicts[place.reply]
        if verdict is None:
            return False
        if self._settings.strategy == "extract":
            return verdict.extracted is None and (score is not None or bool(_options(item.answer.annotation)))
        if self._settings.strategy == "llm_recall":
            return verdict.correct is None or verdict.correct < 1
        return self._settings.strategy == "llm"

    def _prompt(self, item: Judged, place: _Place) -> str:
        annotation, text = item.answer.annotation, item.answer.replies[place.reply].text
        question = str(annotation.get("question", ""))
        options = _options(annotation)
        if self._settings.strategy == "extract":
            if not options:
                return value_prompt(question, text)
            return extraction_prompt(question, options, text, template=self._settings.prompt or EXTRACTION)
        listed = options if annotation.get("options") else {}  # other choices stand in the question
        shown = "\n".join([question, *(f"{label}. {option}" for label, option in listed.items())])
        reference = _reference(annotation, options)
        return equivalence_prompt(shown, reference, text, template=self._settings.prompt or EQUIVALENCE)

    def _verdict(self, item: Judged, place: _Place, reply: ModelOutput | None, score: Scorer | None) -> Verdict:
        before = item.verdicts[place.reply]
        assert before is not None
        if reply is None:
            return replace(before, correct=None, rule=JUDGE_FAILED)
        if self._settings.strategy == "extract":
            return _extracted(item, before, reply.text, score)
        said = read_verdict(reply.text)
        if said is None:
            return replace(before, correct=None, rule=JUDGE_FAILED)
        correct = float(said == "correct")
        if self._settings.strategy == "llm_recall":
            correct = max(correct, before.correct or 0.0)
        return replace(before, correct=correct, rule="judge")


def _extracted(item: Judged, before: Verdict, reply: str, score: Scorer | None) -> Verdict:
    options = _options(item.answer.annotation)
    is_said, label = read_choice(reply, list(options)) if options else read_value(reply)
    if not is_said:
        return replace(before, correct=None, rule=JUDGE_FAILED)
    if label is not None and score is not None:
        return replace(score(label, item.answer.annotation), rule="judge_extraction")
    gold = str(item.answer.annotation.get("answer", "")).strip().strip("()[]. ").upper()
    return replace(before, correct=float(label == gold), extracted=label, rule="judge_extraction")


def _places(items: Sequence[Judged]) -> list[_Place]:
    return [_Place(number, reply) for number, item in enumerate(items) for reply in range(len(item.verdicts))]


def _options(annotation: Mapping[str, Any]) -> dict[str, str]:
    """The options by label: those that the prompt lists, or the `choices` that stand in the question's text."""
    options = [str(option) for option in annotation.get("options") or annotation.get("choices") or ()]
    return dict(zip(option_labels(len(options)), options, strict=True))


def _reference(annotation: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """The reference answer, with the option's text where it is a letter."""
    answer = annotation.get("answer")
    if isinstance(answer, list | tuple):
        return " or ".join(str(item) for item in answer)
    text = str(answer)
    return f"{text}. {options[text]}" if text in options else text


def _tokens(reply: ModelOutput | None) -> int:
    usage = reply.usage if reply is not None else None
    return (usage.total_tokens or 0) if usage is not None else 0
