"""Yes or no, numbers, short answers, and thinking."""

import pytest

from flagmm.extraction import extract_number, extract_short_answer, extract_yes_no, strip_thinking

YES = [
    "Yes", "yes.", "YES!", "*yes*", "(yes)", "#yes", "Yes'", "“Yes”", "Yes:", "Yes.It is", "Yes, there is no dog",
    "Well, yes", "yeah", "y", "True", "Correct.", "\\boxed{Yes}", "<answer>Yes</answer>", "A. Yes",
    "The answer is yes.", "Final answer: **Yes**", "Looking at it...\n\nYes", "Answer yes or no.\nYes",
    "<think>no</think>yes", "No people are here but yes, a cat is. Answer: yes",
    "There are no people but yes there is a cat", "The statement is true.", "是", "是的。", "对", "正确", "有", "√",
    "是，图中有狗", "答案：是", "该说法正确。", "可以",
]  # fmt: skip


@pytest.mark.parametrize("reply", YES)
def test_yes_is_read(reply):
    assert extract_yes_no(reply).value == "yes"


NO = [
    "No", "no.", "**No**, it is not", "`no`", "~no~", "no.There", "No, there isn't", "No one is in the picture",
    "Not at all", "nope", "n", "False", "Incorrect", "answer:no", "{\"answer\":\"no\"}", "$\\boxed{\\text{No}}$",
    "The answer is No.", "Hm.\nNo", "The statement is incorrect, so the answer is No.", "The statement is false.",
    "There is no dog in the image.", "否", "不是", "不对", "错误", "没有", "×", "否，图中没有狗", "答案是否",
    "这个说法是错误的。", "Final answer: No, because yes is wrong",
]  # fmt: skip


@pytest.mark.parametrize("reply", NO)
def test_no_is_read(reply):
    assert extract_yes_no(reply).value == "no"


NEITHER = [
    "", "Yes and no", "No, yes", "yes/no", "yes-no", "yes:no", "Yes,no", "Yes.\nNo.", "Please answer yes or no.",
    "Answer: Yes or No", "There is a dog.", "There is no doubt.", "I know that.", "Nothing.", "Not sure",
    "It is not clear.", "nobody", "Unknown", "I cannot see the image, sorry.", "是一只猫", "无法判断", "yesterday",
    "<think>yes",
]  # fmt: skip


@pytest.mark.parametrize("reply", NEITHER)
def test_neither_yes_nor_no_is_no_answer(reply):
    assert extract_yes_no(reply).value is None


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Answer: a+b = 120+45 = 165", 165),
        ("42.", 42),
        ("-5", -5),
        ("−5", -5),
        ("10-5=5", 5),
        (".5", 0.5),
        ("１２３", 123),
        ("The answer is 1,234.5 km.", 1234.5),
        ("\\boxed{1{,}000}", 1000),
        ("50%", 50),
        ("3.14e5", 314000.0),
        ("2 × 10^5", 200000.0),
        ("$2 \\times 10^{-3}$", 0.002),
        ("\\boxed{\\frac{3}{4}}", 0.75),
        ("$-\\frac{1}{2}$", -0.5),
        ("3/4", 0.75),
        ("1 1/2", 1.5),
        ("Answer: three", 3),
        ("The answer is 41, not 42.", 41),
        ("The result is 5 because 2+3=5 and 7 is odd.", 5),
        ("Answer: 3 of 5", 3),
        ("Step 1: 2+2=4\nStep 2: 4*3=12\nAnswer: 12", 12),
        ("1. First we count.\n2. Then we get 9.", 9),
        ("共有15个。", 15),
        ("<think>7</think>8", 8),
    ],
)
def test_the_number_stated_last_is_read(reply, number):
    value = extract_number(reply).value
    assert value == number
    assert type(value) is type(number)


@pytest.mark.parametrize(
    "reply",
    ["", "no number", "3 or 4", "between 3 and 5", "10:30", "1.2.3", "H2O", "1st", "5^2", "1e999", "5/0", "1" * 5000],
)
def test_a_reply_without_one_number_has_none(reply):
    assert extract_number(reply).value is None


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("Paris", "Paris", "whole_text"),
        ('"Paris."', "Paris", "whole_text"),
        ("A cat sits.", "A cat sits", "whole_text"),
        ("f(x)", "f(x)", "whole_text"),
        ("-5%", "-5%", "whole_text"),
        ("我们选取数据", "我们选取数据", "whole_text"),
        ("answer-based", "answer-based", "whole_text"),
        ("The answer is Paris.", "Paris", "stated_answer"),
        ("The answer to the question is blue.", "blue", "stated_answer"),
        ("The answer is St. Louis. It is nice.", "St. Louis", "stated_answer"),
        ("The answer is 3.5. Because", "3.5", "stated_answer"),
        ("Answer: Paris, France", "Paris, France", "stated_answer"),
        ("**Answer:** Paris\nExplanation: big", "Paris", "stated_answer"),
        ("Answer:\nParis", "Paris", "stated_answer"),
        ("Final answer: 'x'", "x", "stated_answer"),
        ("Answer: [your answer]\nAnswer: 5", "5", "stated_answer"),
        ('{"answer": "Paris"}', "Paris", "stated_answer"),
        ("答案是北京。因为", "北京", "stated_answer"),
        ("정답: 서울", "서울", "stated_answer"),
        ("Antwort: Berlin", "Berlin", "stated_answer"),
        ("The final answer is $42$.", "42", "stated_answer"),
        ("\\boxed{\\frac{3}{4}}", "\\frac{3}{4}", "boxed"),
        ("Answer: 1\nNo: $\\boxed{\\text{Paris}}$", "Paris", "boxed"),
        ("\\boxed{a{b}c} is it", "a{b}c", "boxed"),
    ],
)
def test_the_short_answer_is_what_is_stated_or_the_whole_text(reply, answer, rule):
    found = extract_short_answer(reply)
    assert (found.value, found.rule) == (answer, rule)


@pytest.mark.parametrize("reply", ["", " \n", "<think>x</think>", "<think>x"])
def test_an_empty_reply_has_no_short_answer(reply):
    found = extract_short_answer(reply)
    assert (found.value, found.rule) == (None, "no_answer")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("a</think>b", "b"),
        ("a<think>b", "a"),
        ("1<think>x</think>2<think>y</think>3", "123"),
        ("x < y", "x < y"),
    ],
)
def test_thinking_is_cut_out(text, rest):
    assert strip_thinking(text) == rest
