"""Which judge an evaluator gets: the command line's, else the task file's, in our keys or in FlagEvalMM's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec, parse_model
from flagmm.errors import ConfigError, JudgeError
from flagmm.evaluator.judge import Judge
from flagmm.evaluator.judge_settings import JudgeSettings, parse_settings
from flagmm.inference.judging import JudgeModel
from flagmm.models.build import own_keys

_OLD_NAMES = {
    "eval_model_name": "model_name", "base_url": "url", "api_key": "api_key", "chat_name": "chat_name",
    "num_threads": "num_workers", "retry_time": "timeout",
}  # fmt: skip
_SAME_NAMES = (
    "temperature", "top_p", "seed", "max_tokens", "max_tokens_key", "stream", "system_prompt", "num_workers", "timeout",
    "retries", "reasoning", "thinking", "provider", "extra_body", "headers",
)  # fmt: skip
_OLD_DEFAULT_PORT = 8001
JUDGE_KEYS = frozenset({"judge", "use_llm_evaluator", "use_cache", "model", "port", *_OLD_NAMES, *_SAME_NAMES})
"""What an evaluator's config may say of its judge."""
_OF_THE_TASK = ("strategy", "prompt", "labels")


@dataclass(frozen=True, kw_only=True)
class JudgeChoice:
    """The judge of one evaluator."""

    evaluator: Any
    settings: JudgeSettings
    spec: ModelSpec
    fixed: frozenset[str]
    """What was named, so that scoring code cannot ask for something else."""
    where: str
    """Flag, or file and key, that it comes from."""

    def attach(self, cache: Path, *, check: bool) -> None:
        """Hand the judge to the evaluator.

        Args:
            check: see first that somebody listens who takes the key.

        Raises:
            ConfigError: no client can be made of its settings.
            JudgeError: nobody does.
        """
        model = JudgeModel(self.spec, cache, fixed=self.fixed)
        if check:
            self._check(model)
        self.evaluator.use_judge(Judge(model, self.settings))

    def _check(self, model: JudgeModel) -> None:
        try:
            model.check_usable()
        except JudgeError as error:
            raise JudgeError(f"{self.where}: {error}") from None


def choose_judges(
    evaluator: Any, config: Mapping[str, Any], *, given: Mapping[str, Any] | None, where: str
) -> Iterator[JudgeChoice]:
    """The judge of an evaluator, or of each that it is made of; nothing where there is none.

    Args:
        config: the evaluator's, as the task file has it.
        given: a judge from the command line, taken before the config's; `strategy` and `prompt` of the config hold
            unless it has its own.
        where: file and key of the config, as error messages begin.

    Raises:
        ConfigError: a setting is wrong, or the evaluator needs a judge and has none.
    """
    parts = getattr(evaluator, "parts", None)
    if parts is not None:
        for part, own in parts:
            yield from choose_judges(part, {**_judge_keys(config), **own}, given=given, where=f"{where}: evaluators")
        return
    method = getattr(evaluator, "judge_method", None)
    old = _old_values(config, is_needed=method is not None)
    values = _values(config, old, given)
    place = "--judge" if given is not None else f"{where}: judge" if old is None else where
    choice = None if values is None else _parse(evaluator, values, where=place)
    if choice is None and getattr(evaluator, "needs_judge", False):
        raise ConfigError(
            f"{where}: {_what_needs(evaluator)} needs a judge: give judge=dict(model_name=…, url=…), "
            "or --judge with a model file"
        )
    if choice is not None and hasattr(evaluator, "use_judge"):
        yield choice


def without_judge(evaluator: Any, config: Mapping[str, Any], *, given: Mapping[str, Any] | None) -> Iterator[Any]:
    """The evaluator, or those that it is made of, for which nobody named a judge, not even to turn it off."""
    parts = getattr(evaluator, "parts", None)
    if parts is not None:
        for part, own in parts:
            yield from without_judge(part, {**_judge_keys(config), **own}, given=given)
        return
    old = _old_values(config, is_needed=getattr(evaluator, "judge_method", None) is not None)
    if _values(config, old, given) is None:
        yield evaluator


def _judge_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    """What the config of several evaluators says of the judge of each."""
    names = {"judge", "use_llm_evaluator", "use_cache", *_OLD_NAMES, *_SAME_NAMES}
    return {name: value for name, value in config.items() if name in names}


def _what_needs(evaluator: Any) -> str:
    function: Callable[..., Any] | None = getattr(evaluator, "eval_func", None)
    is_own = getattr(function, "__self__", None) is evaluator  # a method, which the class tells best
    code = None if is_own else getattr(function, "__code__", None)
    return f"{Path(code.co_filename).name}: {code.co_name}" if code else type(evaluator).__name__


def _values(
    config: Mapping[str, Any], old: Mapping[str, Any] | None, given: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """The keys of a model file, `strategy` and `prompt`; None where there is no judge."""
    own = config.get("judge")
    if given is None:
        return old if own is None else own
    kept = own if isinstance(own, Mapping) else old or {}
    return {**{name: kept[name] for name in _OF_THE_TASK if name in kept}, **given}


def _old_values(config: Mapping[str, Any], *, is_needed: bool) -> dict[str, Any] | None:
    """The judge in FlagEvalMM's keys; None where there is none, or one in ours.

    Args:
        is_needed: whether the evaluator is of use with a judge only, and so has one without `use_llm_evaluator`.
    """
    model = config.get("eval_model_name") or config.get("model")
    asks = config.get("use_llm_evaluator", is_needed and bool(model))
    if not asks or config.get("judge") is not None:
        return None
    names = {**_OLD_NAMES, **{name: name for name in _SAME_NAMES}}
    given = {old for old in names if config.get(old) is not None or (old == "temperature" and old in config)}
    values = {new: config[old] for old, new in names.items() if old in given}
    if model:
        values["model_name"] = model
    if is_needed and not values.get("url"):
        values["url"] = f"http://localhost:{config.get('port') or _OLD_DEFAULT_PORT}/v1"
    return {**values, "use_cache": config.get("use_cache", True), "strategy": "auto"}


def _parse(evaluator: Any, values: Any, *, where: str) -> JudgeChoice | None:
    """The choice; None where the strategy is to ask none."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{where}: expected a dict with the keys of a model file, found {type(values).__name__}")
    usual = getattr(evaluator, "judge_strategy", None)
    given = values if usual is None or values.get("strategy") else {**values, "strategy": usual}
    settings, model = parse_settings(given, where=where, method=getattr(evaluator, "judge_method", None))
    if settings.strategy == "rule":
        return None
    spec = parse_model({"temperature": 0, **model}, source=where, own_keys=own_keys)
    if spec.num_infers != 1:
        raise ConfigError(f"{where}: num_infers: a judge is asked once; leave it out")
    if spec.model_type == "http" and not spec.url:
        raise ConfigError(f"{where}: url: missing, or empty; give the URL of the judge's endpoint")
    return JudgeChoice(
        evaluator=evaluator, settings=settings, spec=spec, fixed=frozenset({*model, "model"}), where=where
    )
