"""Annotations kept as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.dataset.compact import CompactAnnotations, CompactById

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=5))
def test_what_goes_in_comes_out(annotations):
    compact = CompactAnnotations(annotations, common={"data_root": "/data"})
    expected = [{**item, "data_root": "/data"} for item in annotations]
    assert list(compact) == expected
    assert compact[1:] == expected[1:]
    assert len(compact) == len(annotations)


def test_each_look_makes_a_new_dict():
    compact = CompactAnnotations([{"question_id": 1, "options": ["a"]}], common={})
    compact[0]["options"].append("b")
    assert compact[0] == {"question_id": 1, "options": ["a"]}
    assert compact[-1] == compact[0]
    with pytest.raises(IndexError):
        compact[1]


def test_what_json_does_not_know_is_refused():
    with pytest.raises(ValueError, match="unmarshallable"):
        CompactAnnotations([{"question_id": object()}], common={})


def by_id(count=5):
    return CompactById(CompactAnnotations([{"question_id": number} for number in range(count)], common={"root": "r"}))


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 0, 1], [4, 3, 3, 0], [0, 2, 4], [1], [0, 0, 1]])
def test_annotations_are_found_by_id_in_any_order(order):
    found = by_id()
    assert [found[str(number)] for number in order] == [{"question_id": number, "root": "r"} for number in order]


@pytest.mark.parametrize("count", [0, 5])
def test_an_unknown_id_is_not_found(count):
    found = by_id(count)
    assert "9" not in found
    assert found.get("9") is None
    assert list(found) == [str(number) for number in range(count)]
    assert len(found) == count
