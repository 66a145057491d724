"""What may stand between an announcement and its answer, and what joins the labels of a list, for all readers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.extraction import (
    extract_choice,
    extract_choices,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)
from flagmm.metrics.mathvision import mathvision_correct
from flagmm.metrics.mmmu_careful import states_gold
from flagmm.metrics.open_careful import open_statement

OPTIONS = ["a cat", "a dog", "a cow", "a hen"]
ANNOUNCEMENTS = [
    "**Answer:**\n\n{}",
    "The answer is:\n{}",
    "The answer is:\r\n{}",
    "Answer:\r\n\r\n{}\r\n",
    "**Final Answer**\n\n{}",
    "### Answer\n\n{}",
    "The final answer is:\n\n**{}**",
    "Answer:\n- {}",
    "Answer:\n> **{}**",
    "Answer:\n```\n{}\n```",
    "The answer is:\n\n$$\n{}\n$$",
    "Antwort:\n\n{}",
    "Réponse :\n{}",
    "**答案**：\n\n{}",
]


@pytest.mark.parametrize("announced", ANNOUNCEMENTS)
def test_every_reader_finds_an_announced_answer_on_a_later_line(announced):
    assert extract_short_answer(announced.format("red kite")).value == "red kite"
    assert extract_choice(announced.format("B"), OPTIONS).value == "B"
    assert extract_choice(announced.format("a dog"), OPTIONS).value == "B"
    assert extract_number(announced.format("42")).value == 42
    assert extract_yes_no(announced.format("No")).value == "no"


@pytest.mark.parametrize("announced", [each for each in ANNOUNCEMENTS if "answer" in each.lower()])
def test_so_do_the_readers_of_single_benchmarks(announced):
    assert open_statement(f"12 or 7?\n\n{announced.format('42')}").strip(" *") == "42"
    assert mathvision_correct(f"12 or 7?\n\n{announced.format('42')}", "42", rule="careful")
    assert states_gold(f"Is it 12 or 7?\n{announced.format('42')}", ["42"])


@pytest.mark.parametrize(
    "reply", ["ANSWER: A AND B", "BOTH A AND B", "(A) AND (B)", "A as well as B", "Antwort: A und B"]
)
def test_connectors_are_known_in_any_case(reply):
    assert extract_choices(reply, OPTIONS).value == ("A", "B")
    assert extract_choice(reply, OPTIONS).value is None


AND = [*"and AND And & und UND et y e и dan ve và plus sowie 和 与 以及 及 と 와".split(), "as well as"]  # noqa: SIM905
COMMA = [", ", ",", "; ", "、", "，"]
UNKNOWN = ["kaj", "samt", "ac"]


@st.composite
def lists(draw, joints):
    chosen = draw(st.lists(st.sampled_from("ABCD"), min_size=2, max_size=4, unique=True))
    dress = draw(st.sampled_from(["{}", "({})", "**{}**", "[{}]"]))
    items = [dress.format(label) for label in chosen]
    joint, comma = draw(st.sampled_from(joints)), draw(st.sampled_from(COMMA))
    before_last = draw(st.sampled_from([f" {joint} ", f"{comma.strip()} {joint} "]))
    frame = draw(st.sampled_from(["{}", "{}.", "Answer: {}", "The answers are {}.", "**Answer:**\n\n{}", "答案：{}"]))
    return tuple(sorted(chosen)), frame.format(comma.join(items[:-1]) + before_last + items[-1])


@settings(deadline=None)
@given(lists(AND))
def test_a_list_is_read_whole(case):
    chosen, reply = case
    assert extract_choices(reply, OPTIONS).value == chosen
    assert extract_choice(reply, OPTIONS).value is None


@settings(deadline=None)
@given(lists(UNKNOWN))
def test_a_list_with_an_unknown_connector_is_read_whole_or_not_at_all(case):
    chosen, reply = case
    assert extract_choices(reply, OPTIONS).value in (chosen, None)
    assert extract_choice(reply, OPTIONS).value is None


def test_a_list_with_a_letter_that_no_option_has_says_nothing():
    assert extract_choices("A, B AND D or C", OPTIONS[:3]).value is None
    assert extract_choices("A, B AND X", OPTIONS[:3]).value is None


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("It looks like a cow, so the choice is C.", "C"),
        ("It has horns, thus the option must be (C).", "C"),
        ("The choice is clear from the picture.", None),
        ("D'accord, B", "B"),
        ("Sure, B.", "B"),
        ("Not A, B", None),
        ("Vitamin A, B", None),
    ],
)
def test_the_choice_and_a_word_of_agreement_announce_a_label(reply, label):
    assert extract_choice(reply, OPTIONS).value == label


@pytest.mark.parametrize(
    ("reply", "labels"),
    [("AAC", ("A", "C")), ("AACC", ("A", "C")), ("AC", ("A", "C")), ("CAC", ("A", "C")), ("A, A, C", ("A", "C"))],
)
def test_a_letter_said_twice_counts_once(reply, labels):
    assert extract_choices(reply, OPTIONS).value == labels


@pytest.mark.parametrize("reply", ["It is, yes?no", "Yes? No."])
def test_yes_that_is_taken_back_at_once_is_no_answer(reply):
    assert extract_yes_no(reply).value is None
