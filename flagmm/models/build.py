"""A ModelSpec -> its client, and the keys that only one `model_type` takes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.errors import ConfigError
from flagmm.models.client import ModelClient
from flagmm.plugin import load_file
from flagmm.registry import MODELS


def own_keys(model_type: str) -> list[str]:
    """The keyword-only parameters of a model class: keys of a model file that it alone understands.

    Raises:
        ConfigError: there is no such `model_type`.
    """
    parameters = inspect.signature(_model_class(model_type)).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]


def build_client(spec: ModelSpec) -> ModelClient:
    """The bare client of a model, without cache, retries or limit."""
    client: ModelClient = _model_class(spec.model_type)(spec, **spec.options)
    return client


def _model_class(model_type: str) -> Any:
    """The class registered as `model_type`, or the one that `file.py:Class` names."""
    file, colon, name = model_type.rpartition(":")
    if not colon or not file.endswith(".py"):
        return MODELS.lookup(model_type)
    entry = getattr(load_file(Path(file).expanduser()), name, None)
    if not inspect.isclass(entry):
        raise ConfigError(f"model_type: {file} defines no class {name!r}")
    return entry
