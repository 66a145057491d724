"""Settings written in one flag: a JSON object, the path of a file with one, or pairs such as `a=1,b=2`."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from flagmm.config.plain_values import check_plain
from flagmm.config.task_config import read_config_file
from flagmm.errors import ConfigError

_PAIR_END = re.compile(r",(?=\s*[\w.-]+\s*=)")
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse_settings_text(text: str, *, flag: str, pairs: bool) -> dict[str, Any]:
    """The settings in the value of `flag`, whose text is never repeated in an error: it may hold a key.

    Args:
        pairs: whether pairs are taken, too.

    Raises:
        ConfigError: it is nothing of the kind.
        DataError: the file cannot be read.
    """
    if text.endswith((".json", ".yaml", ".yml")) and not text.lstrip().startswith("{"):
        return read_config_file(Path(text))
    if pairs and not text.lstrip().startswith("{"):
        return _parse_pairs(text, flag)
    try:
        values = json.loads(text, object_pairs_hook=lambda pairs: _object_of(pairs, flag))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{flag}: not valid JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError:  # of Python's limit on digits
        raise ConfigError(f"{flag}: a number of thousands of digits") from None
    except RecursionError:
        raise ConfigError(f"{flag}: nested too deeply") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{flag}: expected a JSON object")
    check_plain(values, where=flag)
    return values


def _object_of(pairs: list[tuple[str, Any]], flag: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ConfigError(f"{flag}: {name!r} is given twice; leave one out")
        values[name] = value
    return values


def _parse_pairs(text: str, flag: str) -> dict[str, Any]:
    pairs = []
    for pair in filter(str.strip, _PAIR_END.split(text)):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise ConfigError(f"{flag}: expected a JSON object, or pairs such as temperature=0,max_tokens=512")
        pairs.append((name, _parse_value(value)))
    return _object_of(pairs, flag)


def _parse_value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text
