"""The environment variables that flagmm reads: places of caches, and keys."""

from __future__ import annotations

import io
import os
from pathlib import Path

from flagmm.errors import ConfigError
from flagmm.jsonio import read_text

API_KEY_NAMES = ("FLAGEVAL_API_KEY", "OPENAI_API_KEY")
PREDICTION_FORMATS = ("xlsx", "tsv", "json")
_JUDGE_NAMES = {
    "model_name": "MODELSCOPE_JUDGE_LLM",
    "url": "MODELSCOPE_API_BASE",
    "api_key": "MODELSCOPE_SDK_TOKEN",
    "system_prompt": "JUDGE_SYSTEM_PROMPT",
    "prompt": "JUDGE_PROMPT_TEMPLATE",
}


def cache_root() -> Path:
    """`$FLAGEVALMM_CACHE`, else `$FLAGEVALMM_CACHE_DIR`, else `~/.cache/flagevalmm`."""
    value = os.environ.get("FLAGEVALMM_CACHE") or os.environ.get("FLAGEVALMM_CACHE_DIR")
    return Path(value).expanduser() if value else Path.home() / ".cache" / "flagevalmm"


def datasets_cache_dir() -> Path:
    """Where prepared data sets live: `$FLAGEVALMM_DATASETS_CACHE_DIR`, else `datasets` in the cache root."""
    value = os.environ.get("FLAGEVALMM_DATASETS_CACHE_DIR")
    return Path(value).expanduser() if value else cache_root() / "datasets"


def models_cache_dir() -> Path:
    """Where model weights live: `$FLAGEVALMM_MODELS_CACHE_DIR`, else `models` in the cache root."""
    value = os.environ.get("FLAGEVALMM_MODELS_CACHE_DIR")
    return Path(value).expanduser() if value else cache_root() / "models"


def lmu_data_dir() -> Path:
    """Where VLMEvalKit's tables and their pictures live: `$LMUData`, else `~/LMUData`."""
    value = os.environ.get("LMUData")  # noqa: SIM112  # VLMEvalKit's spelling
    return Path(value).expanduser() if value else Path.home() / "LMUData"


def replies_cache_file() -> Path:
    """The reply cache of `use_cache`."""
    return cache_root() / "replies.sqlite"


def load_dotenv_file() -> None:
    """Put the variables of a `.env` in the working directory into the environment; ones already set stay.

    Raises:
        ConfigError: it holds a NUL, which no variable can.
        DataError: it cannot be read, or is no UTF-8 text.
    """
    path = Path(".env")
    if not path.exists() or path.is_dir():  # many call the folder of a virtual environment so
        return
    from dotenv import load_dotenv

    text = read_text(path)
    if "\0" in text:
        raise ConfigError(f"{path}: a NUL character, which no variable can hold; save it as UTF-8 text")
    load_dotenv(stream=io.StringIO(text))


def resolve_key(value: str | None, *, where: str) -> str | None:
    """The API key that a model file's `api_key` means: itself, the variable `$NAME`, or the default variables.

    Raises:
        ConfigError: `$NAME` is not set.
    """
    if not value:
        return next((found for name in API_KEY_NAMES if (found := _variable(name))), None)
    if not value.startswith("$"):
        return value.strip()
    name = value[1:].strip("{}")
    found = _variable(name)
    if not found:
        raise ConfigError(f"{where}: api_key: the environment variable {name} is not set; export it, or put it in .env")
    return found


def judge_defaults() -> dict[str, str]:
    """What EvalScope's variables say of a judge, under the keys of a model file; what is not set is left out."""
    return {key: found for key, name in _JUDGE_NAMES.items() if (found := _variable(name))}


def prediction_format() -> str:
    """Which kind of file `$PRED_FORMAT` wants predictions in: "xlsx" (the default), "tsv" or "json".

    Raises:
        ConfigError: another one.
    """
    value = _variable("PRED_FORMAT").lower() or PREDICTION_FORMATS[0]
    if value not in PREDICTION_FORMATS:
        raise ConfigError(f"PRED_FORMAT: expected one of {', '.join(PREDICTION_FORMATS)}, found {value!r}")
    return value


def splits_thinking() -> bool:
    """Whether `$SPLIT_THINK` asks for the thinking in a column of its own."""
    return _variable("SPLIT_THINK").lower() in ("1", "true", "yes")


def other_rank() -> str | None:
    """Which process of several this is, as in "rank 1 of 8", where torchrun started it and another one is the first."""
    rank, count = _variable("RANK"), _variable("WORLD_SIZE")
    if not (rank.isdecimal() and count.isdecimal()) or int(rank) == 0 or int(count) < 2:
        return None
    return f"rank {rank} of {count}"


def first_variable(*names: str) -> str | None:
    """The value of the first of these variables that is set and not empty."""
    return next((found for name in names if (found := _variable(name))), None)


def _variable(name: str) -> str:
    """The variable's value without the line break that reading a key from a file leaves, which no header may hold."""
    return os.environ.get(name, "").strip()
