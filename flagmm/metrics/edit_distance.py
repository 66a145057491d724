"""The edit distance (Levenshtein) of two texts."""

from __future__ import annotations

from collections import defaultdict


def edit_distance(first: str, second: str) -> int:
    """Return how many characters must be inserted, deleted or replaced to turn `first` into `second`.

    Myers' bit vectors (1999) in Hyyrö's form: one long integer holds a whole column of the usual table, so that long
    texts cost little.

    >>> edit_distance("kitten", "sitting")
    3
    """
    if len(first) > len(second):  # the integers are as long as `first`
        first, second = second, first
    if not first:
        return len(second)
    places: defaultdict[str, int] = defaultdict(int)
    for place, letter in enumerate(first):
        places[letter] |= 1 << place
    full, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    rises, falls, distance = full, 0, len(first)
    for letter in second:
        equal = places.get(letter, 0)
        straight = equal | falls
        carried = (((equal & rises) + rises) ^ rises) | equal
        up = falls | (full & ~(carried | rises))
        down = rises & carried
        distance += bool(up & last) - bool(down & last)
        up, down = (up << 1) | 1, down << 1
        rises = full & (down | ~(straight | up))
        falls = full & up & straight
    return distance
