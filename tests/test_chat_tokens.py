"""What is left of a reply when the tokens of chat templates around it are gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.chat_tokens import strip_chat_tokens

ENDS = [
    *("<|im_end|>", "<|endoftext|>", "</s>", "<|eot_id|>", "<|end|>", "<eos>", "<end_of_turn>", "<|return|>", "<pad>"),
    *("<｜end▁of▁sentence｜>", "<|end_of_text|>", "<|END_OF_TURN_TOKEN|>", "<|eot|>", "<|eom_id|>", "[/INST]", "[EOS]"),
    *("<|user|>", "[UNUSED_TOKEN_145]", "<|end_of_turn|>", "<|end_of_sentence|>", "<eoa>", "<end_of_utterance>"),
]
STARTS = [
    *("<|im_start|>assistant\n", "<s>", "<bos>", "<|assistant|>", "<start_of_turn>model\n", "[/INST] ", "<s> [/INST]"),
    *("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|begin_of_text|>", "<｜Assistant｜>", "<|im_start|>"),
    *("<|header_start|>assistant<|header_end|>\n\n", "<|start|>assistant<|channel|>final<|message|>"),
    "<|channel|>analysis<|message|>2010?<|end|><|start|>assistant<|channel|>final<|message|>",
]


@pytest.mark.parametrize("end", ENDS)
def test_a_token_at_the_end_goes(end):
    assert strip_chat_tokens(f"2011{end}") == strip_chat_tokens(f"2011 {end}\n{end}\n") == "2011"


@pytest.mark.parametrize("start", STARTS)
def test_a_token_at_the_start_goes(start):
    assert strip_chat_tokens(f"{start}2011") == strip_chat_tokens(f"{start}2011<|im_end|>") == "2011"


@pytest.mark.parametrize("start", ["<|im_start|>user\n", "<|start_header_id|>user<|end_header_id|>", "<|user|>"])
def test_somebody_elses_turn_is_no_part_of_the_reply(start):
    assert strip_chat_tokens(f"2011<|im_end|>\n{start}And 2012?") == "2011"


@pytest.mark.parametrize(
    "text",
    [
        *("2011", " 2011\n", "a < b", "[1, 2]", "The token <|im_end|> ends a turn.", "a <s>old</s> new", "<|x|>"),
        *("<|begin_of_box|>5<|end_of_box|>", "<think>2010?</think>2011", "p</sub>", "", "<|im_end|> ends a turn"),
    ],
)
def test_all_else_stays_as_it_is(text):
    assert strip_chat_tokens(text) == text


@pytest.mark.parametrize("text", ["<|im_end|>", "</s></s>", "<|im_start|>assistant\n<|im_end|>"])
def test_nothing_but_tokens_is_an_empty_reply(text):
    assert strip_chat_tokens(text) == ""


@given(st.text(), st.lists(st.sampled_from(ENDS), min_size=1, max_size=3))
def test_a_reply_reads_as_if_the_server_had_left_no_tokens(text, ends):
    assert strip_chat_tokens(text + "".join(ends)).strip() == strip_chat_tokens(text).strip()
