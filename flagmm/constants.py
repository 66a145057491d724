"""Names that EvalScope's scripts import: kinds of endpoints and ways to judge, as plain texts."""

from __future__ import annotations

from typing import Literal, get_args


class EvalType:
    """What `eval_type` may say; only an OpenAI-compatible endpoint and the mock model are run here."""

    OPENAI_API = "openai_api"
    MOCK_LLM = "mock_llm"


class JudgeStrategy:
    """Who scores an answer."""

    AUTO = "auto"
    RULE = "rule"
    LLM = "llm"
    LLM_RECALL = "llm_recall"


StrategyName = Literal["auto", "rule", "llm", "llm_recall"]

JUDGE_STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)
