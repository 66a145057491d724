"""MmmuEvaluator, and the functions that task folders import with it under FlagEvalMM's and MMMU's names.

References of the names: FlagEvalMM fef27ec6, `evaluator/mmmu_dataset_evaluator.py`; MMMU bb0b95a9,
`mmmu/utils/eval_utils.py`. The rules are in `flagmm.metrics.mmmu`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.metrics.mmmu import extract_numbers, is_choice_correct, parse_choice
from flagmm.metrics.mmmu import is_open_correct as eval_open
from flagmm.metrics.mmmu import normalize_answer as normalize_str
from flagmm.metrics.mmmu import parse_open as parse_open_response
from flagmm.registry import EVALUATORS

__all__ = [
    "MmmuEvaluator",
    "check_is_number",
    "eval_multi_choice",
    "eval_open",
    "extract_numbers",
    "normalize_str",
    "parse_multi_choice_response",
    "parse_open_response",
]


@EVALUATORS.register_module()
class MmmuEvaluator(MetricEvaluator):
    """MMMU, with scores by `subject` and `topic_difficulty`; `rule` as of the metric `mmmu`.

    Choices are read with care, and the accuracy by the official script's reading stands beside.
    """

    def __init__(self, *, rule: str | None = None, **settings: Any) -> None:
        super().__init__(metrics={"type": "mmmu_subjects", "rule": rule}, **settings)


def check_is_number(string: str) -> bool:
    """Whether the text is a number, with or without commas between its digits."""
    return not isinstance(normalize_str(string)[0], str)


def parse_multi_choice_response(response: str, all_choices: Sequence[str], index2ans: Mapping[str, str]) -> str:
    """The label that a response gives; "" where it gives none and MMMU draws one at random.

    Args:
        all_choices: the labels.
        index2ans: the option texts by label.
    """
    return parse_choice(response, index2ans, all_choices) or ""


def eval_multi_choice(gold_i: str | Sequence[str], pred_i: str) -> bool:
    """Whether the label is the right one, or one of them."""
    return is_choice_correct(gold_i, pred_i or None)
