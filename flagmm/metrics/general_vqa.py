"""General-VQA's scores of a free answer: BLEU-1..4 and ROUGE-1/2/L with recall, precision and F1.

Reference: EvalScope 1.14.1, `evalscope/benchmarks/general_vqa/general_vqa_adapter.py`, which scores with nltk 3.10.4
and rouge-chinese 1.0.3. Two things differ from what the names suggest: bleu-n is the precision of the n-grams of that
one order (times the brevity penalty), not the mean over the orders up to n; and ROUGE-1 and ROUGE-2 compare sets, so
that repetition does not count. All values are fractions; they are rounded only in reports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from flagmm.metrics.general_vqa_tokens import tokenize_vqa
from flagmm.metrics.ngrams import count_overlap, lcs_length, list_ngrams

ORDERS = (1, 2, 3, 4)
MAIN_SCORE = "Rouge-L-R"
SCORE_NAMES = (
    *(f"bleu-{order}" for order in ORDERS),
    *(f"Rouge-{kind}-{side}" for kind in ("1", "2", "L") for side in "RPF"),
)
NO_SCORE = dict.fromkeys(SCORE_NAMES, 0.0)
"""The scores of what is no answer."""
METRIC_SCORES = {"bleu": "bleu-4", "rouge": "Rouge-L-F"}
"""Metric -> the key that EvalScope's report shows where it shows one value for the metric."""
_F1_GUARD = 1e-8  # the reference adds it to the divisor, so a perfect F1 is 0.999999995


def score_general_vqa(prediction: str, reference: str) -> dict[str, float]:
    """Return `bleu-1` to `bleu-4` and `Rouge-{1,2,L}-{R,P,F}` of one answer.

    An empty or blank text on either side gives 0 everywhere. Where no n-gram of an order matches, the reference has
    2.2e-308 for that BLEU; here it is 0.
    """
    given, wanted = tokenize_vqa(prediction), tokenize_vqa(reference)
    return score_bleu_orders(given.bleu, wanted.bleu) | score_rouge(given.rouge, wanted.rouge)


def score_bleu_orders(given: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """Return `bleu-n`, n = 1 to 4: the clipped precision of the n-grams of that order, times the brevity penalty."""
    penalty = _brevity_penalty(len(given), len(wanted))
    scores = {}
    matches = len(given)
    for order in ORDERS:
        # Without a match of one order there is none of the next.
        matches = count_overlap(list_ngrams(given, order), list_ngrams(wanted, order)) if matches else 0
        scores[f"bleu-{order}"] = penalty * matches / max(1, len(given) - order + 1)
    return scores


def score_rouge(given: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """Return recall, precision and F1 of the single tokens, the pairs, and the longest common subsequence."""
    scores: dict[str, float] = {}
    for order in (1, 2):
        given_ngrams, wanted_ngrams = set(list_ngrams(given, order)), set(list_ngrams(wanted, order))
        shared = len(given_ngrams & wanted_ngrams)
        scores |= _rouge_values(f"Rouge-{order}", shared, len(given_ngrams), len(wanted_ngrams))
    return scores | _rouge_values("Rouge-L", lcs_length(wanted, given), len(given), len(wanted))


def aggregate_general_vqa(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every key over the answers; no answers give no keys."""
    totals: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for score in scores:
        counts.update(score.keys())
        for key, value in score.items():
            totals[key] = totals.get(key, 0.0) + value
    return {key: total / counts[key] for key, total in totals.items()}


def _brevity_penalty(given: int, wanted: int) -> float:
    if given == 0:
        return 0.0
    return 1.0 if given > wanted else math.exp(1 - wanted / given)


def _rouge_values(name: str, shared: int, given: int, wanted: int) -> dict[str, float]:
    recall = shared / wanted if wanted else 0.0
    precision = shared / given if given else 0.0
    f1 = 2 * precision * recall / (precision + recall + _F1_GUARD)
    return {f"{name}-R": recall, f"{name}-P": precision, f"{name}-F": f1}
