"""OCRBench: no ids, several accepted answers, formulas with line breaks, tiny pictures; hits by kind."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "ocrbench/ocrbench_test"
FEATURES = datasets.Features(
    {
        "dataset": datasets.Value("string"),
        "question": datasets.Value("string"),
        "question_type": datasets.Value("string"),
        "answer": datasets.List(datasets.Value("string")),
        "image": datasets.Image(),
    }
)
FORMULA = "Handwritten Mathematical Expression Recognition"
WRITE_OUT = "Please write out the expression of the formula in the image using LaTeX format."
ROWS = [
    ("IIIT5K", "what is written in the image?", "Regular Text Recognition", ["SALE"]),
    ("ORAND-CAR", "what is the number in the image?", "Digit String Recognition", ["3401"]),
    ("docVQA", "What is the date?", "Doc-oriented VQA", ["May 4", "04 May"]),
    ("SROIE", "What is the total?", "Key Information Extraction", ["9.50"]),
    (
        "HME100k",
        "Please write out the expression of the formula in the image using LaTeX format.",
        FORMULA,
        ["x ^ 2\n"],
    ),
    (
        "HME100k",
        "Please write out the expression of the formula in the image using LaTeX format.",
        FORMULA,
        ["X + 1\n"],
    ),
]


@pytest.fixture
def ocrbench(benchmark):
    columns = ("dataset", "question", "question_type", "answer")
    rows = [dict(zip(columns, values, strict=True)) | {"image": picture(suffix="JPEG")} for values in ROWS]
    benchmark.write("echo840/OCRBench", rows, FEATURES, split="test")
    benchmark.run(TASK, {})
    return benchmark


def test_gold_answers_give_the_full_score_and_empty_ones_none(ocrbench):
    gold = ocrbench.gold()
    full = ocrbench.run(TASK, gold)
    assert (full["accuracy"], full["final_score"]) == (100, 6)
    none = ocrbench.run(TASK, dict.fromkeys(gold, ""))
    assert (none["accuracy"], none["final_score"]) == (0, 0)


def test_hand_made_answers_give_the_score_counted_by_hand(ocrbench):
    answers = {
        "0": 'It says "sale".',  # a hit: case does not count, and the answer may stand anywhere
        "1": "3 401",  # a miss: spaces count
        "2": "on 04 may",  # a hit: the second accepted answer
        "3": "$9.5",  # a miss: another text
        "4": "$x^2$",  # a hit: spaces and the line break do not count in formulas
        "5": "x+1",  # a miss: case counts in formulas
    }
    result = ocrbench.run(TASK, answers)
    assert (result["final_score"], result["accuracy"]) == (3, 50)  # 3 of 6
    assert (result["Doc-oriented VQA"], result["Key Information Extraction"], result[FORMULA]) == (100, 0, 50)
    abilities = result["groups"]["ability"]
    # of the six kinds of recognition there are two here, one of them a hit
    assert (abilities["Text Recognition"]["final_score"], abilities["Text Recognition"]["n"]) == (1, 2)
    assert result["groups"]["sub_task"]["Digit String Recognition"]["accuracy"] == 0


def test_the_prompt_is_the_question_alone(ocrbench):
    assert ocrbench.prompts()["0"] == "<image 1> what is written in the image?"
