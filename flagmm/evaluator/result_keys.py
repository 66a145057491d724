"""What `_result.json` holds beside metrics, so that writers and readers of the file agree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

CUT_WHILE_THINKING, UNKNOWN_FINISH_REASONS = "cut_while_thinking", "unknown_finish_reasons"

_ALWAYS = frozenset(
    {
        "over", "counts", "reject_info", "rules", "rule_disagreements",
        "groups", "macro", "n_without", "partial", "evaluator",
        "num_infers", "repeats", "judge", "own_models", "accuracy_answered", "accuracy_interval", "accuracy_stderr",
        CUT_WHILE_THINKING, UNKNOWN_FINISH_REASONS,
        "average_tokens", "average_prompt_tokens", "average_completion_tokens",
    }
)  # fmt: skip
# Words that a task's own code, or another tool, may use for a metric; only a file that names its headline is ours.
_OF_OURS = frozenset(
    {
        "headline", "n", "interval", "micro", "metrics", "flagmm", "eval_func", "report", "vlmevalkit",
        "unfit_references",
    }
)  # fmt: skip
RESERVED = _ALWAYS | _OF_OURS

STDERR, INTERVAL = "_stderr", "_interval"
COUNTS = "counts"
"""Key of a group's own counts, as of the whole result's."""


def flat_names(
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]], *, taken: Collection[str]
) -> dict[tuple[str, str], str]:
    """Under which key of a result each group's headline stands beside the metrics: its value, or `field.value`.

    A value stands alone where it names one group only, or several of the same numbers.

    Args:
        groups: the numbers by field and value.
        taken: names that are others' already.
    """
    named: dict[str, list[Mapping[str, Any]]] = {}
    for values in groups.values():
        for value, numbers in values.items():
            named.setdefault(value, []).append(numbers)
    return {
        (field, value): value
        if value not in taken and all(numbers == named[value][0] for numbers in named[value])
        else f"{field}.{value}"
        for field, values in groups.items()
        for value in values
    }


def is_metric(key: str, values: Mapping[str, Any]) -> bool:
    """Whether a key of a result is a metric's; `values` is the whole result."""
    for suffix in (STDERR, INTERVAL):
        if key.endswith(suffix) and key.removesuffix(suffix) in values:
            return False
    inner = key.partition(".")[2] or key  # of a further evaluator or metric, as in "MmmuEvaluator.counts"
    return inner not in (RESERVED if isinstance(values.get("headline"), str) else _ALWAYS)
