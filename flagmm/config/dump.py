"""Configs as JSON: functions by name and source hash, secrets masked."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.config.secrets import Secret, mask
from flagmm.config.task import TaskSpec


def dump_task(task: TaskSpec) -> dict[str, Any]:
    """The task as plain JSON values."""
    return {
        "name": task.name,
        "file": str(task.path),
        "dataset": to_plain(task.dataset),
        "evaluator": to_plain(task.evaluator),
        "register_dataset": to_plain(task.register_dataset),
        "register_evaluator": to_plain(task.register_evaluator),
    }


def dump_model(model: ModelSpec) -> dict[str, Any]:
    """The model's settings as plain JSON values; what was not given is left out."""
    values = asdict(model)
    given = {key: value for key, value in values.items() if value not in (None, {}, [])}
    plain: dict[str, Any] = to_plain(given)
    return plain


def to_plain(value: Any) -> Any:
    """Any config value as JSON values, secrets masked."""
    return mask(_to_plain(value))


def _to_plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_to_plain(item) for item in value]
    if inspect.isclass(value) or callable(value):
        return _dump_callable(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value) if isinstance(value, Path) else repr(value)


def _dump_callable(function: Callable[..., Any]) -> dict[str, str]:
    name = getattr(function, "__qualname__", repr(function))
    source = _source(function) or name
    return {"function": name, "sha256": hashlib.sha256(source.encode()).hexdigest()}


def _source(function: Callable[..., Any]) -> str | None:
    """The text of a function, or else its bytecode; None where it has neither."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_filename.startswith("<"):  # else Python may take the program's first lines for it
        try:
            return inspect.getsource(function)
        except (OSError, TypeError):
            pass  # built in, or its file is gone
    return code.co_code.hex() + repr(code.co_consts) if code else None


def fingerprint(model: ModelSpec) -> str:
    """A hash of what decides this model's answers: its settings, and its identity, else its address."""
    settings = to_plain(model.answer_settings())
    if model.identity is not None:
        del settings["url"]
        settings["identity"] = model.identity
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
