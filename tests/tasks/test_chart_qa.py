"""ChartQA: no ids or picture names, the same picture for several questions, answers that look like lists."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "chart_qa/chart_qa_test"
FEATURES = datasets.Features(
    {
        "type": datasets.Value("string"),
        "question": datasets.Value("string"),
        "answer": datasets.Value("string"),
        "image": datasets.Image(),
    }
)
BARS, LINES = picture("red"), picture("blue", mode="RGBA")
ROWS = [
    ("human_test", "How many bars exceed 10?", "14", BARS),
    ("human_test", "Which two are red?", "[Yes, No]", BARS),
    ("human_test", "How many lines fall?", "0", LINES),
    ("augmented_test", "What was the share in 2015?", "61.5", LINES),
    ("augmented_test", "What is the value of Peru?", "40%", BARS),
    ("augmented_test", "Which country leads?", "Peru", BARS),
]


@pytest.fixture
def chart_qa(benchmark):
    rows = [dict(zip(("type", "question", "answer", "image"), values, strict=True)) for values in ROWS]
    benchmark.write("lmms-lab/ChartQA", rows, FEATURES, split="test")
    benchmark.run(TASK, {})
    return benchmark


def test_gold_answers_give_the_full_score_and_empty_ones_none(chart_qa):
    gold = chart_qa.gold()
    assert chart_qa.run(TASK, gold)["relaxed_accuracy"] == 100
    assert chart_qa.run(TASK, dict.fromkeys(gold, ""))["relaxed_accuracy"] == 0


def test_hand_made_answers_give_the_score_counted_by_hand(chart_qa):
    answers = {
        "0": "13.3",  # right: 0.7 of 14 is exactly 5 %
        "1": "Yes, No",  # wrong: another text
        "2": "0.0",  # wrong: near a zero texts are compared
        "3": "58",  # wrong: 3.5 of 61.5 is 5.7 %
        "4": "0.41",  # right: 0.01 of 0.40 is 2.5 %
        "5": " peru",  # right: case and blanks do not count
    }
    result = chart_qa.run(TASK, answers)
    assert result["relaxed_accuracy"] == 50  # 3 of 6
    assert (result["human_test"], result["augmented_test"]) == (33.33, 66.67)
    assert result["macro"]["sub_task"] == 50  # the mean of the two
    assert result["rule_disagreements"] == 2  # to a careful reader "0.0" is 0, and brackets do not count


def test_the_prompt_is_question_and_instruction(chart_qa):
    assert chart_qa.prompts()["1"] == (
        "<image 1> Which two are red?\nAnswer the question using a single word or phrase."
    )


def test_a_picture_is_stored_once_for_its_questions(chart_qa):
    paths = [item["img_path"] for item in chart_qa.items().values()]
    assert len(set(paths)) == 2
    assert [paths[0] == path for path in paths] == [True, True, False, False, True, True]
    assert chart_qa.media("5") == [BARS["bytes"]]
    assert chart_qa.media("2") == [LINES["bytes"]]
