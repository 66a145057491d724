"""VSI-Bench: choices by their letter, quantities by mean relative accuracy, and the two ways to sum them up.

References: FlagEvalMM fef27ec6, `tasks/vsi_bench/evaluate.py`, and lmms-eval 75571cfe, `tasks/vsibench/utils.py`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from flagmm.metrics.flagevalmm_numbers import mean_relative_accuracy, number_word_value, read_quantity, to_float
from flagmm.metrics.flagevalmm_text import clean_choice

DIRECTION_TYPES = tuple(f"object_rel_direction_{level}" for level in ("easy", "medium", "hard"))
CHOICE_TYPES = frozenset((*DIRECTION_TYPES, "object_rel_distance", "route_planning", "obj_appearance_order"))
QUANTITY_TYPES = frozenset(("object_abs_distance", "object_counting", "object_size_estimation", "room_size_estimation"))

_QUANTITY_KEY = "MRA:.5:.95:.05"


class VsiRow(NamedTuple):
    """One question with its reply."""

    question_type: str
    answer: str
    prediction: str


def vsi_score(row: VsiRow) -> float:
    """Return FlagEvalMM's score: 1 or 0 for a choice, the mean relative accuracy for a quantity.

    Raises:
        ValueError: the question type is not one of VSI-Bench.
    """
    if row.question_type in CHOICE_TYPES:
        return float(clean_choice(row.prediction)[:1] == row.answer.upper())
    if row.question_type in QUANTITY_TYPES:
        return mean_relative_accuracy(to_float(read_quantity(row.prediction)), to_float(row.answer))
    raise _unknown_type(row)


def vsi_score_lmms_eval(row: VsiRow) -> float:
    """Return lmms-eval's score: a choice is the text before the first blank, a quantity the first number.

    Raises:
        ValueError: the question type is not one of VSI-Bench.
    """
    if row.question_type in CHOICE_TYPES:
        return float(row.prediction.split(" ")[0].rstrip(".").strip().lower() == row.answer.lower())
    if row.question_type in QUANTITY_TYPES:
        return mean_relative_accuracy(first_quantity(row.prediction), to_float(row.answer))
    raise _unknown_type(row)


def first_quantity(text: str) -> float | None:
    """Return the first number of `text`, in digits or in English words; None where it has none.

    >>> first_quantity("about twenty-one, not 5"), first_quantity("unknown")
    (21.0, None)
    """
    for found in re.finditer(r"[-+]?\d+(?:\.\d+)?|[a-z]+", text, re.IGNORECASE):
        if found[0][-1].isdigit():
            return float(found[0])
        if number_word_value(found[0]) is not None:
            return _word_run_value(text[found.start() :])
    return None


def vsi_report(rows: Iterable[VsiRow]) -> dict[str, Any]:
    """Return FlagEvalMM's report: `num`, `correct` (a sum) and `accuracy` for `avg` and each type, and `accuracy`.

    Accuracy is percent with 2 decimals, of all questions alike. Without rows it is None, where the reference fails.
    """
    scores: dict[str, list[float]] = {"avg": []}
    for row in rows:
        score = vsi_score(row)
        scores["avg"].append(score)
        scores.setdefault(row.question_type, []).append(score)
    report: dict[str, Any] = {group: _summary(values) for group, values in scores.items()}
    return report | {"accuracy": report["avg"]["accuracy"]}


def vsi_report_lmms_eval(rows: Iterable[VsiRow]) -> dict[str, float | None]:
    """Return lmms-eval's report: a mean per task from 0 to 1, and `overall`, their mean, all tasks alike.

    The three levels of direction are one task, the mean of those that occur. Without rows, only `overall`: None.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        scores[row.question_type].append(vsi_score_lmms_eval(row))
    means = {name: _mean(values) for name, values in scores.items()}
    directions = [means.pop(name) for name in DIRECTION_TYPES if name in means]
    if directions:
        means["object_rel_direction"] = _mean(directions)
    named = {_task_key(name): mean for name, mean in means.items()}
    return {**named, "overall": _mean(list(named.values())) if named else None}


def _word_run_value(text: str) -> float:
    words: list[str] = []
    for word in re.findall(r"[a-z]+|[^a-z\s-]", text, re.IGNORECASE):
        if number_word_value(word) is None and word.lower() != "and":
            break
        words.append(word)
    return float(number_word_value(" ".join(words)) or 0)


def _task_key(name: str) -> str:
    return f"{name}_{_QUANTITY_KEY if name in QUANTITY_TYPES else 'accuracy'}"


def _summary(scores: Sequence[float]) -> Mapping[str, float | None]:
    correct = sum(scores)
    accuracy = round(correct / len(scores) * 100, 2) if scores else None
    return {"num": len(scores), "correct": correct, "accuracy": accuracy}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _unknown_type(row: VsiRow) -> ValueError:
    known = ", ".join(sorted(CHOICE_TYPES | QUANTITY_TYPES))
    return ValueError(f"question type {row.question_type!r}: expected one of {known}")
