"""The letters of options."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.metrics.option_labels import option_labels


@pytest.mark.parametrize(
    ("count", "last"),
    [(1, "A"), (2, "B"), (26, "Z"), (27, "AA"), (28, "AB"), (52, "AZ"), (53, "BA"), (702, "ZZ"), (703, "AAA")],
)
def test_labels_go_on_as_columns_of_a_spreadsheet(count, last):
    assert option_labels(count)[-1] == last


def test_no_options_have_no_labels():
    assert option_labels(0) == []


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1500), st.integers(0, 1500))
def test_labels_are_unique_and_do_not_depend_on_how_many_follow(count, other):
    labels = option_labels(count)
    assert len(set(labels)) == len(labels) == count
    assert option_labels(other)[:count] == labels[:other]
    assert labels == sorted(labels, key=lambda label: (len(label), label))
