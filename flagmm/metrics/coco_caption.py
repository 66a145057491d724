"""The scores of COCO captions: BLEU-1..4, ROUGE-L and CIDEr.

Reference: pycocoevalcap 1.2, `bleu/bleu_scorer.py` (closest reference length), `rouge/rouge.py` and
`cider/cider_scorer.py`, over its Penn Treebank tokens. BLEU belongs to all images together; ROUGE-L and CIDEr are means
over the images. CIDEr weighs an n-gram by how few images have it in their references, so it needs all images too, and
is 0 for one image alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flagmm.metrics.ngrams import lcs_length, list_ngrams
from flagmm.metrics.ptb_tokenizer import tokenize_caption

ORDERS = (1, 2, 3, 4)
_TINY, _SMALL = 1e-15, 1e-9  # what the reference adds, so that it never divides by 0
_ROUGE_BETA = 1.2
_CIDER_SIGMA = 6.0


@dataclass(frozen=True, kw_only=True)
class CaptionScores:
    """The scores of a set of captions; `corpus` is empty where there are no images."""

    corpus: dict[str, float]
    """`Bleu_1` to `Bleu_4`, `ROUGE_L`, `CIDEr`; fractions, but CIDEr goes up to 10."""
    images: list[dict[str, float]]
    """The same keys for each image, in the order given."""


@dataclass(frozen=True, kw_only=True)
class _Matches:
    """What BLEU counts, of one image or of many."""

    given: int
    wanted: int
    """Length of the reference whose length is nearest, of two equally near ones the shorter."""
    correct: tuple[int, ...]
    total: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Vector:
    """A caption as CIDEr sees it: for each order the weights of its n-grams and their norm."""

    weights: list[dict[Hashable, float]]
    norms: list[float]
    length: int


def score_captions(captions: Iterable[tuple[str, Sequence[str]]]) -> CaptionScores:
    """Score generated captions, each against the references of its image.

    Args:
        captions: for each image the caption and its references.

    An empty caption scores 0, and so does an image without references (the reference implementation stops there).
    """
    images = [(tokenize_caption(given), [tokenize_caption(text) for text in wanted]) for given, wanted in captions]
    if not images:
        return CaptionScores(corpus={}, images=[])
    matches = [_count_matches(_words(given), [_words(text) for text in wanted]) for given, wanted in images]
    scores = [
        {**_bleu(counts), "ROUGE_L": _rouge_l(given, wanted), "CIDEr": cider}
        for counts, (given, wanted), cider in zip(matches, images, _cider(images), strict=True)
    ]
    means = {key: math.fsum(score[key] for score in scores) / len(scores) for key in ("ROUGE_L", "CIDEr")}
    return CaptionScores(corpus={**_bleu(_add_up(matches)), **means}, images=scores)


def _words(tokens: Sequence[str]) -> list[str]:
    return " ".join(tokens).split()  # a token with a no-break space is several words here


def _count_matches(given: Sequence[str], references: Sequence[Sequence[str]]) -> _Matches:
    lengths = [len(reference) for reference in references]
    correct = []
    for order in ORDERS:
        most: Counter[Hashable] = Counter()
        for reference in references:
            most |= Counter(list_ngrams(reference, order))
        correct.append((Counter(list_ngrams(given, order)) & most).total())
    return _Matches(
        given=len(given),
        wanted=min(lengths, key=lambda length: (abs(length - len(given)), length), default=0),
        correct=tuple(correct),
        total=tuple(max(0, len(given) - order + 1) for order in ORDERS),
    )


def _add_up(matches: Sequence[_Matches]) -> _Matches:
    return _Matches(
        given=sum(counts.given for counts in matches),
        wanted=sum(counts.wanted for counts in matches),
        correct=tuple(map(sum, zip(*(counts.correct for counts in matches), strict=True))),
        total=tuple(map(sum, zip(*(counts.total for counts in matches), strict=True))),
    )


def _bleu(counts: _Matches) -> dict[str, float]:
    ratio = (counts.given + _TINY) / (counts.wanted + _SMALL)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product = 1.0
    scores = {}
    for order, correct, total in zip(ORDERS, counts.correct, counts.total, strict=True):
        product *= (correct + _TINY) / (total + _SMALL)
        scores[f"Bleu_{order}"] = product ** (1 / order) * penalty
    return scores


def _rouge_l(given: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Return the F value of the best precision and the best recall, which may come from different references."""
    given = given or ("",)  # the reference splits at single spaces, so an empty caption is one empty token
    wanted = [reference or ("",) for reference in references]
    shared = [lcs_length(given, reference) for reference in wanted]
    precision = max(shared, default=0) / len(given)
    recall = max((length / len(reference) for length, reference in zip(shared, wanted, strict=True)), default=0.0)
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + _ROUGE_BETA**2) * precision * recall / (recall + _ROUGE_BETA**2 * precision)


def _cider(images: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> list[float]:
    frequency = _count_documents(references for _, references in images)
    log_images = math.log(len(images))
    idf = {ngram: log_images - math.log(count) for ngram, count in frequency.items()}
    scores = []
    for given, references in images:
        vector = _weigh(given, idf, log_images)
        similar = [_similarity(vector, _weigh(reference, idf, log_images)) for reference in references]
        scores.append(10 * sum(similar) / max(1, len(similar)))
    return scores


def _count_documents(documents: Iterable[Sequence[Sequence[str]]]) -> Counter[Hashable]:
    """Count in how many images' references each n-gram occurs."""
    frequency: Counter[Hashable] = Counter()
    for references in documents:
        words = [_words(reference) for reference in references]
        frequency.update({ngram for text in words for order in ORDERS for ngram in list_ngrams(text, order)})
    return frequency


def _weigh(tokens: Sequence[str], idf: Mapping[Hashable, float], unknown: float) -> _Vector:
    words = _words(tokens)
    weights = [
        {ngram: count * idf.get(ngram, unknown) for ngram, count in Counter(list_ngrams(words, order)).items()}
        for order in ORDERS
    ]
    norms = [math.sqrt(sum(weight * weight for weight in order.values())) for order in weights]
    return _Vector(weights=weights, norms=norms, length=max(0, len(words) - 1))


def _similarity(given: _Vector, wanted: _Vector) -> float:
    """Return the mean over the orders of the clipped cosine, less for captions of different length."""
    total = 0.0
    for left, right, left_norm, right_norm in zip(
        given.weights, wanted.weights, given.norms, wanted.norms, strict=True
    ):
        product = sum(min(left[ngram], right[ngram]) * right[ngram] for ngram in left.keys() & right.keys())
        if left_norm and right_norm:
            total += product / (left_norm * right_norm)
    difference = given.length - wanted.length
    return total / len(ORDERS) * math.exp(-(difference**2) / (2 * _CIDER_SIGMA**2))
