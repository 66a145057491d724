"""Chinese words; the expected values are those of jieba 0.42.1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.chinese_words import has_chinese, split_chinese_words


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("", False),
        ("cat", False),
        ("café", False),
        ("a 猫", True),
        ("一", True),
        ("龥", True),
        ("龦", False),
        ("ねこ", False),
    ],
)
def test_one_character_of_the_range_makes_a_text_chinese(text, chinese):
    assert has_chinese(text) is chinese


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("他来到了网易杭研大厦", ["他", "来到", "了", "网易", "杭研", "大厦"]),  # 杭研 is in no dictionary
        ("一只猫，坐着。", ["一只", "猫", "，", "坐", "着", "。"]),
        ("我有3.5%的Tesla Model 3\r\n", ["我", "有", "3.5%", "的", "Tesla", " ", "Model", " ", "3", "\r\n"]),
        ("", []),
    ],
)
def test_text_is_cut_as_jieba_does(text, words):
    assert split_chinese_words(text) == words


@given(st.text(alphabet=st.sampled_from("我来到北京清华大学网易杭研猫的了 aB3.%-，。\r\n龦"), max_size=40))
def test_the_words_join_to_the_text(text):
    assert "".join(split_chinese_words(text)) == text
