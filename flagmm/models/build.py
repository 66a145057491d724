"""A ModelSpec -> its client, and the keys that only one `model_type` takes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError
from flagmm.hints import hints_of
from flagmm.models.client import ModelClient
from flagmm.models.message_class import KEYWORDS, MessageClassClient, takes_messages
from flagmm.plugin import imports_from, load_file, user_code
from flagmm.registry import MODELS, check_keywords


def own_keys(model_type: str) -> dict[str, Any]:
    """The keyword-only parameters of a model class, which are keys of a model file, with the types of their values.

    Raises:
        ConfigError: there is no such `model_type`.
    """
    entry = _model_class(model_type)
    if takes_messages(entry):
        return {KEYWORDS: dict[str, Any]}
    parameters, hints = inspect.signature(entry).parameters.values(), hints_of(entry)
    names = [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    return {name: hints.get(name, Any) for name in names}


def build_client(spec: ModelSpec) -> ModelClient:
    """The bare client of a model, without cache, retries or limit."""
    with user_code(f"model_type {spec.model_type}"):
        entry = _model_class(spec.model_type)
        if takes_messages(entry):
            return MessageClassClient(spec, entry, spec.options.get(KEYWORDS, {}))
        client: ModelClient = entry(spec, **spec.options)
    return client


def check_keywords_of_class(spec: ModelSpec, *, where: str) -> None:
    """Find keywords that a class in VLMEvalKit's shape does not take, before it is made.

    Args:
        where: the model's place, for error messages.

    Raises:
        ConfigError: it names the keyword.
    """
    entry = _model_class(spec.model_type)
    if takes_messages(entry):
        check_keywords(entry, spec.options.get(KEYWORDS, {}), where=where)


def _model_class(model_type: str) -> Any:
    """The class registered as `model_type`, or the one that `file.py:Class` names."""
    file, colon, name = model_type.rpartition(":")
    if not colon or not file.endswith(".py"):
        return MODELS.lookup(model_type)
    path = Path(file).expanduser()
    with imports_from(path.resolve().parent):
        entry = getattr(load_file(path), name, None)
    if not inspect.isclass(entry):
        raise ConfigError(f"{file} defines no class {name!r}")
    return entry
