"""How an evaluator uses its judge, what it needs of one, and what it reports of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

from flagmm.errors import ConfigError, ModelError
from flagmm.evaluator.judge_prompts import Purpose, own_template
from flagmm.evaluator.judge_verdicts import NUMBERS, Grade, Meanings, meanings_in
from flagmm.types import ModelOutput, Usage

Strategy = Literal["auto", "llm", "llm_recall", "extract", "rule"]
Method = Literal["compare", "extract_compare", "simpleqa"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def about_call(*, verdict: Any = None, words: str | None, attempts: int, error: str | None) -> dict[str, Any]:
    """One call of a judge as `_evaluated.json` shows it.

    Args:
        verdict: what was read in its words; None where nothing could be.
        words: its whole reply; None where there is none.
        attempts: calls that the reply or the failure took.
        error: why there is no verdict; None where there is one.
    """
    return {"verdict": verdict, "words": words, "attempts": attempts, "error": error}


class JudgeCall(NamedTuple):
    """One call of scoring code."""

    question_id: str | None
    """Of the question that it was about, where that is known."""
    about: dict[str, Any]
    """As `about_call` gives it."""


class LentJudge(Protocol):
    """A judge in the hands of a task's own scoring code; what it can be asked is the code's business."""

    asked: int
    failed: int
    usages: list[Usage | None]
    calls: list[JudgeCall]
    asked_about: Callable[[], str | None]
    """Gives the id of the question that the code is at, where it does not say so itself."""


Accepts = Callable[[ModelOutput], bool]
"""Whether a reply can be read; one that cannot is not kept, and is asked for again the next time."""


class Asker(Protocol):
    """A judge model as the evaluator sees it: many prompts in, a reply or an error for each out."""

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """What decides its replies, as results show it."""
        ...

    def ask(self, prompts: Mapping[str, Accepts]) -> Mapping[str, ModelOutput | ModelError]:
        """What came of each prompt.

        Raises:
            JudgeError: the judge cannot be used at all.
        """
        ...

    def lend(self) -> AbstractContextManager[LentJudge]:
        """The judge for scoring code; leaving raises `JudgeError` where it could not be used at all."""
        ...


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """How an evaluator uses its judge."""

    strategy: Strategy = "llm"
    """`llm` judges every answer; `llm_recall` only what the rules call wrong, and a right one stays right; `extract`
    reads an answer out of what no rule could read; `auto` does that for choices and yes-no questions, and judges all
    other answers; `rule` asks nothing."""
    method: Method = "compare"
    """How an answer is judged: as a whole, or what it comes to, or by the three grades of SimpleQA."""
    prompt: str | None = None
    """A finished template of a person's own, for the comparison or grading; with `extract`, for the reading."""
    meanings: Meanings = field(default_factory=lambda: NUMBERS)
    """What letters and numbers stand for in a verdict."""


@dataclass(frozen=True, kw_only=True)
class JudgeReport:
    """What was asked of the judge, and what it cost; tokens are apart from those of the model under test."""

    judge: str
    settings: dict[str, Any]
    strategy: str
    prompt: str | None
    """The template where it is a person's own."""
    prompt_hash: str | None
    """Tells apart the templates of two results, also built-in ones; None where the task's own code asked."""
    asked: int
    """Answers it was asked about; calls, of scoring code."""
    failed: int
    """Of these, how many have no verdict, and so are left out of the score."""
    failed_ids: list[str]
    errors: dict[str, int]
    """Why they have none: the most frequent causes, and how often each."""
    tokens: int
    prompt_tokens: int
    completion_tokens: int


def parse_settings(
    values: Mapping[str, Any], *, where: str, method: Method | None = None
) -> tuple[JudgeSettings, dict[str, Any]]:
    """The judge's settings, and the rest: a model file's keys.

    Args:
        method: the evaluator's own way to judge, which leaves no choice of a strategy.

    Raises:
        ConfigError: an unknown strategy, one that does not go with the evaluator, a prompt that shows no answer, or
            labels that mean no verdict.
    """
    rest = dict(values)
    meanings = _meanings(rest.pop("labels", None), rest, where)
    strategy: Strategy = rest.pop("strategy", None) or "llm"
    prompt = rest.pop("prompt", None)
    if strategy not in STRATEGIES:
        raise ConfigError(f"{where}: strategy: expected one of {', '.join(STRATEGIES)}, found {strategy!r}")
    if method is not None:
        if strategy not in ("auto", "llm", "rule"):
            raise ConfigError(f"{where}: strategy: {strategy!r} does not go with eval_method={method!r}; leave it out")
        strategy = "rule" if strategy == "rule" else "llm"
    if prompt is not None:
        purpose: Purpose = "reading" if strategy == "extract" else "comparison"
        prompt = own_template(prompt, "grading" if method == "simpleqa" else purpose, where=where)
    return JudgeSettings(strategy=strategy, method=method or "compare", prompt=prompt, meanings=meanings), rest


def _meanings(labels: Any, values: Mapping[str, Any], where: str) -> Meanings:
    """What the prompts say that letters and numbers mean; `labels` goes before that."""
    prompts = [text for text in (values.get("prompt"), values.get("system_prompt")) if isinstance(text, str)]
    grades = get_args(Grade)
    is_sound = isinstance(labels, Mapping) and all(type(key) is str and labels[key] in grades for key in labels)
    if labels is not None and not is_sound:
        raise ConfigError(f"{where}: labels: expected a dict of texts with {', '.join(grades)}, found {labels!r:.80}")
    return {**meanings_in(*prompts), **{key.strip().upper(): grade for key, grade in (labels or {}).items()}}
