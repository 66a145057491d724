"""What holds for every text: no exception, no foreign label, no dependence on blanks around it, no slow regex."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.extraction import (
    extract_choice,
    extract_choices,
    extract_number,
    extract_short_answer,
    extract_yes_no,
    option_labels,
    strip_thinking,
)

OPTIONS = ["a red kite", "a blue boat", "3", "none of the above"]
PIECES = [
    "Answer:", "The answer is", "ANSWER", "答案：", "故选", "选项", "\\boxed{", "}", "(", ")", "A", "B", "C",
    "Z", "a", "I", "AB", " or ", " and ", ", ", ". ", "\n", "not ", "is correct", "option ", "<think>",
    "</think>", "<answer>", "**", "$", "\\text{", "a red kite", "blue boat", "3", "1,000", "-", "/", "²", "½",
    "yes", "no", "是", "不", "?", " ", "\t", "\x00", "\u200b", "İ", "ß", "😀", "\\frac{1}{2}",
]  # fmt: skip
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
EXTRACTORS = [
    pytest.param(lambda text: extract_choice(text, OPTIONS), id="choice"),
    pytest.param(lambda text: extract_choices(text, OPTIONS), id="choices"),
    pytest.param(extract_choice, id="choice_without_options"),
    pytest.param(extract_yes_no, id="yes_no"),
    pytest.param(extract_number, id="number"),
    pytest.param(extract_short_answer, id="short_answer"),
]
LONG = 100_000
LONG_PIECES = [
    "a", " ", "\n", ".", "-", "(", "<", "\\", '"', "。", "1,", "1/", "A, ", "(A) ", "Answer: ", "Answer: B\n",
    "answer to ", "i choose ", "option A ", "B is correct ", "yes no ", "the blue boat ", "\\boxed{", "\\text{",
    "<think>", "答案", "A. x\n", '"answer": ',
    "the answer is that we choose option B because it is not a blue boat. ",
]  # fmt: skip


@pytest.mark.parametrize("extract", EXTRACTORS)
@given(text=TEXTS)
def test_any_text_is_read_without_an_exception_and_the_same_with_blanks_around_it(extract, text):
    found = extract(text)
    assert (found.value is None) == (found.rule == "no_answer")
    assert extract(f"\n {text}\t\n") == found


@given(text=TEXTS, count=st.integers(1, 40))
def test_only_labels_of_the_item_are_read(text, count):
    labels = option_labels(count)
    options = [f"text {label}" for label in labels]
    assert extract_choice(text, options).value in {None, *labels}
    several = extract_choices(text, options).value or ()
    assert set(several) <= set(labels)
    assert list(several) == sorted(set(several), key=labels.index)


@given(text=TEXTS, thought=st.text(alphabet="AB .:\nanswer", max_size=20))
def test_thinking_before_the_reply_changes_nothing(text, thought):
    text = strip_thinking(text)
    assert extract_choice(f"<think>{thought}</think>{text}", OPTIONS) == extract_choice(text, OPTIONS)


@given(label=st.sampled_from("ABCD"), count=st.integers(0, 3), data=st.data())
def test_a_final_statement_outweighs_what_was_said_of_other_options(label, count, data):
    others = [other for other in "ABCD" if other != label]
    said = [
        "Option {} is wrong.",
        "({}) is not visible.",
        "I first considered {}.",
        "Maybe {}?",
        "Answer: {}",
        "排除{}。",
    ]
    lines = [data.draw(st.sampled_from(said)).format(data.draw(st.sampled_from(others))) for _ in range(count)]
    final = data.draw(
        st.sampled_from(["Answer: {}", "The answer is ({}).", "\\boxed{{{}}}", "故选：{}", "**Answer: {}**"])
    )
    assert extract_choice("\n".join([*lines, final.format(label)]), OPTIONS).value == label


@pytest.mark.parametrize("extract", [param for param in EXTRACTORS if not str(param.id).startswith("choice_")])
@pytest.mark.parametrize("piece", LONG_PIECES)
def test_a_long_reply_is_not_read_in_quadratic_time(extract, piece):
    reply = piece * (LONG // len(piece))
    started = time.process_time()
    extract(reply)
    assert time.process_time() - started < 10  # linear takes a second at most, quadratic many minutes
