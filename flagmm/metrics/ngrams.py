"""What two sequences of words have in common: n-grams, and the longest common subsequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def list_ngrams(words: Sequence[str], order: int) -> Sequence[Hashable]:
    """Return the n-grams of `words` from left to right: the words themselves for order 1, else tuples."""
    if order == 1:
        return words
    return list(zip(*(words[start:] for start in range(order)), strict=False))


def count_overlap(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return how many items both have, each as often as in the one that has it less often."""
    left_set, right_set = set(left), set(right)
    shared = left_set & right_set
    if len(left_set) == len(left) or len(right_set) == len(right):
        return len(shared)
    left_counts, right_counts = Counter(left), Counter(right)
    return sum([min(left_counts[item], right_counts[item]) for item in shared])


def lcs_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel after Hyyrö (2004): bit i of `row` is 0 where the subsequence grows at `left[i]`. A row of the table
    is one integer, so 200 words against 200 take 200 steps and not 40,000.

    >>> lcs_length("a b c d".split(), "a c x d".split())
    3
    """
    if len(left) > len(right):  # the integers are as long as `left`
        left, right = right, left
    places: dict[str, int] = {}
    for place, word in enumerate(left):
        places[word] = places.get(word, 0) | 1 << place
    everywhere = row = (1 << len(left)) - 1
    for word in right:
        matches = row & places.get(word, 0)
        if matches:
            row = (row + matches | row - matches) & everywhere
    return len(left) - row.bit_count()
