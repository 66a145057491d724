"""Questions with several right options."""

import pytest

from flagmm.extraction import extract_choices

OPTIONS = ["a red kite", "a blue boat", "a green bus", "a grey dog"]


def reads(reply, options=OPTIONS, labels=None):
    labels = extract_choices(reply, options, labels=labels).value
    return None if labels is None else "".join(labels)


A_AND_C = [
    "AC", "CA", "A, C", "A,C", "A C", "A;C", "A+C", "A/C", "A & C", "A and C", "A、C", "A和C", "ac", "a, c",
    "(A)(C)", "(A), (C)", "[A, C]", "\\boxed{A, C}", "\\boxed{AC}", "A\nC", "Options A and C",
    "options (A) and (C)", "ANSWER: A, C", "ANSWER: A,\nC", "ANSWER: a, c", "ANSWER: $\\boxed{A, C}$",
    "ANSWER: A, C because of the colours", "The correct answers are A and C.",
    "Both A and C are right because dogs bark", "A is correct. B is wrong. C is correct.", "I choose A and C",
    "答案：A、C", "选AC", "故选：AC", "选择A，C", "A. a red kite\nC. a green bus", "A. a red kite, C. a green bus",
    "Answer:\nA. a red kite\nC. a green bus", "a red kite; a green bus", "a red kite and a green bus",
    "Answer: B\nWait.\nAnswer: A, C", "A, C but not D",
]  # fmt: skip


@pytest.mark.parametrize("reply", A_AND_C)
def test_several_labels_are_read_in_the_order_of_the_item(reply):
    assert reads(reply) == "AC"


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ("A", "A"),
        ("ANSWER: A, B, and C", "ABC"),
        ("ANSWER: AB,CD", "ABCD"),
        ("ANSWER: A,A", "A"),
        ("The answer is A and the reason is C.", "A"),
        ("a blue boat", "B"),
    ],
)
def test_as_many_labels_as_named_are_read(reply, labels):
    assert reads(reply) == labels


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "None of the above",
        "bad",
        "Not A",
        "ANSWER: A, B, C or D",
        "A, B, C or D",
        "ANSWER: A, E",
        "I am not sure",
        "无法判断",
    ],
)
def test_a_reply_that_commits_to_nothing_is_no_answer(reply):
    assert reads(reply) is None


def test_without_options_a_word_in_capitals_is_no_list_of_labels():
    assert [reads(reply, []) for reply in ("ANSWER: AC", "ANSWER: DOG", "ANSWER: NO")] == ["AC", None, None]
