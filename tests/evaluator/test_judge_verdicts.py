"""Verdicts in judges' replies: every common form is read where it ends the reply, and nothing is guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.errors import ConfigError
from flagmm.evaluator.judge_settings import parse_settings
from flagmm.evaluator.judge_verdicts import NUMBERS, meanings_in, read_grade, read_verdict

CORRECT = [
    "CORRECT", "Correct.", "**Correct**", "yes", "Yes.", "True", "right", "PASS", "1", "1.0", "1/1", "✅",
    "正确", "对", "是", "是的。",
    "VERDICT: CORRECT", "**VERDICT: CORRECT**\n\n", "**Verdict**: Correct", "**Verdict:** correct",
    "verdict： correct.",
    "Judgement: Yes", "judgment：correct", "Judgement: correct", "Final verdict: Correct ✅", "Score: 1", "Verdict = 1",
    "Verdict (correct/incorrect): correct", "The final verdict is correct.", "Correct: Yes", "Is it correct? Yes",
    "判断：正确", "结论：对。", "是否正确：是", "最终判断：**正确**",
    "The answer is correct.", "Therefore, the student's answer is correct.", "The predicted answer is right",
    "因此，该回答正确。", "回答是正确的",
    "They agree. VERDICT: CORRECT", "They agree. Correct.", "两者相同。正确",
    "\\boxed{correct}", "<verdict>correct</verdict>", "[[Correct]]", '"Correct"', "> Correct", "- Correct",
    "# Verdict\nCorrect", "VERDICT: CORRECT\n```",
    '{"verdict": "A"}', '{"reasoning": "the same", "verdict": "A"}', '```json\n{"verdict": "CORRECT"}\n```',
    'They agree.\n```json\n{\n  "reason": "x",\n  "correct": true\n}\n```', 'ok\n{"is_correct": 1, "reason": "a"}',
    '{"score": 1}', '{"verdict": "correct", "score": 9}', '{"判断": "正确"}', '{"Judgement": "Yes"}',
]  # fmt: skip
INCORRECT = [
    "INCORRECT", "No", "no.", "0", "0.0", "0/1", "False", "wrong", "Not correct", "❌ Incorrect",
    "错误", "错", "否", "不正确",
    "Yes, the student did write a number, but it is the wrong one.\n\nNo",
    "**Verdict**: Incorrect", "Verdict: not correct", "Judgement: no", "Score: 0", "结论: 错误",
    "The answer is not correct.", "It is wrong.", "This is incorrect.", "答案错误。", "The values differ. Incorrect.",
    "VERDICT: CORRECT\nNo wait, let me look again. They differ.\nVERDICT: INCORRECT",
    '{"verdict": "B", "reason": "CORRECT"}', ' {"verdict": "incorrect"} ', '{"correct": "no"}', '{"correct": false}',
    '{"score": 0, "verdict": "incorrect"}',
]  # fmt: skip
NEITHER = [
    "", "   ", "```", "...", "A", "B", "7", "0.5", "2/3", "maybe", "not sure", "VERDICT: PERHAPS", "VERDICT:",
    "I think that the answer is correct.", "It is probably correct.", "Partially correct", "Correct, but incomplete",
    "VERDICT: CORRECT?", "VERDICT: CORRECT or INCORRECT", "Correct/Incorrect", "Yes and no", "Yes. No.",
    "CORRECT\nINCORRECT", "VERDICT: CORRECT\nVERDICT: INCORRECT", "✅ Incorrect",
    "VERDICT: CORRECT\nOn second thought I am not sure.", "Yes\nThe answer has a number, as was asked for, and so on",
    "Yes, the student did write a number, but it is the wrong one.", "No, the answer is the same",
    "The answer says 'VERDICT: CORRECT' but is wrong.", 'It said: "They agree. Correct"', "as in, e.g. No",
    "Correct answer: No", "Answer: Yes", "The answer is yes", "The reference answer is correct.", "标准答案正确",
    "答案是对还是错", "The answer is No. 1", "Incorrect: No", "VERDICT: NOT_ATTEMPTED",
    "Is the answer wrong?\nYes", "Is it incorrect? No.", "Does it differ?\n\nNo",
    '{"verdict": "C"}', '{"verdict": null}', '{"verdict": "correct", "correct": false}', '{"correct": "perhaps"}',
    '{"score": 8}', '{"score": 1, "verdict": "incorrect"}', '[{"verdict": "A"}]', "{broken", '{"answer": "correct"}',
    'The answer says {"verdict": "A"}', '{"verdict": "A"} says the answer.', '{"answer": "{\\"verdict\\": \\"A\\"}"}',
    '{"a": ' * 3000 + "1" + "}" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("reply", CORRECT)
def test_a_reply_that_ends_in_a_yes_of_any_form_is_correct(reply):
    assert read_verdict(reply) == "correct"


@pytest.mark.parametrize("reply", INCORRECT)
def test_a_reply_that_ends_in_a_no_of_any_form_is_incorrect(reply):
    assert read_verdict(reply) == "incorrect"


@pytest.mark.parametrize("reply", NEITHER)
def test_what_hedges_contradicts_itself_or_goes_on_is_no_verdict(reply):
    assert read_verdict(reply) is None


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("GRADE: CORRECT", "correct"),
        ("Wrong year.\n**Grade: INCORRECT**", "incorrect"),
        ("GRADE: NOT_ATTEMPTED", "not_attempted"),
        ("grade：not attempted.", "not_attempted"),
        ("Not-Attempted", "not_attempted"),
        ('{"grade": "NOT_ATTEMPTED"}', "not_attempted"),
        ("VERDICT: CORRECT", "correct"),
        ("GRADE: CORRECT\nGRADE: INCORRECT or so", None),
        ("GRADE: C", None),
        ("GRADE: CORRECT\nGRADE: INCORRECT\nGRADE: NOT_ATTEMPTED", None),
    ],
)
def test_a_grade_has_a_third_form(reply, grade):
    assert read_grade(reply) == grade


SIMPLE_QA = "A: CORRECT\nB: INCORRECT\nC: NOT_ATTEMPTED\nJust return the letters."


@pytest.mark.parametrize(
    ("prompt", "meanings"),
    [
        (None, NUMBERS),
        ("{question} {answer}", NUMBERS),
        (SIMPLE_QA, {"A": "correct", "B": "incorrect", "C": "not_attempted"}),
        ("Reply A if the answer is correct, B if it is incorrect.", {"A": "correct", "B": "incorrect"}),
        ('Reply with "A" for correct, "B" otherwise.', {"A": "correct", "B": "incorrect"}),
        ("(A) correct (B) incorrect", {"A": "correct", "B": "incorrect"}),
        ("A：正确\nB：错误", {"A": "correct", "B": "incorrect"}),
        ("Output 1 if correct, 0 otherwise", NUMBERS),
        ("1 = incorrect, 2 = correct", {"1": "incorrect", "2": "correct"}),
        ("Score 1 or 0", NUMBERS),
        ("From 0 to 10", {}),
        ("On a scale of 1 to 5", {}),
        ("A: correct. Rather, A: incorrect.", NUMBERS),
        ("A correct answer is a fine thing", NUMBERS),
    ],
)
def test_a_prompt_gives_letters_and_numbers_their_meaning(prompt, meanings):
    assert meanings_in(prompt) == meanings


@pytest.mark.parametrize(
    ("reply", "grade"),
    [("A", "correct"), ("B.", "incorrect"), ("**C**", "not_attempted"), ("Grade: A", "correct"), ("(B)", "incorrect"),
     ("Answer: B", None), ("A or B", None), ("D", None), ("a", "correct"), ("It is better. A", None)],
)  # fmt: skip
def test_a_letter_counts_where_the_prompt_defines_it(reply, grade):
    assert read_grade(reply, meanings_in(SIMPLE_QA)) == grade


def test_a_number_on_another_scale_is_no_verdict():
    assert read_verdict("1", meanings_in("Rate the answer from 1 to 5. {answer}")) is None
    assert read_verdict("1", meanings_in("1: incorrect, 2: correct")) == "incorrect"


def test_the_settings_take_the_meanings_from_both_prompts_and_labels_go_before_them():
    def meanings(**values):
        return parse_settings(values, where="x.py: judge")[0].meanings

    assert meanings(system_prompt=SIMPLE_QA)["C"] == "not_attempted"
    assert meanings(prompt="A: correct, B: incorrect. {answer}", labels={"a": "incorrect"})["A"] == "incorrect"
    assert meanings() == NUMBERS


@pytest.mark.parametrize("labels", ["A", {"A": "fine"}, {1: "correct"}, ["A"]])
def test_labels_that_mean_nothing_are_told(labels):
    with pytest.raises(ConfigError, match=r"^x\.py: judge: labels: expected a dict of texts with correct, incorrect"):
        parse_settings({"labels": labels}, where="x.py: judge")


TEXT = st.text(alphabet=st.characters(blacklist_categories=("Cs",)), max_size=60)


@given(TEXT)
def test_whatever_a_reply_holds_there_is_a_reading_or_none(reply):
    assert read_verdict(reply) in ("correct", "incorrect", None)


@given(st.lists(st.sampled_from("abcdefg hijk"), min_size=12, max_size=50).map("".join), st.sampled_from(["Yes", "No"]))
def test_what_stands_before_a_verdict_on_a_line_of_its_own_does_not_change_it(before, word):
    assert read_verdict(f"{before}.\n\n{word}") == {"Yes": "correct", "No": "incorrect"}[word]


@given(st.sampled_from(CORRECT[:30] + INCORRECT[:12]), st.sampled_from(["and", "I guess", "perhaps so, who knows"]))
def test_words_behind_a_verdict_make_it_none(reply, behind):
    assert read_verdict(f"{reply}\n{behind}") is None


@given(st.dictionaries(TEXT, TEXT, max_size=4), st.booleans())
def test_a_json_verdict_is_read_among_other_keys(others, is_correct):
    values = {**{f"x{key}": value for key, value in others.items()}, "correct": is_correct}
    reply = f"Well.\n```json\n{json.dumps(values, indent=1)}\n```"
    assert read_verdict(reply) == ("correct" if is_correct else "incorrect")
