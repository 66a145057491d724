"""The content of LaTeX boxes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.latex_box import is_negated_box, last_box

PIECES = st.lists(st.sampled_from(["\\boxed{", "\\fbox {", "{", "}", "\\{", "\\}", "x", "-"]), max_size=20)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("\\boxed{5}", "5"),
        ("\\boxed{5} then \\boxed{6}", "6"),
        ("\\boxed{\\frac{1}{2}}}", "\\frac{1}{2}"),
        ("\\fbox {\\{1\\}}", "\\{1\\}"),
        ("\\boxed{5} and \\boxed{6", "5"),
        ("\\boxed{a\\boxed{b}c}", "b"),
        ("\\boxed{}", ""),
        ("\\boxed{5", None),
        ("boxed", None),
        ("", None),
    ],
)
def test_the_last_closed_box_counts(text, content):
    assert last_box(text) == content


@pytest.mark.parametrize(
    ("text", "negated"), [("-\\boxed{1}", True), ("$- \\boxed{1}$", True), ("\\boxed{-1}", False), ("-1", False)]
)
def test_a_minus_before_the_box_is_seen(text, negated):
    assert is_negated_box(text) == negated


@given(PIECES.map("".join))
def test_a_content_is_part_of_any_text(text):
    content = last_box(text)
    assert content is None or f"{{{content}}}" in text
