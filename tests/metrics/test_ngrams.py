import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.ngrams import count_overlap, lcs_length, list_ngrams

WORDS = st.lists(st.sampled_from("abc"), max_size=12)


def lcs_by_table(left, right):
    row = [0] * (len(right) + 1)
    for word in left:
        before = 0
        for place, other in enumerate(right, start=1):
            before, row[place] = row[place], before + 1 if word == other else max(row[place], row[place - 1])
    return row[-1]


@pytest.mark.parametrize(
    ("order", "ngrams"),
    [(1, ["a", "b", "c"]), (2, [("a", "b"), ("b", "c")]), (3, [("a", "b", "c")]), (4, [])],
)
def test_ngrams_are_listed_from_left_to_right(order, ngrams):
    assert list(list_ngrams(["a", "b", "c"], order)) == ngrams


@pytest.mark.parametrize(
    ("left", "right", "overlap"),
    [("aab", "ab", 2), ("aab", "aaa", 2), ("abc", "xyz", 0), ("", "a", 0), ("aaaa", "aa", 2), ("abab", "baba", 4)],
)
def test_an_item_is_shared_as_often_as_the_side_that_has_it_less_often(left, right, overlap):
    assert count_overlap(left, right) == overlap
    assert count_overlap(right, left) == overlap


@given(WORDS, WORDS)
def test_the_overlap_is_that_of_the_multisets(left, right):
    assert count_overlap(left, right) == sum(min(left.count(word), right.count(word)) for word in set(left))


@given(WORDS, WORDS)
def test_the_longest_common_subsequence_is_as_long_as_the_table_says(left, right):
    assert lcs_length(left, right) == lcs_by_table(left, right)


def test_long_texts_need_no_table():
    assert lcs_length(["a", "b"] * 5_000, ["a", "c"] * 5_000) == 5_000
