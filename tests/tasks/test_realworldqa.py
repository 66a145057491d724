"""RealWorldQA: no ids, types or options; options and instruction stand in the question; WebP pictures."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "realworldqa/realworldqa_test"
FEATURES = datasets.Features(
    {
        "image": datasets.Image(),
        "image_path": datasets.Value("string"),
        "question": datasets.Value("string"),
        "answer": datasets.Value("string"),
    }
)
LETTER = "Please answer directly with only the letter of the correct option and nothing else."
WORD = "Please answer directly with a single word or number."
ROWS = [
    (f"Which way does the arrow point?\n\nA. Left\nB. Right\n\n{LETTER}", "B"),
    (f"Which lane is ours?\n\nA. The left one\nB. The one in the middle\nC. The right one\n\n{LETTER}", "A"),
    (f"How many cars are there? {WORD}", "2"),
    (f"What is the speed limit? {WORD}", "30"),
    (f"Is the light green? {WORD}", "Yes"),
    (f"How many people cross? {WORD}", "Three"),
]
PHOTO = picture("grey", suffix="WEBP")


@pytest.fixture
def realworldqa(benchmark):
    rows = [
        {"image": PHOTO, "image_path": f"{number}.webp", "question": question, "answer": answer}
        for number, (question, answer) in enumerate(ROWS)
    ]
    benchmark.write("lmms-lab/RealWorldQA", rows, FEATURES, split="test")
    benchmark.run(TASK, {})
    return benchmark


def test_gold_answers_give_the_full_score_and_empty_ones_none(realworldqa):
    gold = realworldqa.gold()
    assert gold == {str(number): answer for number, (_, answer) in enumerate(ROWS)}
    assert realworldqa.run(TASK, gold)["accuracy"] == 100
    assert realworldqa.run(TASK, dict.fromkeys(gold, ""))["accuracy"] == 0


def test_hand_made_answers_give_the_score_counted_by_hand(realworldqa):
    answers = {
        "0": "B. Right",  # right
        "1": "It is C",  # wrong
        "2": "Two.",  # right: a number as a word
        "3": "13",  # wrong
        "4": "yes",  # right
        "5": "3",  # right: the other way round
    }
    result = realworldqa.run(TASK, answers)
    assert result["accuracy"] == 66.67  # 4 of 6
    assert (result["multiple-choice"], result["fill-in-the-blank"]) == (50, 75)  # 1 of 2, 3 of 4


def test_a_letter_that_the_question_does_not_offer_is_no_answer(realworldqa):
    result = realworldqa.run(TASK, realworldqa.gold() | {"0": "C"})
    assert (result["accuracy"], result["counts"]["unparsed"]) == (83.33, 1)  # 5 of 6


def test_the_prompt_is_the_question_as_it_is(realworldqa):
    assert realworldqa.prompts()["0"] == f"<image 1> {ROWS[0][0]}"
    assert realworldqa.prompts()["2"] == f"<image 1> How many cars are there? {WORD}"


def test_pictures_keep_their_names_and_format(realworldqa):
    assert realworldqa.items()["3"]["img_path"] == "img/3.webp"
    assert realworldqa.media("3") == [PHOTO["bytes"]]
