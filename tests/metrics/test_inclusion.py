from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.inclusion import includes


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("It is a Cat.", "cat", True),
        ("concatenate", "cat", False),
        ("2,5 cm", "5", True),
        ("420", "42", False),
        ("一只猫", "猫", True),
        ("ＣＡＴ", "cat", True),
        ("C++ (language)", "c++", True),
        ("снег идёт", "снег", True),
        ("снеговик", "снег", False),
        ("cat", "", False),
        ("", "cat", False),
    ],
)
def test_a_reference_stands_in_a_text_as_whole_words(text, wanted, found):
    assert includes(text, [wanted]) is found


@given(st.text(), st.text(alphabet="abc 猫", min_size=1))
def test_a_text_of_its_own_between_spaces_is_found_if_it_says_anything(before, wanted):
    assert includes(f"x {wanted} x", [wanted]) is bool(wanted.strip())
    assert includes(before, [before]) in (True, False)
