"""MMMU-Pro's parser; the expected letters are what the official script gives, odd ones included."""

from __future__ import annotations

import pytest

from flagmm.metrics.mmmu_pro import parse_pro_choice

TEN = dict(zip("ABCDEFGHIJ", [f"king {number}" for number in range(1, 11)], strict=True))


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param("C", "C", id="a letter"),
        pytest.param("C.", "C", id="a letter and a point"),
        pytest.param("C. king 3", "C", id="a letter before its text"),
        pytest.param("Answer: (H)", "H", id="stated in brackets"),
        pytest.param("(A) and (B) fail.\n\nAnswer: G", "G", id="stated after others"),
        pytest.param("Answer: A\nNo. Answer: B", "B", id="stated twice"),
        pytest.param("(D) it is. Answer: A or B", "D", id="two stated: the brackets"),
        pytest.param("Answer: none", None, id="nothing stated"),
        pytest.param("First (A), then (C), last (B)", "B", id="the last brackets"),
        pytest.param("Not A but C or so", "C", id="the last lone letter"),
        pytest.param("J. A king of old", "A", id="odd: a space beats a point"),
        pytest.param("I'm sorry. I can't help.", "I", id="odd: the pronoun is an option"),
        pytest.param("From DNA we know", "A", id="odd: the end of a word"),
        pytest.param("B.? or C.?", "B", id="odd: of letters with points the first"),
        pytest.param("It must have been King 7, long ago", "G", id="an option's text in six words"),
        pytest.param("it was king 7", None, id="an option's text in few words"),
        pytest.param("perhaps king 2, or rather king 4 of them", "D", id="the last option's text"),
        pytest.param("", None, id="empty"),
    ],
)
def test_the_letter_is_the_official_one(response, expected):
    assert parse_pro_choice(response, TEN) == expected


def test_labels_without_texts_are_read_by_letter_only():
    assert parse_pro_choice("the second of all the many kings", {"A": "", "B": ""}) is None
    assert parse_pro_choice("(B)", {"A": "", "B": ""}) == "B"
