"""Thinking apart from the answer."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.thinking import split_thinking

OFTEN = settings(max_examples=60, deadline=None)
TAGS = ("<think>", "</think>", "<thinking>", "</thinking>")
WORDS = "AB1"  # letters that no tag has
REPLIES = st.lists(st.sampled_from(TAGS) | st.text(WORDS + " \n", max_size=6)).map("".join)


@pytest.mark.parametrize(
    ("reply", "answer", "reason"),
    [
        pytest.param("Blue", "Blue", "", id="no thinking"),
        pytest.param(" Blue\n", " Blue\n", "", id="untouched without thinking"),
        pytest.param("<think>red or blue?</think>Blue", "Blue", "red or blue?", id="one block"),
        pytest.param("<think>\na\n</think>\n\nB\n", "B", "a", id="blanks around"),
        pytest.param("<thinking>a</thinking>B", "B", "a", id="the other tag"),
        pytest.param("<think>a</think>B<think>c</think>D", "BD", "a\nc", id="two blocks"),
        pytest.param("a</think>B", "B", "a", id="opened by the template"),
        pytest.param("a</think>B<think>c</think>D", "BD", "a\nc", id="opened by the template, then a block"),
        pytest.param("<think>a", "", "a", id="never closed"),
        pytest.param("B<think>a", "B", "a", id="answer before unclosed thinking"),
        pytest.param("<think>a</think>B<think>c", "B", "a\nc", id="a block, then unclosed"),
        pytest.param("<think>a<think>b</think>C", "C", "a<think>b", id="opened twice"),
        pytest.param("<think>a<think>b</think>c</think>D", "D", "a<think>b\nc", id="nested"),
        pytest.param("x<think>a</think>b</think>C", "C", "a\nxb", id="closed twice: what came before is thinking"),
        pytest.param("<think>a</thinking>B", "B", "a", id="closed by the other tag"),
        pytest.param("<think></think>B", "B", "", id="empty thinking"),
        pytest.param("</think>", "", "", id="a closing tag alone"),
        pytest.param("I <thin> think", "I <thin> think", "", id="other tags"),
        pytest.param("if a<think then", "if a<think then", "", id="no whole tag"),
    ],
)
def test_thinking_is_split_from_the_answer(reply, answer, reason):
    assert split_thinking(reply) == (answer, reason)


@OFTEN
@given(REPLIES)
def test_no_thinking_is_left_in_the_answer(reply):
    answer, _ = split_thinking(reply)
    assert not any(tag in answer for tag in TAGS)


@OFTEN
@given(st.text(st.characters()))
def test_any_text_can_be_split(text):
    answer, reason = split_thinking(text)
    assert len(answer) + len(reason) <= len(text)


@OFTEN
@given(REPLIES)
def test_no_word_of_a_reply_is_lost(reply):
    answer, reason = split_thinking(reply)
    assert sorted(filter(WORDS.__contains__, answer + reason)) == sorted(filter(WORDS.__contains__, reply))


@OFTEN
@given(
    st.text(st.characters(blacklist_characters="<"), max_size=20),
    st.text(st.characters(blacklist_characters="<"), max_size=20),
)
def test_a_whole_block_is_always_split_at_its_end(thought, answer):
    assert split_thinking(f"<think>{thought}</think>{answer}") == (answer.strip(), thought.strip())


@pytest.mark.parametrize("piece", [*TAGS, "<think>a</think>", "<think", "</think>x<think>"])
def test_a_model_stuck_on_a_tag_costs_no_time(piece):
    started = time.perf_counter()
    split_thinking(piece * 20_000)
    assert time.perf_counter() - started < 20
