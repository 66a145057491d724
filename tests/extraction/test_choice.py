"""Choices: what counts as naming an option, and what does not."""

import time

import pytest

from flagmm.extraction import extract_choice, option_labels

OPTIONS = ["a red kite", "a blue boat", "a green bus", "a grey dog"]
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
RESTATED = "A. a red kite\nB. a blue boat\nC. a green bus\nD. a grey dog"


def reads(reply, options=OPTIONS, labels=None):
    return extract_choice(reply, options, labels=labels).value


BARE_LABELS = [
    "B", "(B)", "B.", "B)", "[B]", "{B}", "<B>", "**B**", "$B", "$B$", "__B__", "`B`", "'B'", "“B”", "# B", "> B",
    "- B", "b", "(b)", "option b", "Option B", "Option (B).", "option_B", "choice B", "Ｂ", "（Ｂ）", " B \n",
    "B。", "B选项", "\\boxed{B}", "\\boxed{\\text{B}}", "$\\boxed{\\text{B}}$", "\\[\\boxed{\\mathrm{B}}\\]",
    "\\boxed{(B)}", "\\(B\\)", "\\text{B}", "\\textbf{B}", "\\boxed{B. a blue boat}", "\\boxed{a blue boat}",
    "<|begin_of_box|>B<|end_of_box|>", "B</s>", "B<|im_end|>", "<answer>B</answer>",
    "<answer>\na blue boat\n</answer>", "{\"answer\": \"B\"}",
    "```json\n{\"answer\": \"B\", \"reason\": \"A is wrong\"}\n```", "{'choice': 'B'}",
]  # fmt: skip


@pytest.mark.parametrize("reply", BARE_LABELS)
def test_a_reply_that_is_only_a_label_in_some_dress_is_read(reply):
    assert reads(reply) == "B"


STATEMENTS = [
    "Answer: B", "ANSWER : b", "Answer:\n\nB", "Answer\n\nB", "### Answer\n(B)", "**Answer**: B", "**Answer:** B",
    "Ans: B", "Ans. B", "Answer - B", "answer=B", "Answer -> B", "Answer (B)", "Answer B", "Answer: Option B",
    "Answer: B) a blue boat", "The answer is B", "the answer is b.", "The answer is (b)", "The answer is: B",
    "The answer's B.", "answer: choice B", "The answer to the question is B.", "The answer should be option (B)",
    "The answer is most likely B.", "My answer is B!", "The best answer is: B) a blue boat",
    "The correct option is (B) because it is blue", "Best choice: (B)",
    "I believe the correct option is B, as it is blue", "The final answer is $\\boxed{B}$. I hope it is correct.",
    "The answer is option B: a blue boat, not option A: a red kite.", "The answer is not A but B.",
    "Answer: Answer: B",
    "The correct answer is B. Option B fits because the hull is blue, while A and C are not vessels.",
    "I choose (B) over (A)", "I'd say B.", "I'll go with (b)", "So I would pick B because it is blue.",
    "My final choice is B.", "Therefore, option B is correct.", "Option (b) is correct", "B is the right answer",
    "B is my final decision, I think", "ANSWER: Bb", "ANSWER: BB", "Answer: B\n\nHuman: next question\nAnswer: ",
    "ANSWER: B, not C", "The answer is B, C is wrong.", "The answer is B and C is wrong.",
    "I can't see the image, but the answer is B.",
]  # fmt: skip


@pytest.mark.parametrize("reply", STATEMENTS)
def test_a_statement_is_read(reply):
    assert reads(reply) == "B"


STATEMENTS_ELSEWHERE = [
    "选B", "选择B", "应选B。", "本题选B", "故选：B．", "答案：B", "答案:B", "答案是（B）", "答案为B", "答案应该是B",
    "【答案】B", "答案 B", "正确答案为：B", "正确的选项是 B。", "正确的是B。", "只有选项B是对的。",
    "综上，B是正确的。", "选项B最符合。", "答案不是A，而是B。", "不选A，选B", "A错误，B正确，C错误，D错误",
    "选项A、C、D均错误，故选B。", "因为∠ABC=60°，所以选B", "我认为答案是B，因为船是蓝色的。", "정답은 B입니다.",
    "정답: (B)", "答えはBです", "正解：B", "Antwort:\n\nAntwort: B", "Die richtige Antwort ist B.",
    "La réponse est B.", "La respuesta correcta es B.", "Ответ: B",
]  # fmt: skip


@pytest.mark.parametrize("reply", STATEMENTS_ELSEWHERE)
def test_a_statement_in_another_language_is_read(reply):
    assert reads(reply) == "B"


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("ANSWER: A\nLooking again, I change my mind.\nANSWER: B", "B"),
        ("Answer: this question is about colour.\nThe vehicle is green.\nANSWER: C", "C"),
        ("I initially thought the answer is A, but it is B.", "B"),
        ("Answer: A\nB is wrong because it has no hull", "A"),
        ("The answer is C.\n\nHowever, in the second image the answer is D.", "D"),
        ("The answer is B. If the boat were red, the answer would be A.", "B"),
        ("$\\boxed{B}$ was wrong; $\\boxed{C}$", "C"),
        ("Hence \\boxed{E = 2H}.\n\n**Answer: D**", "D"),
        ("A\n\nWait, I was wrong.\n\nB", "B"),
        ("I would not choose A. I would choose D.", "D"),
        ("Students often pick A, but D is right.", "D"),
    ],
)
def test_the_last_statement_wins(reply, label):
    assert reads(reply) == label


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("The last line must look like 'ANSWER: [LETTER]'.\nANSWER: C", "C"),
        ("Answer: A, B, C or D\nB", "B"),
        ("Please answer with the letter A/B/C/D.\nAnswer: B", "B"),
        (f"Options:\n{RESTATED}\n\nAnswer: C", "C"),
        ("The last line must look like 'ANSWER: [LETTER]'.", None),
        ("Answer: A, B, C or D", None),
        ("Please answer with the letter A/B/C/D.", None),
        (RESTATED, None),
        (f"Answer:\n{RESTATED}", None),
    ],
)
def test_a_repeated_instruction_or_question_is_no_answer(reply, label):
    assert reads(reply) == label


DENIALS = [
    "Not B.", "It is definitely not B", "B is wrong.", "It isn't (B).", "不是B", "不选B", "排除A", "B是错误的",
    "错误的是B", "The answer is not B.", "The answer isn't B", "Neither A nor B is correct.",
    "It can't be A, B or C.", "The statement 'the answer is A' is wrong.",
    "Option A looks plausible. However, the colour does not match.",
    "I looked at (A) first, but the colour does not fit.", "A. a red kite – no.",
]  # fmt: skip


@pytest.mark.parametrize("reply", DENIALS)
def test_a_denied_label_does_not_count(reply):
    assert reads(reply) is None


UNDECIDED = [
    "ANSWER: AB", "A, B", "A or B", "B/C", "It could be B or C.", "Answer: B or C", "Answer: both B and C",
    "ANSWER: B or maybe C", "A is correct. B is also correct.",
    "Answer: B\nThus, option A is correct.", "Answer: B\n\nA是正确的。", "So the answer is (B) or (C).",
    "B) a blue boat (A) a red kite", "答案：A和C", "选A或B", "可能是B", "The answer might be A.", "B?",
    "Answer: B?", "Is the answer A?",
]  # fmt: skip


@pytest.mark.parametrize("reply", UNDECIDED)
def test_an_undecided_reply_is_no_answer(reply):
    assert reads(reply) is None


REFUSALS = [
    "ANSWER: E", "E", "Z.", "ANSWER: None of the above", "ANSWER: Don't know", "None of the options are correct.",
    "答案不确定", "The answer is not visible in the image.", "I can't determine the answer. It may be B.",
    "无法判断", "", "  \n", "I'm sorry, I cannot see the image. Possible answers: A, B, C, D",
    "<think>The answer is A", "Answer: A cat",
]  # fmt: skip


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_or_an_unknown_answer_is_no_answer(reply):
    assert reads(reply) is None


LETTERS_IN_TEXT = [
    "A cat sits on the mat.", "I think so.", "U.S. Army", "A.I. is great", "Vitamin C", "Grade A", "At 25°C",
    "In triangle ABC", "A = 5", "Plan B is good", "Person B is correct", "Point A is closer.",
    "The letter on the sign is C", "The answer is A cat.", "It looks like A bear to me", "C is right of B",
    "Team A and team B",
]  # fmt: skip


@pytest.mark.parametrize("reply", LETTERS_IN_TEXT)
def test_a_letter_that_is_a_word_or_a_name_is_no_label(reply):
    assert reads(reply) is None


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("B. a blue boat", "B"),
        ("B a blue boat", "B"),
        ("c) a green bus", "C"),
        ("**C. a green bus**", "C"),
        ("C. I am sure that it is the bus since there are windows.", "C"),
        ("D, because it has four legs", "D"),
        ("(D) not (A)", "D"),
        ("(A) is incorrect, (B) is incorrect, so (D)", "D"),
        ("C\n\nThe bus is green, so option C is the right one.", "C"),
        ("Let's see.\n\nC. a green bus", "C"),
        ("The hull is blue. B", "B"),
        ("It is B. A is wrong.", "B"),
        ("I think it's B, since the hull is blue.", "B"),
        ("This corresponds to option B.", "B"),
        ("A or B? I think B.", "B"),
        ("B. a green bus", None),
    ],
)
def test_a_label_at_the_start_or_named_alone_is_read(reply, label):
    assert reads(reply) == label


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("A green bus", "C"),
        ("a green bus!", "C"),
        ("Green Bus", "C"),
        ("It's a blue boat.", "B"),
        ("A blue boat is behind the trees.", "B"),
        ("Answer: A blue boat", "B"),
        ("The answer is the grey dog, not the red kite.", "D"),
        ("The answer is based on the hull: blue boat.", "B"),
        ("It is not a red kite but a blue boat.", "B"),
        ("Blue boats", "B"),
        ("There is a red kite and a blue boat.", None),
        ("It's not a blue boat.", None),
        ("It might be a blue boat.", None),
        ("Is it a blue boat?", None),
        ("covered in blueboat", None),
    ],
)
def test_option_text_counts_whole_or_as_the_only_one_mentioned(reply, label):
    assert reads(reply) == label


@pytest.mark.parametrize(
    ("reply", "options", "label"),
    [
        ("I think so", NUMBERS, None),
        ("I see five birds", NUMBERS, "E"),
        ("The answer is I.", NUMBERS, "I"),
        ("Answer: I am not sure", NUMBERS, None),
        ("Answer: None of the above", ["a cat", "a dog", "a cow", "None of the above"], "D"),
        ("None", ["None", "One", "Two", "Three"], "A"),
        ("100", ["10", "100", "1000", "10000"], "B"),
        ("1,000", ["10", "100", "1000", "10000"], "C"),
        ("-5", ["5", "-5", "0.5"], "B"),
        (".5", ["5", "-5", "0.5"], "C"),
        ("30 minutes and 50 seconds make 44", ["5", "50", "30"], None),
        ("5 + 45 = 50", ["5", "50", "30"], "B"),
        ("red wine", ["red", "red wine", "wine"], "B"),
        ("a mix of red and blue", ["red", "blue", "a mix of red and blue"], "C"),
        ("blue and red", ["red", "blue", "a mix of red and blue"], None),
        ("The answer is A and B", ["A and B", "B and C"], "A"),
        ("The answer is B cells", ["B cells", "T cells"], "A"),
        ("vitamin B", ["vitamin A", "vitamin B"], "B"),
        ("hot dog", ["dog", "cat"], None),
        ("A dog and a cat", ["dog", "cat"], None),
        ("A. No", ["Yes", "No"], None),
        ("No, it is not known", ["Yes", "No"], "B"),
        ("yes and no", ["Yes", "No"], None),
        ("not B", ["Yes", "No"], "A"),
        ("It is impossible. Cannot tell.", ["Yes", "No", "Cannot tell"], "C"),
        ("x=3", ["x = 2", "x = 3"], "B"),
        ("$x = \\frac{1}{2}$", ["x = 2", "x = \\frac{1}{2}"], "B"),
        ("MW", ["mW", "MW"], "B"),
        ("KG", ["kg", "Kg"], None),
        ("x² + 1", ["x2 + 1", "x² + 1"], "B"),
        ("25℃", ["10 °C", "25 °C"], "B"),
        ("a dog", ["a cat", "", "a dog"], "C"),
        ("图中的城市不是北京，而是上海。", ["北京", "上海"], "B"),
    ],
)
def test_option_texts_of_many_kinds_are_told_apart(reply, options, label):
    assert reads(reply, options) == label


@pytest.mark.parametrize(
    ("reply", "options", "labels", "label"),
    [
        ("Answer: AB", [f"text {number}." for number in range(30)], None, "AB"),
        ("(ad)", [f"text {number}." for number in range(30)], None, "AD"),
        ("Answer: AE", [f"text {number}." for number in range(30)], None, None),
        ("2", ["four", "two"], ["1", "2"], "2"),
        ("The answer is 2.5", ["four", "two"], ["1", "2"], None),
        ("答案：乙", ["x", "y"], ["甲", "乙"], "乙"),
        ("B", ["x", "y"], ["a", "b"], "b"),
        ("Answer: Q", [], None, "Q"),
        ("I", [], None, "I"),
        ("The letter B is there", [], None, None),
        ("Answer: DOG", [], None, None),
        ("B) Cat", [], None, None),
        ("B) Cat", [], ["A", "B"], "B"),
    ],
)
def test_labels_are_those_of_the_item(reply, options, labels, label):
    assert reads(reply, options, labels) == label


def test_the_rule_that_read_the_answer_is_named():
    replies = ["B", "Answer: B", "\\boxed{B} or so", "a blue boat", "I choose B", "B is correct", "Hm.\nB", "dunno"]
    rules = [extract_choice(reply, OPTIONS).rule for reply in replies]
    assert rules == [
        "bare_label", "bare_label", "boxed", "option_text", "bare_label", "verdict", "only_label_line", "no_answer"
    ]  # fmt: skip


def test_labels_go_on_after_z_like_columns_of_a_sheet():
    labels = option_labels(703)
    assert labels[:2] + labels[25:28] + labels[-2:] == ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]


def test_a_question_with_very_many_options_takes_no_time():
    options = [f"option {number}" for number in range(40_000)]
    start = time.process_time()
    assert reads("ANSWER: B", options) == "B"
    assert time.process_time() - start < 20
