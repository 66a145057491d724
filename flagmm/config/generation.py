"""`generation_config`, as EvalScope has it -> keys of a model file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from flagmm.config.task_config import TaskConfig
from flagmm.constants import EvalType
from flagmm.errors import ConfigError
from flagmm.registry import did_you_mean

logger = logging.getLogger(__name__)

_SAME = ("max_tokens", "max_tokens_key", "temperature", "top_p", "seed", "stream", "timeout", "retries")
_NULL_COUNTS = "temperature"
"""With null none is sent, which is another thing than to say nothing of it."""
_RENAMED = {"extra_headers": "headers", "batch_size": "num_workers"}
_IN_BODY = {
    "top_k": "top_k", "stop_seqs": "stop", "stop": "stop", "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty", "repetition_penalty": "repetition_penalty", "logit_bias": "logit_bias",
    "logprobs": "logprobs", "top_logprobs": "top_logprobs", "parallel_tool_calls": "parallel_tool_calls",
    "reasoning_effort": "reasoning_effort",
}  # fmt: skip
"""Key -> its name in the body of a request."""
_MEANINGLESS = (
    "retry_interval", "do_sample", "reasoning_tokens", "reasoning_summary", "reasoning_history",
    "anthropic_cache_control", "anthropic_cache_strategy", "height", "width", "num_inference_steps", "guidance_scale",
)  # fmt: skip
_ELSEWHERE = {
    "extra_query": "put the parameters into api_url",
    "response_schema": "put a response_format into extra_body",
}
_ENDPOINTS = {EvalType.OPENAI_API: "http", "server": "http", "service": "http", EvalType.MOCK_LLM: "random"}
"""`eval_type`, old names included -> `model_type`."""


def generation_values(generation: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """The keys of a model file that a `generation_config` stands for; `num_infers` where it has `n`.

    Raises:
        ConfigError: an unknown key.
    """
    if not isinstance(generation, Mapping):
        raise ConfigError(f"{where}: expected an object")
    own = generation.get("extra_body") or {}
    if not isinstance(own, Mapping):
        raise ConfigError(f"{where}: extra_body: expected an object")
    values: dict[str, Any] = {}
    body: dict[str, Any] = dict(own)
    idle = []
    for key, value in generation.items():
        if (value is None and key != _NULL_COUNTS) or key == "extra_body":
            continue
        if key in _SAME or key in _RENAMED:
            values[_RENAMED.get(key, key)] = value
        elif key in _IN_BODY:
            body.setdefault(_IN_BODY[key], value)
        elif key == "n":
            values["num_infers"] = value
        elif key in _MEANINGLESS:
            idle.append(key)
        else:
            raise ConfigError(_unknown(key, where))
    if idle:
        logger.warning("%s: %s: no meaning here, left out", where, ", ".join(idle))
    return {**values, **({"extra_body": body} if body else {})}


def _unknown(key: str, where: str) -> str:
    if key in _ELSEWHERE:
        return f"{where}: {key} is not taken; {_ELSEWHERE[key]}"
    known = [*_SAME, *_RENAMED, *_IN_BODY, "n", "extra_body"]
    hint = did_you_mean(key, known) if _is_near(key, known) else " What only your endpoint knows belongs in extra_body."
    return f"{where}: unknown key {key!r}.{hint}"


def _is_near(key: str, known: list[str]) -> bool:
    return did_you_mean(key, known).startswith(" Did")


def endpoint_values(config: TaskConfig, *, source: str) -> dict[str, Any]:
    """The keys of a model file for the model under test.

    Raises:
        ConfigError: no model, an endpoint of a kind that is not run here, or an unknown key.
    """
    if config.model is None:
        raise ConfigError(f"{source}: model is missing: the name that the endpoint knows the model by")
    values: dict[str, Any] = {"model_name": config.model, "model_type": _model_type(config, source)}
    values |= {"chat_name": config.model_id, "url": config.api_url, "api_key": config.api_key}
    values |= generation_values(config.generation_config, where=f"{source}: generation_config")
    values |= {"timeout": config.timeout, "stream": config.stream, "num_workers": config.eval_batch_size}
    values |= {"fetch_media": config.fetch_media or None, **config.model_args}
    if config.repeats > 1:
        values["num_infers"] = int(config.repeats)
    return {key: value for key, value in values.items() if value is not None or key == _NULL_COUNTS}


def _model_type(config: TaskConfig, source: str) -> str:
    given = config.eval_type or EvalType.OPENAI_API
    if given not in _ENDPOINTS:
        raise ConfigError(
            f"{source}: eval_type: {given!r} is not run here; serve the model behind an OpenAI-compatible endpoint "
            f"and give {EvalType.OPENAI_API!r}"
        )
    if _ENDPOINTS[given] == "http" and not config.api_url and "model_type" not in config.model_args:
        raise ConfigError(f"{source}: api_url is missing: the endpoint's URL, such as http://localhost:8000/v1")
    return _ENDPOINTS[given]
