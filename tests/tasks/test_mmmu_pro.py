"""MMMU-Pro: three configs with odd names, up to twelve options, shuffled picture tokens, and screenshots."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

STRINGS = (
    *("id", "question", "options", "explanation", "img_type", "answer"),
    *("topic_difficulty", "subject"),
)
PICTURES = [f"image_{number}" for number in range(1, 8)]
STANDARD = datasets.Features(
    dict.fromkeys(STRINGS, datasets.Value("string")) | dict.fromkeys(PICTURES, datasets.Image())
)
VISION = datasets.Features(
    dict.fromkeys(("id", "options", "answer", "subject"), datasets.Value("string")) | {"image": datasets.Image()}
)
DIRECT = "Answer with the option letter from the given choices directly."
TWELVE = ["Xia", "Shang", "Zhou", "Qin", "Han", "Jin", "Sui", "Tang", "Song", "Yuan", "Ming", "Liao"]
RED, GREEN, BLUE, SCREEN = picture("red"), picture("green", suffix="JPEG"), picture("blue"), picture("white")


def row(pictures, **fields):
    usual = {"explanation": "?", "img_type": "['Tables']", "topic_difficulty": "Hard"}
    return usual | dict.fromkeys(PICTURES) | dict(zip(PICTURES, pictures, strict=False)) | fields


ROWS = [
    row(
        [RED],
        id="test_History_1",
        question="Which dynasty does <image 1> show?",
        options=str(TWELVE),
        answer="L",
        subject="History",
    ),
    row(
        [RED, GREEN, BLUE],
        id="validation_Art_Theory_19",
        question="Which are by the same painter?",
        options="['<image 2> and <image 3>', '<image 3> and <image 1>', \"Can't be told\"]",
        answer="B",
        subject="Art_Theory",
    ),
    row([BLUE], id="dev_Math_2", question="Is it <image 1>?", options="['Yes', 'No']", answer="A", subject="Math"),
    row([BLUE], id="test_Math_3", question="<image 1> x?", options="['-1', '0', '1']", answer="C", subject="Math"),
]


@pytest.fixture
def standard(benchmark):
    benchmark.write("MMMU/MMMU_Pro", ROWS, STANDARD, split="test", config="standard (10 options)")
    benchmark.run("mmmu_pro/mmmu_pro_standard", {})
    return benchmark


@pytest.fixture
def vision(benchmark):
    rows = [{key: item[key] for key in ("id", "options", "answer", "subject")} | {"image": SCREEN} for item in ROWS]
    benchmark.write("MMMU/MMMU_Pro", rows, VISION, split="test", config="vision")
    benchmark.run("mmmu_pro/mmmu_pro_vision", {})
    return benchmark


def test_gold_answers_give_the_full_score_and_empty_ones_none(standard):
    gold = standard.gold()
    assert standard.run("mmmu_pro/mmmu_pro_standard", gold)["accuracy"] == 100
    assert standard.run("mmmu_pro/mmmu_pro_standard", dict.fromkeys(gold, ""))["accuracy"] == 0


def test_hand_made_answers_give_the_score_counted_by_hand(standard):
    answers = {
        "test_History_1": "(A) ruled earlier.\nAnswer: L",  # right: "Answer:" comes before brackets
        "validation_Art_Theory_19": "B. [image 3] and [image 1]",  # right: a letter with a point
        "dev_Math_2": "No (B).",  # wrong
        "test_Math_3": "I cannot say.",  # nothing to read; the official script draws a letter
    }
    result = standard.run("mmmu_pro/mmmu_pro_standard", answers)
    assert result["accuracy"] == 50  # 2 of 4
    assert (result["Humanities and Social Science"], result["Art and Design"], result["Science"]) == (100, 100, 0)
    assert (result["History"], result["Math"]) == (100, 0)
    assert result["counts"]["unparsed"] == 1


def test_tokens_are_attached_by_number_and_each_picture_once(standard):
    prompts = standard.prompts()
    options = "\n".join(f"{label}. {text}" for label, text in zip("ABCDEFGHIJKL", TWELVE, strict=True))
    assert prompts["test_History_1"] == f"Which dynasty does <image 1> show?\n{options}\n{DIRECT}"
    assert prompts["validation_Art_Theory_19"] == (
        "Which are by the same painter?\n"
        "A. <image 2> and [image 3] <image 3>\nB. [image 3] and <image 1>\nC. Can't be told\n"
        f"{DIRECT}"
    )
    assert standard.media("validation_Art_Theory_19") == [RED["bytes"], GREEN["bytes"], BLUE["bytes"]]


def test_the_four_option_config_is_a_task_of_its_own(benchmark):
    benchmark.write("MMMU/MMMU_Pro", ROWS[2:], STANDARD, split="test", config="standard (4 options)")
    result = benchmark.run("mmmu_pro/mmmu_pro_standard_4", {"dev_Math_2": "A", "test_Math_3": "B"})
    assert result["accuracy"] == 50
    assert benchmark.prompts()["test_Math_3"] == f"<image 1> x?\nA. -1\nB. 0\nC. 1\n{DIRECT}"


def test_gold_answers_to_screenshots_give_the_full_score_and_empty_ones_none(vision):
    gold = vision.gold()
    assert vision.run("mmmu_pro/mmmu_pro_vision", gold)["accuracy"] == 100
    assert vision.run("mmmu_pro/mmmu_pro_vision", dict.fromkeys(gold, ""))["accuracy"] == 0


def test_hand_made_answers_to_screenshots_give_the_score_counted_by_hand(vision):
    answers = {
        "test_History_1": "The last one, which must be the Liao.",  # right: an option's text
        "validation_Art_Theory_19": "Answer: (C)",  # wrong
        "dev_Math_2": "Answer: A",  # right
        "test_Math_3": "Answer: $C$",  # right
    }
    result = vision.run("mmmu_pro/mmmu_pro_vision", answers)
    assert result["accuracy"] == 75  # 3 of 4
    assert (result["Science"], result["Art and Design"]) == (100, 0)


def test_screenshots_are_asked_without_the_text_of_question_and_options(vision):
    assert vision.prompts()["test_History_1"] == (
        f"<image 1> {DIRECT} The last line of your response should be of the following format: "
        "'Answer: $LETTER' (without quotes) where LETTER is one of options."
    )
    assert vision.media("test_History_1") == [SCREEN["bytes"]]
