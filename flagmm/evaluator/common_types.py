"""Scoring functions that task folders import, under FlagEvalMM's names and with its rules.

The rules are in `flagmm.metrics`; here they meet annotations and predictions. Our own scoring reads choices with
`extraction.py` instead, which knows the options.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from flagmm.metrics.flagevalmm_numbers import first_number_or_word as fuzzy_matching
from flagmm.metrics.flagevalmm_numbers import mean_relative_accuracy, to_float
from flagmm.metrics.flagevalmm_numbers import read_quantity as normalize_answer
from flagmm.metrics.flagevalmm_numbers import relative_error as abs_dist_norm
from flagmm.metrics.flagevalmm_text import clean_choice as maybe_clean_answer
from flagmm.metrics.points import calculate_mask_score, text2pts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

RESPONSE_LETTERS = frozenset("ABCDEFGHI")

__all__ = [
    "abs_dist_norm",
    "evaluate_multiple_choice",
    "evaluate_multiple_response",
    "fuzzy_matching",
    "is_numerical_answer_correct",
    "is_point_answer_correct",
    "is_yes_no_answer_correct",
    "maybe_clean_answer",
    "mean_relative_accuracy",
    "normalize_answer",
    "text2pts",
    "to_float",
]


def evaluate_multiple_choice(gt: Mapping[str, Any], pred: MutableMapping[str, Any]) -> bool:
    """Say whether the first letter read from `pred["answer"]` is `gt["answer"]`, or one of a list of them.

    `pred["raw_answer"]` keeps the reply and `pred["answer"]` becomes the letter, "" where none is read; that is wrong
    whatever the right answer.
    """
    return compare_choice(gt, pred, maybe_clean_answer(pred["answer"]))


def compare_choice(gt: Mapping[str, Any], pred: MutableMapping[str, Any], letters: str) -> bool:
    """The same for letters that were read already."""
    pred["raw_answer"], pred["answer"] = pred["answer"], letters[:1]
    accepted = gt["answer"] if isinstance(gt["answer"], list | tuple) else [gt["answer"]]
    return letters != "" and letters[:1] in [str(answer).upper() for answer in accepted]


def evaluate_multiple_response(gt: Mapping[str, Any], pred: MutableMapping[str, Any]) -> tuple[bool, str]:
    """Say whether the letters read from `pred["answer"]` are those of `gt["answer"]`, and which they are.

    `pred["answer"]` becomes the letters, sorted. A string of right letters must be sorted too; a list need not be.
    """
    return compare_response(gt, pred, maybe_clean_answer(pred["answer"]))


def compare_response(gt: Mapping[str, Any], pred: MutableMapping[str, Any], letters: str) -> tuple[bool, str]:
    """The same for letters that were read already; those after I are no options."""
    given = "".join(sorted(set(letters) & RESPONSE_LETTERS))
    pred["answer"] = given
    right = gt["answer"]
    expected = "".join(sorted(map(str, right))) if isinstance(right, list | tuple) else str(right)
    return expected.upper() == given, given


def is_numerical_answer_correct(
    model_answer: str | float | None,
    label_answer: str | float | None,
    confidence_start: float = 0.5,
    confidence_end: float = 0.95,
    confidence_interval: float = 0.05,
    acceptance_threshold: float = 0.5,
) -> bool:
    """Say whether the mean relative accuracy is at least `acceptance_threshold`; what is no number never is."""
    accuracy = mean_relative_accuracy(
        to_float(model_answer), to_float(label_answer), confidence_start, confidence_end, confidence_interval
    )
    return accuracy >= acceptance_threshold


def is_yes_no_answer_correct(model_answer: str, label_answer: str) -> bool:
    """Say whether the reply starts with the label, which is yes or no in any case; another label is never met."""
    label = label_answer.strip().lower()
    return label in ("yes", "no") and model_answer.lower().startswith(label)


def is_point_answer_correct(
    model_answer_points: Sequence[Sequence[int]],
    mask_img: Image.Image | NDArray[Any],
    acceptance_threshold: float = 0.5,
) -> bool:
    """Say whether the points' mean mask value is at least `acceptance_threshold`."""
    return calculate_mask_score(model_answer_points, mask_img) >= acceptance_threshold
