"""How an evaluator uses its judge, what it needs of one, and what it reports of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from flagmm.errors import ConfigError
from flagmm.evaluator.judge_prompts import Purpose, own_template
from flagmm.types import ModelOutput, Usage

Strategy = Literal["auto", "llm", "llm_recall", "extract", "rule"]
Method = Literal["compare", "extract_compare", "simpleqa"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


class LentJudge(Protocol):
    """A judge in the hands of a task's own scoring code; what it can be asked is the code's business."""

    asked: int
    failed: int
    usages: list[Usage | None]


class Asker(Protocol):
    """A judge model as the evaluator sees it: many prompts in, a reply or None (it failed) for each out."""

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """What decides its replies, as results show it."""
        ...

    def ask(self, prompts: Sequence[str]) -> list[ModelOutput | None]:
        """The replies in the order of the prompts.

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
        ConfigError: an unknown strategy, one that does not go with the evaluator, or a prompt that shows no answer.
    """
    rest = dict(values)
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
    return JudgeSettings(strategy=strategy, method=method or "compare", prompt=prompt), rest
