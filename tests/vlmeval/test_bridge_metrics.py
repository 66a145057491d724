"""What VLMEvalKit's `evaluate` returns, as flat names with percentages."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.vlmeval.bridge.metrics import convert, flatten

FRAME = pd.DataFrame({"split": ["dev", "test"], "Overall": [0.5, 0.25], "logic": [1.0, np.nan]})
NESTED = st.recursive(
    st.floats(0, 1) | st.integers(0, 1) | st.text(max_size=3) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        pytest.param(FRAME, {"split=dev|Overall": 0.5, "split=dev|logic": 1, "split=test|Overall": 0.25}, id="table"),
        pytest.param(pd.DataFrame({"Overall": ["12.5"]}), {"Overall": 12.5}, id="numbers as texts"),
        pytest.param(pd.DataFrame({"a": ["x", "x"], "n": [1, 2]}), {"a=x|n": 1, "a=x|n#1": 2}, id="rows of one name"),
        pytest.param(pd.DataFrame({"a": [None], "n": [1]}), {"n": 1}, id="empty text cell"),
        pytest.param({"a": {"b": 1}, "c": [0.5]}, {"a|b": 1, "c": 0.5}, id="nested"),
        pytest.param({"a": [1, 2]}, {"a|0": 1, "a|1": 2}, id="list"),
        pytest.param([{"a": 1}, {"a": 2}], {"0|a": 1, "1|a": 2}, id="list of dicts"),
        pytest.param({"t": FRAME.head(1)}, {"t|split=dev|Overall": 0.5, "t|split=dev|logic": 1}, id="table in a dict"),
        pytest.param({"a": np.float32(0.5), "b": np.int64(3), "c": True, "d": "x", "e": None}, {"a": 0.5, "b": 3},
                     id="kinds of numbers"),
        pytest.param(0.5, {"value": 0.5}, id="a number"),
        pytest.param({"": 1}, {"value": 1}, id="no name"),
        pytest.param(None, {}, id="nothing"),
        pytest.param(pd.DataFrame(), {}, id="empty table"),
        pytest.param({"a": float("inf"), "b": float("nan"), "c": 10**400}, {}, id="no finite number"),
    ],
)  # fmt: skip
def test_numbers_get_flat_names(returned, expected):
    assert flatten(returned) == expected


@given(NESTED)
def test_anything_is_flattened_to_finite_numbers(returned):
    assert all(math.isfinite(value) and name for name, value in flatten(returned).items())


@pytest.mark.parametrize(
    ("returned", "reported", "percent", "scale"),
    [
        pytest.param({"x": 0.5}, {"Overall Acc": 50.0}, {"Overall Acc": 50, "x": 50}, "shares, by the primary metric",
                     id="reported as percent"),
        pytest.param({"x": 0.5}, {"Overall Acc": 0.5}, {"Overall Acc": 0.5, "x": 0.5},
                     "as returned, by the primary metric", id="reported as it is, in percent already"),
        pytest.param({"x": 0.5}, {"x": 0.5}, {"x": 50}, "shares, by the numbers", id="reported under the same name"),
        pytest.param({"Overall": 62.5, "n": 0.1}, None, {"Overall": 62.5, "n": 0.1}, "as returned, by the numbers",
                     id="percentages"),
        pytest.param({"Overall": 0.0}, {"Overall Acc": 0.0}, {"Overall Acc": 0, "Overall": 0}, "shares, by the numbers",
                     id="zero tells nothing"),
        pytest.param({"Final Score": 800, "Text": 0.5}, {"Final Score": 800}, {"Final Score": 800, "Text": 0.5},
                     "as returned, by the numbers", id="points"),
        pytest.param({"acc": 100.0, "num_failed": 1}, {"Acc": 100.0}, {"Acc": 100, "acc": 100, "num_failed": 1},
                     "as returned, by the numbers", id="percentages, and a 1 that is none"),
        pytest.param({"Overall": 50.0, "rate": 0.5}, {"Acc": 50.0}, {"Acc": 50, "Overall": 50, "rate": 0.5},
                     "as returned, by the numbers", id="percentages, and half of something"),
        pytest.param({"acc": 0.5, "count": 40}, None, {"acc": 50, "count": 40}, "shares, by the numbers",
                     id="shares, and how many questions"),
        pytest.param({"acc": 0.5, "s|count": 1.0}, None, {"acc": 50, "s|count": 100}, "shares, by the numbers",
                     id="a category called count"),
        pytest.param({"acc": 0.5}, {}, {"acc": 50}, "shares, by the numbers", id="nothing reported"),
        pytest.param({"acc": 0.5}, {"acc": "n/a"}, {"acc": 50}, "shares, by the numbers", id="reported no number"),
    ],
)  # fmt: skip
def test_shares_become_percentages(returned, reported, percent, scale):
    metrics = convert(returned, reported)
    assert metrics.percent == pytest.approx(percent)
    assert metrics.scale == scale


def test_a_person_who_knows_is_believed():
    assert convert({"acc": 0.5}, None, shares=False).percent == {"acc": 0.5}
    assert convert({"acc": 1.5}, None, shares=True).percent == {"acc": 150}


@pytest.mark.parametrize(
    ("names", "primary"),
    [
        (["logic", "Overall"], "Overall"),
        (["split=dev|logic", "split=dev|Overall"], "split=dev|Overall"),
        (["n", "acc"], "acc"),
        (["f1", "total score"], "total score"),
        (["z", "y"], "z"),
    ],
)
def test_without_a_report_an_overall_score_stands_first(names, primary):
    assert next(iter(convert(dict.fromkeys(names, 0.5), None).percent)) == primary
