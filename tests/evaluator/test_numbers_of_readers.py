"""Bounds, grouped digits and signs, in every metric that reads numbers with care."""

from __future__ import annotations

import pytest

from flagmm.evaluator.metric import build_metric
from flagmm.extraction import extract_number

READERS = {
    "mmmu": {"question_type": "open"},
    "mathvista": {"answer_type": "integer"},
    "mean_relative_accuracy": {},
    "typed_open": {"answer_type": "integer"},
    "fill_blank": {},
    "mathvision": {},
    "math_equal": {},
    "by_type": {"question_type": "fill-blank"},
}


def correct(name, reply, answer):
    settings = {} if name == "by_type" else {"rule": "careful"}
    metric = build_metric({"type": name, **settings}, where="t")
    return metric.score(reply, {**READERS[name], "answer": answer}).correct


BOUNDS = [
    *(">42", "> 42", "≥42", "≤ 42", "at least 42", "at most 42", "more than 42", "no fewer than 42", "up to 42"),
    *(
        "over 42",
        "42+",
        "42 or more",
        "不少于42",
        "至少42",
        "超过42",
        "42以上",
        "The answer is at least 42.",
        "**>42**",
    ),
    "\\geq 42",
]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("reply", BOUNDS)
def test_a_bound_is_not_the_number(name, reply):
    assert correct(name, reply, "42") == 0


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("gap", [" ", "\u2009", "\u00a0", "\u202f", "'", "’", ","])
def test_grouped_digits_are_one_number(name, gap):
    reply = f"The answer is 1{gap}000."
    assert correct(name, reply, "1") == 0
    assert correct(name, reply, "1000") == 1
    assert correct(name, f"1{gap}000", "1") == 0


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("sign", ["-", "−", "–", "‑", "－"])
def test_a_sign_stays_whatever_dash_it_is(name, sign):
    for reply in (f"{sign}5", f"The answer is {sign}5."):
        assert correct(name, reply, "-5") == 1
        assert correct(name, reply, "5") == 0


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("at least 40, in fact 42", 42),
        ("3–5", None),
        ("42 cm", 42),
        ("12 345 678", 12345678),
        ("=> 42", 42),
        ("-> 42", 42),
        ("more than 40, so the answer is 42", 42),
        ("10 20", 10),
        ("1 0000", 1),
    ],
)
def test_what_only_looks_like_a_bound_or_a_group_is_none(reply, number):
    assert extract_number(reply).value == number


HOLDING = {"ocrbench": {"rule": "careful"}, "vlmevalkit_vqa": {"match": "inclusion"}}


def holds(name, reply, answer):
    metric = build_metric({"type": name, **HOLDING[name]}, where="t")
    return metric.score(reply, {"answer": [answer]}).correct


@pytest.mark.parametrize("name", HOLDING)
@pytest.mark.parametrize("reply", [*BOUNDS, "It is more than 42 in all.", "x > 42", "-42", "It is -42.", "（−42）"])
def test_a_number_does_not_stand_in_its_bound_or_its_negative(name, reply):
    assert holds(name, reply, "42") == 0


@pytest.mark.parametrize("name", HOLDING)
@pytest.mark.parametrize("gap", [" ", "\u2009", "\u00a0", "\u202f", "'", ","])
def test_a_number_does_not_stand_in_grouped_digits(name, gap):
    assert holds(name, f"It is 1{gap}000 in all.", "1") == holds(name, f"It is 1{gap}000 in all.", "000") == 0


@pytest.mark.parametrize("name", HOLDING)
@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("It is 42 in all.", "42"), ("At least 40, in fact 42.", "42"), ("1 000 m", "1000"), ("1 000 m", "1 000"),
        ("-42", "-42"), ("=> 42", "42"), ("> 42", "> 42"), ("42.", "42"), ("40, 42", "42"), ("- a cat", "a cat"),
        ("over the moon", "the moon"),
    ],
)  # fmt: skip
def test_what_is_said_stands_in_what_says_it(name, reply, answer):
    assert holds(name, reply, answer) == 1


@pytest.mark.parametrize("reply", [*BOUNDS[:13], "1 000", "-42"])
def test_bounds_and_groups_are_not_near_a_number(reply):
    metric = build_metric({"type": "relaxed_accuracy", "rule": "careful"}, where="t")
    assert metric.score(reply, {"answer": ["1" if reply == "1 000" else "42"]}).correct == 0
    assert metric.score("1 000", {"answer": ["1000"]}).correct == metric.score("−42", {"answer": ["-42"]}).correct == 1
