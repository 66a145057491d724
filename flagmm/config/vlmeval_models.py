"""A model as VLMEvalKit names it -> the keys of a model file, for the model under test and for the judge."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flagmm.config.locate import find_model_file, read_model_file
from flagmm.config.vlmeval import DEFAULT_RETRIES, DEFAULT_WORKERS, VlmevalConfig
from flagmm.config.vlmeval_presets import (
    API_CLASSES,
    AZURE_KEY,
    AZURE_URL,
    AZURE_VARIABLES,
    JUDGES,
    KEYS_OF_MODELS,
    OTHER_API_CLASSES,
    PRESETS,
    ApiClass,
)
from flagmm.errors import ConfigError
from flagmm.registry import did_you_mean

logger = logging.getLogger(__name__)

NO_JUDGE = "exact_matching"
_DEFAULT_KEY = "OPENAI_API_KEY"
_DEFAULT_JUDGE = "gpt-4o-mini"
_BASE_URL_DEFAULTS = {"max_tokens": 32768, "timeout": 1800, "retry": DEFAULT_RETRIES}
_RENAMED = {
    "model": "model_name", "api_base": "url", "base_url": "url", "key": "api_key", "retry": "retries",
    "img_detail": "image_detail", "nproc": "num_workers",
}  # fmt: skip
_SAME = ("temperature", "max_tokens", "max_tokens_key", "top_p", "timeout", "system_prompt", "stream", "seed",
         "extra_body", "headers", "proxy")  # fmt: skip
_IN_BODY = (
    "top_k", "repetition_penalty", "presence_penalty", "frequency_penalty", "max_completion_tokens", "stop",
    "thinking_budget", "chat_template_kwargs", "reasoning_effort", "min_p",
)  # fmt: skip
_LEFT_OUT = ("verbose", "wait", "custom_prompt", "total_img_size", "max_file_size", "local_media")
_SERVE = (
    "it runs inside VLMEvalKit's own process; serve it and evaluate the endpoint instead: "
    "`vllm serve ORG/{name}` (http://localhost:8000/v1), or "
    "`lmdeploy serve api_server ORG/{name} --model-name {name}` (http://localhost:23333/v1), "
    "then the same command with --base-url and that URL, or LMDEPLOY_API_BASE set to it"
)


def model_values(name: str, entry: Mapping[str, Any], config: VlmevalConfig, *, source: str) -> dict[str, Any]:
    """The keys of a model file for the model called `name`.

    Args:
        entry: `class` and keywords; empty for a model file, one of VLMEvalKit's names, or any name where the
            configuration or `$LMDEPLOY_API_BASE` says where it is served.

    Raises:
        ConfigError: nothing is known of it, or it cannot be asked over HTTP.
    """
    where = f"{source}: model: {name}"
    own = own_class(str(entry.get("class", name)))
    if own is not None:
        return _of_own_class(own, name, entry, config, where=where)
    endpoint = dict(config.endpoint)
    if not entry and "base_url" not in endpoint:
        file = _model_file(name)
        if file is not None:
            flags = {"num_workers": config.api_nproc, "retries": config.retry}
            given = {key: value for key, value in flags.items() if value is not None}
            return {"num_workers": DEFAULT_WORKERS, **file, **_translated(endpoint, where), **given}
        entry = PRESETS.get(name, {})
    settings = dict(entry)
    kind = settings.pop("class", None)
    api, settings = _api(kind, name, settings, endpoint, config, where=where)
    if settings.pop("use_azure", False):
        api = _azure(api, config, where=where)
    given = {**api.defaults, **settings, **endpoint}
    if config.retry is not None:
        given["retry"] = config.retry
    values = _translated(given, where)
    values.setdefault("model_name", name)
    values["chat_name"] = name
    values["num_workers"] = config.api_nproc or values.get("num_workers") or DEFAULT_WORKERS
    values.setdefault("url", config.variable(*api.url_variables) or api.url)
    if not values.get("url"):
        raise ConfigError(f"{where}: where is it served? give api_base, or set {' or '.join(api.url_variables)}")
    values["api_key"] = values.get("api_key") or _key(api, str(values["model_name"]), config, where=where)
    return {key: value for key, value in values.items() if value is not None or key == "temperature"}


def own_class(text: str) -> str | None:
    """The name of the class where `text` is "path/to/file.py:Class", else None.

    >>> own_class("models/mine.py:Mine"), own_class("GPT4V")
    ('Mine', None)
    """
    file, _, name = text.rpartition(":")
    return name if file.endswith(".py") and name.isidentifier() else None


def _of_own_class(
    own: str, name: str, entry: Mapping[str, Any], config: VlmevalConfig, *, where: str
) -> dict[str, Any]:
    """The keys of a model file for a class of a person's own, whose keywords are those of its entry."""
    keywords = {key: value for key, value in entry.items() if key != "class"}
    if config.endpoint:
        logger.warning("%s: %s: not handed to a class of one's own", where, ", ".join(config.endpoint))
    shown = own if own_class(name) else name
    values = {"model_type": entry.get("class", name), "model_name": shown, "chat_name": shown, "retries": config.retry}
    if keywords:
        values["kwargs"] = keywords
    given = {**values, "num_workers": config.api_nproc or DEFAULT_WORKERS}
    return {key: value for key, value in given.items() if value is not None}


def _model_file(name: str) -> dict[str, Any] | None:
    try:
        find_model_file(name)
    except ConfigError:
        return None
    return read_model_file(name)


def _api(
    kind: str | None,
    name: str,
    settings: dict[str, Any],
    endpoint: dict[str, Any],
    config: VlmevalConfig,
    *,
    where: str,
) -> tuple[ApiClass, dict[str, Any]]:
    """What the class knows by itself, and the keywords; without a class the endpoint that is named for all."""
    if kind is not None:
        if kind in API_CLASSES:
            return API_CLASSES[kind], settings
        if kind in OTHER_API_CLASSES:
            raise ConfigError(
                f"{where}: class {kind} speaks a protocol of its own; if the service has an OpenAI-compatible URL, "
                "write class CustomAPIModel with that URL as api_base and its key as key"
            )
        hint = did_you_mean(kind, API_CLASSES) if kind.endswith(("API", "Wrapper")) else ""
        raise ConfigError(f"{where}: class {kind}: {_SERVE.format(name=name)}.{hint}")
    if "base_url" in endpoint or {"api_base", "base_url"} & settings.keys():
        return ApiClass(url=None, key_variables=(_DEFAULT_KEY,), defaults=_BASE_URL_DEFAULTS), settings
    if config.variable("LMDEPLOY_API_BASE"):
        return API_CLASSES["LMDeployAPI"], settings
    raise ConfigError(f"{where}: no model file, and no model of this name calls an endpoint. If it is of the zoo, "
                      f"{_SERVE.format(name=name)}.{did_you_mean(name, PRESETS)}")  # fmt: skip


def _azure(api: ApiClass, config: VlmevalConfig, *, where: str) -> ApiClass:
    """OpenAI's protocol at Azure, as the variables say."""
    found = {part: config.variable(name) for part, name in AZURE_VARIABLES.items()}
    missing = [AZURE_VARIABLES[part] for part, value in found.items() if not value]
    if missing:
        raise ConfigError(f"{where}: use_azure: set {', '.join(missing)}")
    found["endpoint"] = str(found["endpoint"]).rstrip("/")
    return replace(api, url=AZURE_URL.format(**found), url_variables=(), key_variables=(AZURE_KEY,))


def _key(api: ApiClass, model: str, config: VlmevalConfig, *, where: str) -> str | None:
    """The key that goes to this service, and never another one's.

    Raises:
        ConfigError: its variable is not set, and the model is to be asked.
    """
    names = api.key_variables
    if names == API_CLASSES["GPT4V"].key_variables:
        names = next(((name,) for start, name in KEYS_OF_MODELS.items() if model.lower().startswith(start)), names)
    key = config.variable(*names) or api.key
    if not key and _DEFAULT_KEY not in names and config.mode != "eval":
        raise ConfigError(f"{where}: no key; set {' or '.join(names)}, or give key")
    return key


def _translated(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Keywords of VLMEvalKit's classes as keys of a model file.

    Raises:
        ConfigError: a keyword that no class has.
    """
    values: dict[str, Any] = {}
    body: dict[str, Any] = {}
    for key, value in given.items():
        if key in _RENAMED or key in _SAME:
            values[_RENAMED.get(key, key)] = value
        elif key in _IN_BODY:
            body[key] = value
        elif key == "img_size":
            values["max_long_side"] = value if isinstance(value, int) and value > 0 else None
        elif key == "video_llm":
            values["video_mode"] = "file" if value else "frames"
        elif key not in _LEFT_OUT:
            known = (*_RENAMED, *_SAME, *_IN_BODY, "img_size", "video_llm")
            raise ConfigError(f"{where}: unknown keyword {key!r}.{did_you_mean(key, known)} "
                              "What only your endpoint knows belongs in extra_body.")  # fmt: skip
    own = values.get("extra_body") or {}
    if not isinstance(own, Mapping):
        raise ConfigError(f"{where}: extra_body: expected an object")
    body |= own
    return {**values, **({"extra_body": body} if body else {})}


def judge_values(config: VlmevalConfig) -> dict[str, Any] | None:
    """The judge, as `Options.judge` takes it; None for exact matching.

    Without `--judge` one is asked where `$OPENAI_API_KEY` is set, as VLMEvalKit does; `$LOCAL_LLM` names another one.
    """
    given = config.judge
    url = given.get("judge_base_url") or config.variable("OPENAI_API_BASE") or API_CLASSES["GPT4V"].url
    key = given.get("judge_key") or config.variable("OPENAI_API_KEY")
    name, local = given.get("judge"), config.variable("LOCAL_LLM")
    if name == NO_JUDGE or (name is None and not key):
        return None
    if name is None:
        logger.info("judge %s, as OPENAI_API_KEY is set; --judge %s asks none", local or _DEFAULT_JUDGE, NO_JUDGE)
    name = local or name or _DEFAULT_JUDGE
    is_official = url == API_CLASSES["GPT4V"].url
    retry = given.get("judge_retry", config.retry)
    values = {
        "model_name": JUDGES.get(name, name) if is_official else name,
        "url": url,
        "api_key": key,
        "num_workers": given.get("judge_api_nproc") or config.api_nproc or DEFAULT_WORKERS,
        "retries": DEFAULT_RETRIES if retry is None else retry,
        "timeout": given.get("judge_timeout", 600),
        "proxy": config.variable("EVAL_PROXY"),
        **_translated(given.get("judge_args") or {}, "judge_args"),
    }
    return {key: value for key, value in values.items() if value is not None or key == "temperature"}
