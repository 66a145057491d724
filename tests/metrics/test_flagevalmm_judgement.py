"""Verdicts in judges' replies."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors

from flagmm.metrics.flagevalmm_judgement import read_judgement


@pytest.mark.parametrize("vector", vectors("flagevalmm_judgement"))
def test_verdicts_are_read_as_flagevalmm_reads_them_and_with_care(vector):
    response, expected = vector["input"]["response"], vector["expected"]
    assert (read_judgement(response, rule="reference") == "yes") == expected["correct"]
    assert (read_judgement(response, rule="reference") is None) == (expected["extracted"] == "[FAILED]")
    assert (read_judgement(response) == "yes") == vector.get("sensible", expected)["correct"]


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ('Judgment: "Yes"', "yes"), ("**Judgement**: **No**", "no"), ("Judgement：Yes", "yes"),
        ("JUDGEMENT: NO.", "no"),
        ("Judgement: Yes\nJudgement: No", "no"), ("Judgement: Nothing", None), ("Yes", None), ("", None),
    ],
)  # fmt: skip
def test_the_last_whole_word_verdict_counts(response, verdict):
    assert read_judgement(response) == verdict
