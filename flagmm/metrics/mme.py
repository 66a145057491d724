"""MME: two yes/no questions per picture, scored by question (acc) and by picture (acc+).

References: lmms-eval 75571cfe, `tasks/mme/utils.py`, and VLMEvalKit e8e78f05, `dataset/utils/yorn.py:MME_rating`, which
calls cognition "reasoning". They give the same scores; they read replies differently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

PERCEPTION = (
    "existence",
    "count",
    "position",
    "color",
    "posters",
    "celebrity",
    "scene",
    "landmark",
    "artwork",
    "OCR",
)
COGNITION = ("commonsense_reasoning", "numerical_calculation", "text_translation", "code_reasoning")

_PREFIX = 4


class MmeRow(NamedTuple):
    """One question and whether its reply is right."""

    category: str
    image: str
    """What the two questions of a picture share, within the category."""
    correct: bool


class MmeShares(NamedTuple):
    """In percent."""

    acc: float
    """Questions whose reply is right."""
    acc_plus: float
    """Pictures with two questions, all right."""


def mme_label(text: str) -> Literal["yes", "no", "other"]:
    """Return what lmms-eval reads: "yes", else "no", within the first four characters; "y" or "n" alone will do.

    Case, outer white space and all periods are ignored; an empty text is "other".

    >>> mme_label("Yes, it is."), mme_label("N."), mme_label("I know"), mme_label("Certainly")
    ('yes', 'no', 'other', 'other')
    """
    start = text.lower().strip().replace(".", "")
    if start in ("y", "n"):
        return "yes" if start == "y" else "no"
    start = start[:_PREFIX]
    return "yes" if "yes" in start else "no" if "no" in start else "other"


def mme_scores(rows: Iterable[MmeRow]) -> dict[str, float]:
    """Return `perception`, `cognition` and the score of each category that occurs: acc + acc+, from 0 to 200.

    `perception` is the sum over ten categories, `cognition` over four; a category without rows adds 0 (VLMEvalKit
    fails then), one that is in neither stands for itself. A picture counts in acc+ only if it has two questions and
    all are right.
    """
    pictures: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        pictures[row.category][row.image].append(row.correct)
    scores = {category: _category_score(list(by_image.values())) for category, by_image in pictures.items()}
    return {
        "perception": sum(scores.get(category, 0.0) for category in PERCEPTION),
        "cognition": sum(scores.get(category, 0.0) for category in COGNITION),
        **scores,
    }


def mme_shares(rows: Iterable[MmeRow]) -> MmeShares | None:
    """Return acc and acc+ over all categories together, every question and picture weighing the same; None for no rows.

    >>> mme_shares([MmeRow("OCR", "1", True), MmeRow("OCR", "1", True), MmeRow("color", "1", True)])
    MmeShares(acc=100.0, acc_plus=50.0)
    """
    pictures: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in rows:
        pictures[row.category, row.image].append(row.correct)
    return _shares(list(pictures.values())) if pictures else None


def _category_score(pictures: list[list[bool]]) -> float:
    return sum(_shares(pictures))


def _shares(pictures: list[list[bool]]) -> MmeShares:
    questions = [correct for picture in pictures for correct in picture]
    both_right = sum(len(picture) > 1 and all(picture) for picture in pictures)
    return MmeShares(100 * sum(questions) / len(questions), 100 * both_right / len(pictures))
