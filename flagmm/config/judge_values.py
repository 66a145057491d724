"""`judge`, as EvalScope has it -> a judge as `--judge` files describe it: a model file's keys, strategy and prompt."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from flagmm.config.env import judge_defaults
from flagmm.config.generation import generation_values
from flagmm.config.task_config import TaskConfig, check_keys
from flagmm.constants import JUDGE_STRATEGIES, EvalType, JudgeStrategy
from flagmm.errors import ConfigError

logger = logging.getLogger(__name__)

_KEYS = ("strategy", "models", "contract", "repeats", "position_swap", "aggregation", "min_valid_judges")
_MODEL_KEYS = ("model_id", "judge_id", "api_url", "api_key", "eval_type", "model_args", "generation_config")
_CONTRACT_KEYS = ("system_prompt", "prompt_template", "score_mapping", "score_type")
_ONLY = {
    "repeats": (1,),
    "position_swap": ("auto", "off"),
    "aggregation": ("mean", "median", "majority_vote"),  # all the same for one judge
    "min_valid_judges": (1,),
    "score_type": ("pattern",),
    "score_mapping": ({"A": 1.0, "B": 0.0},),
}
"""What the keys of juries and of other verdicts may say: one judge gives one verdict, right or wrong."""


def judge_values(config: TaskConfig, *, source: str) -> dict[str, Any] | None:
    """What `Options.judge` takes; None where no judge was asked for.

    Raises:
        ConfigError: an unknown key, a setting that is not run here, or no judge to ask.
    """
    judge = _given(config, source)
    if judge is None:
        return None
    where = f"{source}: judge"
    check_keys(judge, _KEYS, where=where)
    strategy = judge.get("strategy") or JudgeStrategy.AUTO
    if strategy not in JUDGE_STRATEGIES:
        raise ConfigError(f"{where}: strategy: expected one of {', '.join(JUDGE_STRATEGIES)}, found {strategy!r}")
    _check_only(judge, where)
    model = _model(judge, where)
    contract = _contract(judge, f"{where}: contract")
    if not model and strategy in (JudgeStrategy.AUTO, JudgeStrategy.RULE):
        return None
    if not model:
        raise ConfigError(f"{where}: models is missing: an object with model_id, api_url and api_key")
    if config.eval_batch_size is not None and model:
        model.setdefault("num_workers", config.eval_batch_size)
    return {"strategy": strategy, **model, **contract}


def _given(config: TaskConfig, source: str) -> dict[str, Any] | None:
    old = {"judge_strategy": config.judge_strategy, "judge_model_args": config.judge_model_args}
    old = {key: value for key, value in old.items() if value is not None}
    if not old:
        return None if config.judge is None else dict(config.judge)
    if config.judge is not None:
        raise ConfigError(f"{source}: {' and '.join(old)}: old names of what judge says already; give judge alone")
    logger.warning("%s: %s: old names; judge has strategy, models and contract", source, ", ".join(old))
    model = dict(config.judge_model_args or {})
    if "score_pattern" in model:
        raise ConfigError(f"{source}: judge_model_args: score_pattern is not taken: a judge says correct or incorrect")
    contract = {key: model.pop(key) for key in _CONTRACT_KEYS if key in model}
    return {"strategy": config.judge_strategy, "models": model, "contract": contract}


def _check_only(values: Mapping[str, Any], where: str) -> None:
    for key, taken in _ONLY.items():
        if values.get(key) is not None and values[key] not in taken:
            raise ConfigError(f"{where}: {key}: only {taken[0]!r} is run here (one judge, right or wrong)")


def _model(judge: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The keys of a model file for the judge; {} where neither the configuration nor the environment names one."""
    models = judge.get("models") or {}
    listed = [models] if isinstance(models, Mapping) else models
    if not isinstance(listed, list | tuple) or not all(isinstance(item, Mapping) for item in listed):
        raise ConfigError(f"{where}: models: expected an object, or a list with one")
    if len(listed) > 1:
        raise ConfigError(f"{where}: models: one judge is asked, found {len(listed)}; name one")
    given = dict(listed[0]) if listed else {}
    where = f"{where}: models"
    check_keys(given, _MODEL_KEYS, where=where)
    if given.get("eval_type") not in (None, EvalType.OPENAI_API, "server", "service"):
        raise ConfigError(f"{where}: eval_type: {given['eval_type']!r} is not run here; give {EvalType.OPENAI_API!r}")
    values = generation_values(given.get("generation_config") or {}, where=f"{where}: generation_config")
    own = given.get("model_args") or {}
    if not isinstance(own, Mapping):
        raise ConfigError(f"{where}: model_args: expected an object")
    values |= dict(own)
    names = {"model_id": "model_name", "api_url": "url", "api_key": "api_key", "judge_id": "chat_name"}
    values = {**judge_defaults(), **values, **{new: given[old] for old, new in names.items() if given.get(old)}}
    return values if "model_name" in values else {}


def _contract(judge: Mapping[str, Any], where: str) -> dict[str, Any]:
    contract = judge.get("contract") or {}
    if not isinstance(contract, Mapping):
        raise ConfigError(f"{where}: expected an object")
    check_keys(contract, _CONTRACT_KEYS, where=where)
    _check_only(contract, where)
    prompt = contract.get("prompt_template")
    if prompt is not None and not isinstance(prompt, str):
        raise ConfigError(f"{where}: prompt_template: expected a text")
    labels = {"A": "correct", "B": "incorrect"} if contract.get("score_mapping") is not None else None
    values = {"prompt": prompt, "system_prompt": contract.get("system_prompt"), "labels": labels}
    return {key: value for key, value in values.items() if value is not None}
