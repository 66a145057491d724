"""Average normalised Levenshtein similarity (ANLS), the metric of DocVQA and InfographicVQA.

Reference: EvalScope 1.14.1, `metrics/nlp/metrics.py:ANLS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from flagmm.metrics.edit_distance import edit_distance


def anls(prediction: str, answers: str | Sequence[str], *, threshold: float = 0.5) -> float:
    """Return 1 - edit distance / length of the longer text for the nearest answer, and 0 below `threshold`.

    Case and repeated white space do not count. Two empty texts score 1; no answers score 0.

    >>> anls("Pariss", ["Paris", "City of Paris"])
    0.8333...
    """
    if isinstance(answers, str):
        answers = (answers,)
    given = _normalized(prediction)
    best = max((_similarity(given, _normalized(answer), threshold) for answer in answers), default=0.0)
    return best if best >= threshold else 0.0


def _normalized(text: str) -> str:
    return " ".join(text.lower().split())


def _similarity(first: str, second: str, threshold: float) -> float:
    longer = max(len(first), len(second))
    if longer == 0:
        return 1.0
    if 1 - abs(len(first) - len(second)) / longer < threshold:
        return 0.0  # the lengths alone are too far apart; spares the work for rambling replies
    return 1 - edit_distance(first, second) / longer
