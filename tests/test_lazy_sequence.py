"""Sequences whose items are made when they are looked at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.lazy_sequence import LazySequence

BOUNDS = st.none() | st.integers(-8, 8)


class Doubled(LazySequence[int]):
    def __init__(self, count):
        self._count = count

    def __len__(self):
        return self._count

    def at(self, number):
        assert 0 <= number < self._count
        return 2 * number


@given(st.integers(0, 6), st.slices(6) | st.builds(slice, BOUNDS, BOUNDS))
def test_slices_are_those_of_a_list(count, part):
    assert Doubled(count)[part] == [2 * number for number in range(count)][part]


def test_items_count_from_either_end():
    assert (Doubled(3)[0], Doubled(3)[-1], list(Doubled(3)), 4 in Doubled(3)) == (0, 4, [0, 2, 4], True)


@pytest.mark.parametrize("index", [3, -4])
def test_an_item_that_is_not_there_raises(index):
    with pytest.raises(IndexError):
        Doubled(3)[index]
