"""FlagEvalMM's rules for letters and short texts, held to what FlagEvalMM itself answered."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.flagevalmm_text import (
    clean_choice,
    fill_blank_match,
    normalize_string,
    process_multiple_choice,
    remove_unit,
    response_letters,
)

UNITS = "cm m km mm s h kg g l ml mol 厘米 米 千米 ° 毫米 月 秒 小时 克 千克 升 毫升 摩尔"
ANSWERS = st.text(st.sampled_from("ABINSTacehinorswx 0159.:,;/$\\{}<>()\n对错为答案是①√×：。（）cmkg"), max_size=40)


@pytest.mark.parametrize("vector", vectors("flagevalmm_multiple_choice"))
def test_choices_are_read_as_flagevalmm_reads_them_its_faults_included(vector):
    letters = clean_choice(vector["input"]["prediction"])
    assert {"cleaned": letters, "letter": letters[:1]} == vector["expected"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_multiple_response"))
def test_responses_are_read_as_flagevalmm_reads_them_its_faults_included(vector):
    letters = response_letters(vector["input"]["prediction"])
    assert {"cleaned": letters, "correct": letters == vector["input"]["answer"]} == vector["expected"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_normalize_string"))
def test_texts_are_normalised_as_flagevalmm_does(vector):
    assert normalize_string(vector["input"]["text"]) == vector["expected"]["normalised"]


@pytest.mark.parametrize(
    ("answer", "letters"),
    [
        pytest.param("Answer: A. So Answer: B", "B", id="last occurrence of a cue"),
        pytest.param("答案 A, \\boxed{B}", "B", id="boxed before Chinese cues"),
        pytest.param("Answer: A, the option is B", "AB", id="earlier cue of the list, not of the text"),
        pytest.param("故选B 答案A", "BA", id="first Chinese cue of the list"),
        pytest.param("the option is B, answer A", "BA", id="option before answer"),
        pytest.param("A.B.C", "A", id="label first"),
        pytest.param("(A.", "A", id="bracket before the label"),
        pytest.param("SINTER", "ER", id="I N S T are deleted"),
        pytest.param("Ⅳ Ｂ É", "", id="only A to Z"),
    ],
)
def test_choice_rule_by_rule(answer, letters):
    assert process_multiple_choice(answer) == letters


@pytest.mark.parametrize(("answer", "letters"), [("i", "I"), ("b", "B"), ("7", "7"), ("", ""), (None, ""), (3, "")])
def test_a_single_character_is_taken_as_it_is_and_no_text_has_no_letters(answer, letters):
    assert clean_choice(answer) == letters


@pytest.mark.parametrize(("answer", "letters"), [("I", "I"), ("J", ""), ("C, A and C", "AC"), (None, "")])
def test_responses_are_sorted_letters_up_to_i(answer, letters):
    assert response_letters(answer) == letters


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        pytest.param("x <answer>42</answer> Answer: 7", "42", id="answer element"),
        pytest.param("<answer>a\nb</answer>", "a\nb", id="answer element of two lines"),
        pytest.param("<answer>42", ">42", id="open answer element is a cue"),
        pytest.param("$a \\times b$", "a \\times b", id="times in a formula is no sign of wrong"),
        pytest.param("$×$", "×", id="cross in a formula"),
        pytest.param("\\text {a} and \\text{b}", "a and b", id="LaTeX text"),
        pytest.param("(正确)", "正确", id="brackets around true"),
        pytest.param("（T）", "T", id="full-width brackets around T"),
        pytest.param("错", "错误", id="whole text wrong"),
        pytest.param("错在哪里", "错在哪里", id="wrong as part of a text"),
        pytest.param("变小 ＞ ＜ ； \\pi", "减小 > < ; π", id="synonyms"),
        pytest.param("⑨⑩", "910", id="circled ten"),
        pytest.param("解为 3", "3", id="Chinese cue"),
        pytest.param("结果 3 因此 4", "3 因此 4", id="first cue of the list wins"),
        pytest.param("a = b = c", "c", id="last equals sign"),
        pytest.param(": 5cm", "5cm", id="unit after a blank stays"),
        pytest.param("5cm.", "5", id="mark, then unit"),
        pytest.param("a.,", "a.", id="one mark only"),
    ],
)
def test_normalising_rule_by_rule(text, normalised):
    assert normalize_string(text) == normalised


@pytest.mark.parametrize("unit", UNITS.split())
def test_units_directly_after_a_whole_number_go(unit):
    assert remove_unit(f"12{unit}") == "12"


@pytest.mark.parametrize("text", ["12", "12 cm", "1.5m", "-3m", "12cms", "12年", "m", "12m5", "kg12"])
def test_other_texts_keep_their_units(text):
    assert remove_unit(text) == text


@pytest.mark.parametrize(
    ("prediction", "answer", "correct", "matched"),
    [
        pytest.param("<think>42</think>43", "42", False, "43", id="thinking is left out"),
        pytest.param("a</think>b</think>", "b</think>", True, "b</think>", id="after the first closing tag"),
        pytest.param("Paris\nLondon", "London", True, "London", id="any line"),
        pytest.param("Rome\n\nOslo", "Paris", False, "Rome\nOslo", id="no line"),
        pytest.param("abcdefg", "abcdefgxyzuvw", False, "abcdefg", id="ratio of exactly 0.7"),
        pytest.param("1234", "1235", True, "1234", id="alike but another number"),
        pytest.param("aba", "babba", True, "aba", id="the ratio is of the line to the answer"),
        pytest.param("babba", "aba", False, "babba", id="the other way round it is less"),
        pytest.param("PARIS", "paris", False, "PARIS", id="case counts"),
        pytest.param("", "", False, "", id="nothing is never right"),
        pytest.param("答案为42cm", "42米", True, "42", id="both are normalised"),
    ],
)
def test_blanks_are_compared_by_their_spelling(prediction, answer, correct, matched):
    result = fill_blank_match(prediction, answer)
    assert (result.correct, result.matched) == (correct, matched)


def test_the_threshold_of_a_blank_can_be_moved():
    assert not fill_blank_match("1234", "1235", threshold=0.75).correct


@given(ANSWERS)
def test_choices_are_capital_letters_of_the_reply(answer):
    letters = process_multiple_choice(answer)
    assert all(letter in answer and "A" <= letter <= "Z" for letter in letters)


@given(ANSWERS)
def test_normalised_texts_have_no_blanks_around(text):
    assert normalize_string(text) == normalize_string(text).strip()


@given(ANSWERS.filter(lambda text: "\n" not in text))
def test_a_line_fills_its_own_blank_unless_nothing_is_left_of_it(line):
    assert fill_blank_match(line, line).correct == bool(normalize_string(line))
