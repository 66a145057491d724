"""What VLMEvalKit's command, its config files and EvalScope's old backend say of an evaluation, checked once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from flagmm.config.env import first_variable
from flagmm.config.plain_values import is_number
from flagmm.config.secrets import mask
from flagmm.config.task_config import check_keys
from flagmm.errors import ConfigError
from flagmm.hints import describe, mismatch, shown

logger = logging.getLogger(__name__)

MODES = ("all", "infer", "eval")
DEFAULT_WORK_DIR = "outputs"
DEFAULT_WORKERS = 4
DEFAULT_RETRIES = 6

Entries = Mapping[str, Mapping[str, Any]]

_ENDPOINT = (
    "base_url", "key", "max_tokens", "temperature", "top_k", "top_p", "repetition_penalty", "timeout", "extra_body",
    "stream", "video_llm", "system_prompt",
)  # fmt: skip
_JUDGE = ("judge", "judge_args", "judge_base_url", "judge_key", "judge_api_nproc", "judge_retry", "judge_timeout")
_DATA = ("nframe", "fps", "use_subtitle", "rule", "pack", "allow_media_roots")
_VARIABLES = ("OPENAI_API_KEY", "OPENAI_API_BASE", "LOCAL_LLM", "EVAL_PROXY")
_TYPES: dict[str, Any] = {
    "mode": str, "work_dir": str, "reuse": bool, "same_model": bool,
    "keep_failed": bool, "verbose": bool, "debug": bool, "api_nproc": int,
    "retry": int, "limit": int | float, "base_url": str, "key": str, "max_tokens": int, "temperature": float,
    "top_k": int, "top_p": float, "repetition_penalty": float, "timeout": float, "extra_body": dict[str, Any],
    "stream": bool, "video_llm": bool, "system_prompt": str, "judge": str, "judge_args": dict[str, Any],
    "judge_base_url": str, "judge_key": str, "judge_api_nproc": int, "judge_retry": int, "judge_timeout": float,
    "nframe": int, "fps": float, "use_subtitle": bool, "rule": str, "pack": bool,
    "allow_media_roots": list[str], **dict.fromkeys(_VARIABLES, str),
}  # fmt: skip
_MEANINGLESS = (
    "reuse_aux", "use_vllm", "use_verifier", "ignore", "custom_prompt", "local_media", "thinker", "api_mode",
    "monitor_interval",
)  # fmt: skip
_OLD_NAMES = {"nproc": "api_nproc"}
_SECRET = ("key", "judge_key", "OPENAI_API_KEY")


@dataclass(frozen=True, kw_only=True)
class VlmevalConfig:
    """One evaluation of models on data sets. None means "not given"."""

    models: Entries
    """By the name that files get: `class` and keywords of VLMEvalKit's, or nothing for a known name."""
    data: Entries
    mode: str = "all"
    work_dir: str = DEFAULT_WORK_DIR
    reuse: bool = False
    """Go on with the newest run's answers instead of asking all again."""
    same_model: bool = False
    """The models are those that gave the answers, though they are at other addresses, which do not tell."""
    keep_failed: bool = False
    limit: int | float | None = None
    api_nproc: int | None = None
    retry: int | None = None
    verbose: bool = False
    debug: bool = False
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    """`base_url` and what goes with it, for all models."""
    judge: Mapping[str, Any] = field(default_factory=dict)
    """The keys that begin with `judge`."""
    data_settings: Mapping[str, Any] = field(default_factory=dict)
    """How the videos of all data sets are sent, by which `rule` replies are read, and where media may be."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Taken before environment variables of the same names."""

    def variable(self, *names: str) -> str | None:
        """The first of these variables that is given here, or set in the environment."""
        return next((found for name in names if (found := self.variables.get(name) or first_variable(name))), None)


def parse_vlmeval(values: Mapping[str, Any], *, source: str) -> VlmevalConfig:
    """Check the flags of the command, or the `eval_config` of EvalScope's old backend.

    Args:
        values: by the names of the flags, with `_`; `model` and `data` hold names, or entries by name.
        source: where they come from, for error messages.

    Raises:
        ConfigError: an unknown key, a value of the wrong type, or no data set.
    """
    given = {_OLD_NAMES.get(key, key): value for key, value in values.items() if value is not None}
    check_keys(given, ["model", "data", *_TYPES, *_MEANINGLESS], where=source)
    idle = [key for key in _MEANINGLESS if given.get(key) not in (None, False)]
    if idle:
        logger.warning("%s: %s: no meaning here, left out", source, ", ".join(idle))
    for key, kind in _TYPES.items():
        if key in given and mismatch(given[key], kind):
            text = None if key in _SECRET else mismatch(mask(given[key], key=key), kind)
            raise ConfigError(f"{source}: {key}: {text or f'expected {describe(kind)}'}")
        if isinstance(given.get(key), int | float) and kind is not bool and not is_number(given[key]):
            raise ConfigError(f"{source}: {key}: expected a number that can be counted with, found {given[key]!r:.40}")
    mode = given.get("mode", MODES[0])
    if mode not in MODES:
        raise ConfigError(f"{source}: mode: expected one of {', '.join(MODES)}, found {mode!r}")
    for key, least in (("api_nproc", 1), ("judge_api_nproc", 1), ("retry", 0), ("judge_retry", 0), ("limit", 0)):
        if key in given and given[key] < least:
            raise ConfigError(f"{source}: {key}: expected {least} or more, found {given[key]!r}")
    own = ("reuse", "same_model", "keep_failed", "api_nproc", "retry", "verbose", "debug")
    return VlmevalConfig(
        models=_entries(given.get("model"), "model", source),
        data=_entries(given.get("data"), "data", source),
        mode=mode,
        work_dir=given.get("work_dir") or first_variable("MMEVAL_ROOT") or DEFAULT_WORK_DIR,
        limit=given.get("limit") or None,
        endpoint={key: given[key] for key in _ENDPOINT if key in given},
        judge={key: given[key] for key in _JUDGE if key in given},
        data_settings={key: given[key] for key in _DATA if key in given},
        variables={key: given[key] for key in _VARIABLES if given.get(key)},
        **{key: given[key] for key in own if key in given},
    )


def _entries(given: Any, key: str, source: str) -> dict[str, Mapping[str, Any]]:
    """Entries by name, from a list of names, a list of EvalScope's objects, or an object as in config files."""
    if isinstance(given, Mapping) and key == "model" and "type" in given:
        given = [given]
    if isinstance(given, str):
        given = [given]
    where = f"{source}: {key}"
    if not given or not isinstance(given, Mapping | Sequence):
        raise ConfigError(f"{where}: name one or more")
    pairs = given.items() if isinstance(given, Mapping) else [_entry(item, where) for item in given]
    entries: dict[str, Mapping[str, Any]] = {}
    for name, settings in pairs:
        if not isinstance(name, str) or not name or not isinstance(settings, Mapping):
            raise ConfigError(f"{where}: {name}: expected an object, {{}} for a name that is known")
        if not isinstance(settings.get("class") or "", str):
            raise ConfigError(f"{where}: {name}: class: expected a text, found {shown(settings['class'])}")
        if name in entries:
            raise ConfigError(f"{where}: {name}: named twice")
        entries[name] = settings
    return entries


def _entry(item: Any, where: str) -> tuple[str, Mapping[str, Any]]:
    """A name, or EvalScope's object: `type` is the model's name, `name` its class."""
    if isinstance(item, str):
        return item, {}
    if not isinstance(item, Mapping) or not isinstance(item.get("type") or item.get("name"), str):
        raise ConfigError(f"{where}: expected names, or objects with 'type' and 'name'; found {type(item).__name__}")
    settings = {key: value for key, value in item.items() if key not in ("type", "name")}
    kind, name = item.get("name"), item.get("type") or item["name"]
    label = PurePath(name).name.replace(":", "-").replace(".", "_")
    return label, {**({"class": kind} if kind else {}), "model": name, **settings}
