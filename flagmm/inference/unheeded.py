"""What a task file says that nothing heeds: a keyword misspelt, one at the wrong place, a field that no item has.

Each is told before anything is asked; the task runs nevertheless, since folders of other tools have words of their own.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from flagmm.config.task import TaskSpec
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError
from flagmm.evaluator.rules import KNOWN_TYPES
from flagmm.hints import hints_of
from flagmm.inference.judge_choice import JUDGE_KEYS
from flagmm.registry import DATASETS, EVALUATORS, did_you_mean
from flagmm.types import Annotation

logger = logging.getLogger(__name__)

_OF_FLAGEVALMM = frozenset(
    {
        "tracker_type", "tracker_subtype", "start_method", "skip", "shift_check", "filter_types", "threshold",
        "eval_method", "num_threads", "backend", "port", "extra_args", "keep_digital", "max_num_frames",
        "max_image_size", "max_long_side", "min_short_side", "json_mode", "use_azure_api", "model_path",
        "output_dir", "result_file_name", "metrics",
    }
)  # fmt: skip
"""What its evaluators take beyond ours; folders made for it may name them with any class."""
_NEAR = 0.8
_LOOKED_AT = 100
_GROUPING = ("detailed_keys", "tracker_type", "tracker_subtype")


def warn_of_unheeded(task: TaskSpec, evaluator: Any) -> None:
    """Tell which words of a task file have no effect, each with the nearest that has.

    Args:
        evaluator: None where the task has none, or it cannot be built.
    """
    for text in (*_of_top_level(task), *_of_evaluator(task.evaluator or {}, evaluator, task.where("evaluator"))):
        logger.warning("%s", text)


def _of_evaluator(config: Mapping[str, Any], evaluator: Any, where: str) -> Iterator[str]:
    if evaluator is None:
        return
    kept = getattr(evaluator, "settings", None)
    is_ours = type(evaluator).__module__.startswith("flagmm.")
    own = hints_of(type(evaluator)).keys() - {"self", "settings", "kwargs"}
    known = own | JUDGE_KEYS | _OF_FLAGEVALMM | {"type"}
    for key in sorted(config.keys() - known):
        near = did_you_mean(key, own | JUDGE_KEYS)
        if not isinstance(kept, Mapping) or key not in kept:
            continue  # the class of a task took it
        if is_ours or difflib.get_close_matches(key, own | JUDGE_KEYS, n=1, cutoff=_NEAR):
            yield f"{where}: {type(evaluator).__name__} knows no {key!r}, which has no effect.{near}"
    for part, part_config in getattr(evaluator, "parts", None) or ():
        yield from _of_evaluator(part_config, part, f"{where}: evaluators")


def _of_top_level(task: TaskSpec) -> Iterator[str]:
    """Keywords that stand beside `dataset` and `evaluator` instead of in them, and a misspelt `evaluator`."""
    sections = {"dataset": (DATASETS, task.dataset), "evaluator": (EVALUATORS, task.evaluator or {})}
    used = list(_values_in([task.dataset, task.evaluator]))
    for name, value in task.helpers.items():
        if any(value is each or _equal(value, each) for each in used):
            continue
        for section, (registry, config) in sections.items():
            if name in _keywords(registry, config) and name not in config:
                yield (
                    f"{task.path}: {name}: has no effect at the top level of a task file; put it into {section}=dict(…)"
                )
                break
        else:
            is_near = difflib.get_close_matches(name, ["evaluator"], cutoff=_NEAR)
            if task.evaluator is None and is_near and isinstance(value, Mapping) and "type" in value:
                yield f"{task.path}: {name}: is no key of a task file, and has no effect. Did you mean 'evaluator'?"


def _keywords(registry: Any, config: Mapping[str, Any]) -> Collection[str]:
    """The keywords of the class that a section names; of the usual one where it names none that is known."""
    usual = "VqaBaseDataset" if registry is DATASETS else "BaseEvaluator"
    try:
        entry = registry.lookup(config.get("type") or usual)
    except ConfigError:  # told where it is built
        entry = registry.lookup(usual)
    return hints_of(entry).keys() - {"self", "settings", "kwargs", "config", "base_dir", "name"}


def _values_in(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _values_in(each)


def _equal(value: Any, other: Any) -> bool:
    return type(value) is type(other) and isinstance(value, str | list | dict | tuple) and bool(value == other)


def check_fields(task: TaskSpec, evaluator: Any, dataset: Dataset) -> None:
    """Tell the fields to group by that no question has.

    Raises:
        ConfigError: no question has the field that errors are to be clustered by, of which there is no other use.
    """
    annotations = annotations_of(dataset)
    for keyword, field in _fields(task, evaluator):
        if not annotations or _has(annotations, field):
            continue
        known = {name for annotation in _first(annotations) for name in annotation}
        text = f"{task.where('evaluator')}: {keyword}: no question has a field {field!r}.{did_you_mean(field, known)}"
        if keyword == "cluster_by":
            raise ConfigError(text)
        logger.warning("%s", text)


def _fields(task: TaskSpec, evaluator: Any) -> Iterator[tuple[str, str]]:
    """The annotation fields that an evaluator groups by, with the keyword that names each."""
    for part, _ in getattr(evaluator, "parts", None) or ():
        yield from _fields(task, part)
    names = [*_GROUPING, "cluster_by"] if type(evaluator).__module__.startswith("flagmm.") else ["detailed_keys"]
    config = task.evaluator or {}
    for name in names:
        fields = getattr(evaluator, name, None) or ()
        keyword = "group_by" if name == "detailed_keys" and "group_by" in config else name
        for field in [fields] if isinstance(fields, str) else fields:
            yield keyword, field


def _has(annotations: Mapping[str, Annotation], field: str) -> bool:
    return any(annotation.get(field) not in (None, []) for annotation in annotations.values())


def _first(annotations: Mapping[str, Annotation]) -> Iterable[Annotation]:
    return (annotation for annotation, _ in zip(annotations.values(), range(_LOOKED_AT), strict=False))


def is_scorable(dataset: Dataset) -> bool:
    """Whether rules by question type can score a data set: they know each type, and some question has an answer."""
    has_answer = False
    for annotation in annotations_of(dataset).values():
        if annotation.get("question_type") not in KNOWN_TYPES:
            return False
        has_answer = has_answer or annotation.get("answer") not in (None, "", [], {})
    return has_answer
