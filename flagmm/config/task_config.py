"""TaskConfig: what EvalScope's commands and scripts say about an evaluation, checked once."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from flagmm.config.plain_values import MOST_CALLS, check_plain, is_number
from flagmm.config.secrets import MASK, mask
from flagmm.errors import ConfigError, DataError
from flagmm.jsonio import read_json, read_text
from flagmm.registry import did_you_mean

logger = logging.getLogger(__name__)

DEFAULT_WORK_DIR = "outputs"
DEFAULT_SEED = 42
VLMEVALKIT = "VLMEvalKit"
"""The backend whose settings are in `eval_config`."""
_NATIVE = "Native"
_REFUSED = {"judge_worker_num": "there is none any more; eval_batch_size bounds the judge's calls, too"}
_MEANINGLESS = frozenset(
    {
        "model_task", "chat_template", "dataset_dir", "dataset_hub", "eval_config", "enable_progress_tracker",
        "analysis_report", "collect_perf", "sandbox", "use_sandbox", "sandbox_type", "sandbox_manager_config",
        "agent_config", "evalscope_version",
    }
)  # fmt: skip


@dataclass(kw_only=True)
class TaskConfig:
    """One evaluation. None means "not given".

    Raises:
        ConfigError: an unknown key, or a value of the wrong type.
    """

    model: str | None = None
    """The name that the endpoint knows the model by."""
    model_id: str | None = None
    """The name shown in tables, where it should differ from `model`."""
    model_args: dict[str, Any] = field(default_factory=dict)
    """Further keys of a model file, such as `max_image_size`."""
    api_url: str | None = None
    api_key: str | None = None
    """The key itself, or `$NAME` for an environment variable."""
    eval_type: str | None = None
    generation_config: dict[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    """Seconds for one attempt."""
    stream: bool | None = None

    datasets: list[str] = field(default_factory=list)
    """Names of installed tasks, or task files."""
    dataset_args: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Settings for each of the data sets, by its name."""
    limit: int | float | None = None
    """Questions of each subset: a count, or a fraction below 1. 0 is no limit."""
    repeats: int = 1
    seed: int | None = DEFAULT_SEED
    """Of the shuffling that `dataset_args` may ask for."""
    allow_media_roots: list[str] = field(default_factory=list)
    """Folders that data files may name media in, beside their own and the working directory."""
    fetch_media: bool = False
    """Fetch media from http(s) URLs instead of passing the URLs on."""
    strict: bool = False
    """Let a bad row end the run."""

    judge: dict[str, Any] | None = None
    judge_strategy: str | None = None
    """Old name of `judge["strategy"]`."""
    judge_model_args: dict[str, Any] | None = None
    """Old name of `judge["models"]`, with the keys of `judge["contract"]` in it."""

    eval_batch_size: int | None = None
    """Calls at once."""
    work_dir: str = DEFAULT_WORK_DIR
    no_timestamp: bool = False
    """Put results into `work_dir` itself instead of a folder named after the time."""
    use_cache: str | None = None
    """The results folder of an earlier run, to go on with."""
    same_model: bool = False
    """The model is the one that gave the answers in `use_cache`, though `api_url` is another and does not tell."""
    rerun_review: bool = False
    """Score the answers in `use_cache` again; no model is asked."""
    ignore_errors: bool = False
    """Items that failed leave the exit status at 0; they are counted all the same."""
    debug: bool = False
    dry_run: bool = False

    eval_backend: str = _NATIVE
    eval_config: Any = None
    """Of the backend VLMEvalKit: an object with `model` and `data`, or the path of a file."""
    # What follows means something to EvalScope only; it is taken, and a warning tells so.
    model_task: Any = None
    chat_template: Any = None
    dataset_dir: Any = None
    dataset_hub: Any = None
    enable_progress_tracker: Any = None
    analysis_report: Any = None
    collect_perf: Any = None
    sandbox: Any = None
    use_sandbox: Any = None
    sandbox_type: Any = None
    sandbox_manager_config: Any = None
    agent_config: Any = None
    evalscope_version: Any = None

    def __new__(cls, **values: Any) -> TaskConfig:
        """Refuse unknown keys before the generated `__init__` does, and say which was meant."""
        check_keys(values, known_keys(), where="TaskConfig", refused=_REFUSED)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for item in fields(self):  # null says as little as leaving the key out; without a seed nothing is fixed
            if getattr(self, item.name) is None and item.name != "seed":
                setattr(self, item.name, _default(item.name))
        self.check()

    def check(self, source: str = "TaskConfig") -> None:
        """Check the types of the values, which may have been changed since.

        Raises:
            ConfigError: naming the key, and `source` for where it stands.
        """
        for name, check in _CHECKS.items():
            value = getattr(self, name)
            if isinstance(value, Mapping | list | str):
                check_plain(value, where=f"{source}: {name}")
            if value is not None and not check.holds(value):
                shown = "***" if name == "api_key" else _shown(value)
                raise ConfigError(f"{source}: {name}: expected {check.expected}, found {shown}")
        if self.repeats > MOST_CALLS:
            raise ConfigError(f"{source}: repeats: expected at most {MOST_CALLS}, found {self.repeats:g}")
        if self.eval_backend not in (_NATIVE, VLMEVALKIT):
            raise ConfigError(
                f"{source}: eval_backend: {self.eval_backend!r} is not run here; {_NATIVE!r} and {VLMEVALKIT!r} are"
            )

    def meaningless(self) -> list[str]:
        """The keys that were given and have no meaning here."""
        return sorted(name for name in _MEANINGLESS if getattr(self, name) not in (None, {}, ""))

    def to_dict(self) -> dict[str, Any]:
        """What was given, as plain values, secrets masked."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        given = {name: value for name, value in values.items() if value != _default(name)}
        masked: dict[str, Any] = _masked(given)
        return masked

    def __repr__(self) -> str:
        return f"TaskConfig({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"


def known_keys() -> list[str]:
    """Every key that a configuration may have."""
    return [item.name for item in fields(TaskConfig)]


def read_task_config(given: TaskConfig | Mapping[str, Any] | str | Path) -> TaskConfig:
    """The configuration that `run_task` was given: itself, a dict, or the path of a YAML or JSON file.

    Raises:
        ConfigError: an unknown key, or a value of the wrong type.
        DataError: the file cannot be read.
    """
    if isinstance(given, TaskConfig):
        given.check()
        return given
    if isinstance(given, Mapping):
        return make_task_config(given, source="task_cfg")
    if isinstance(given, str | Path):
        return make_task_config(read_config_file(Path(given)), source=str(given))
    raise ConfigError(f"task_cfg: expected a TaskConfig, a dict or the path of a file, found {type(given).__name__}")


def make_task_config(values: Mapping[str, Any], *, source: str) -> TaskConfig:
    """The configuration with these values; errors name `source`."""
    check_keys(values, known_keys(), where=source, refused=_REFUSED)
    try:
        return TaskConfig(**{str(key): value for key, value in values.items()})
    except ConfigError as error:
        raise ConfigError(str(error).replace("TaskConfig:", f"{source}:", 1)) from None


def read_config_file(path: Path) -> dict[str, Any]:
    """The object in a YAML or JSON file.

    Raises:
        ConfigError: the suffix is another, or the file holds no object.
        DataError: it cannot be read or parsed.
    """
    path = path.expanduser()
    if path.suffix not in (".yaml", ".yml", ".json"):
        raise ConfigError(f"{path}: expected a .yaml, .yml or .json file")
    values = read_json(path) if path.suffix == ".json" else _read_yaml(path)
    check_plain(values, where=str(path))
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected an object")
    readable: dict[str, Any] = _without_masked(values)
    return readable


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise DataError(f"{place}: not valid YAML: {getattr(error, 'problem', None) or 'unreadable'}") from None
    except RecursionError:
        raise DataError(f"{path}: nested too deeply") from None
    except ValueError as error:  # such as a date of the 30th of February
        raise DataError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None


def check_keys(
    given: Iterable[Any], known: Iterable[str], *, where: str, refused: Mapping[str, str] | None = None
) -> None:
    """Raise `ConfigError` for the first key that is not known, with the nearest one that is.

    Args:
        refused: keys of old versions -> why they are not taken.
    """
    known = list(known)
    for key in given:
        if refused and key in refused:
            raise ConfigError(f"{where}: {key}: {refused[key]}")
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}.{did_you_mean(str(key), known)}")


def _masked(values: Any, key: str = "") -> Any:
    """Values with their secrets masked; `$NAME`, which is none, stays."""
    if isinstance(values, Mapping) and not key.lower().endswith("headers"):
        return {name: _masked(value, str(name)) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_masked(value, key) for value in values]
    return values if isinstance(values, str) and values.startswith("$") else mask(values, key=key)


def _without_masked(values: Any) -> Any:
    """Values without the secrets that were masked when they were saved: those are looked for again."""
    if isinstance(values, Mapping):
        return {name: _without_masked(value) for name, value in values.items() if value != MASK}
    return [_without_masked(value) for value in values] if isinstance(values, list) else values


def _default(name: str) -> Any:
    item = TaskConfig.__dataclass_fields__[name]
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _shown(value: Any) -> str:
    text = json.dumps(mask(value), ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}…"


@dataclass(frozen=True)
class _Check:
    expected: str
    holds: Callable[[Any], bool]


def _is_limit(value: Any) -> bool:
    return is_number(value) and value >= 0 and (value <= 1 or value == int(value))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value)


def _is_args(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in value.values())


_TEXT = _Check("a text", lambda value: isinstance(value, str))
_FLAG = _Check("true or false", lambda value: isinstance(value, bool))
_OBJECT = _Check("an object", lambda value: isinstance(value, Mapping))
_TEXTS = _Check("a list of texts", _is_texts)
_SECONDS = _Check("a number of seconds above 0", lambda value: is_number(value) and value > 0)
_COUNT = _Check("a whole number above 0", lambda value: is_number(value) and value == int(value) and value > 0)
_CHECKS = {
    "model": _TEXT, "model_id": _TEXT, "model_args": _OBJECT, "api_url": _TEXT, "api_key": _TEXT, "eval_type": _TEXT,
    "generation_config": _OBJECT, "timeout": _SECONDS,
    "stream": _FLAG, "datasets": _TEXTS, "dataset_args": _Check("an object of objects", _is_args),
    "limit": _Check("a whole number, or a fraction below 1", _is_limit), "repeats": _COUNT,
    "seed": _Check("a whole number", lambda value: is_number(value) and value == int(value)),
    "allow_media_roots": _TEXTS, "fetch_media": _FLAG, "strict": _FLAG, "judge": _OBJECT, "judge_strategy": _TEXT,
    "judge_model_args": _OBJECT, "eval_batch_size": _COUNT, "work_dir": _TEXT, "no_timestamp": _FLAG,
    "use_cache": _TEXT, "same_model": _FLAG, "rerun_review": _FLAG,
    "ignore_errors": _FLAG, "debug": _FLAG, "dry_run": _FLAG,
}  # fmt: skip
