"""MMMU: many configs, options and answers as text, up to seven pictures in places that tokens name."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

STRINGS = (
    *("id", "question", "options", "explanation", "img_type", "answer"),
    *("topic_difficulty", "question_type", "subfield"),
)
PICTURES = [f"image_{number}" for number in range(1, 8)]
FEATURES = datasets.Features(
    dict.fromkeys(STRINGS, datasets.Value("string")) | dict.fromkeys(PICTURES, datasets.Image())
)
PALETTE, CLEAR = picture("red", mode="P"), picture("blue", mode="RGBA")
BY_SUBJECT = {
    "Art_Theory": [
        {
            "id": "validation_Art_Theory_1",
            "question": "Which period is <image 1> from?",
            "options": "['Baroque', 'Gothic', 'Rococo', 'Cubism']",
            "answer": "B",
            "pictures": [PALETTE],
        },
        {
            "id": "validation_Art_Theory_9",
            "question": "Who drew <image 1>? It was compared with <image 2>, but <image 1> is older.",
            "options": str([f"person {number}" for number in range(1, 10)]),
            "answer": "I",
            "topic_difficulty": "Hard",
            "pictures": [picture("red"), picture("green")],
        },
        {
            "id": "validation_Art_Theory_10",
            "question": "Who carved <image 1>?",
            "options": "[]",
            "answer": "Donatello",
            "question_type": "open",
            "pictures": [picture()],
        },
    ],
    "Chemistry": [
        {
            "id": "validation_Chemistry_30",
            "question": "<image 1> What share is left?",
            "options": "[]",
            "answer": "['1/9', '0.11']",
            "question_type": "open",
            "pictures": [CLEAR],
        },
        {
            "id": "validation_Chemistry_31",
            "question": "Which of these is ethanol?",
            "options": "[['<image 3>', '<image 1>', 'none of them']]",
            "answer": "A",
            "topic_difficulty": "Hard",
            "pictures": [picture("red"), picture("green"), picture("blue")],
        },
    ],
}


def row(pictures, **fields):
    usual = {
        "explanation": "",
        "img_type": "['Diagrams', 'Paintings']",
        "topic_difficulty": "Easy",
        "question_type": "multiple-choice",
        "subfield": "History",
    }
    return usual | dict.fromkeys(PICTURES) | dict(zip(PICTURES, pictures, strict=False)) | fields


@pytest.fixture
def mmmu(benchmark):
    for subject, questions in BY_SUBJECT.items():
        rows = [row(**question) for question in questions]
        benchmark.write("MMMU/MMMU", rows, FEATURES, split="validation", config=subject)
    benchmark.run("mmmu/mmmu_val", {})
    return benchmark


@pytest.mark.parametrize("task", ["mmmu/mmmu_val", "mmmu/mmmu_val_cot"])
def test_gold_answers_give_the_full_score_and_empty_ones_none(mmmu, task):
    gold = mmmu.gold()
    assert mmmu.run(task, gold)["accuracy"] == 100
    assert mmmu.run(task, dict.fromkeys(gold, ""))["accuracy"] == 0


def test_hand_made_answers_give_the_score_counted_by_hand(mmmu):
    answers = {
        "validation_Art_Theory_1": "(B) Gothic",
        "validation_Chemistry_30": "So the share is 0.11",
        "validation_Chemistry_31": "B",
        "validation_Art_Theory_9": "It cannot be told.",
        "validation_Art_Theory_10": "Michelangelo",
    }
    result = mmmu.run("mmmu/mmmu_val", answers)
    assert result["accuracy"] == 40  # 2 of 5: Art_Theory_1 and Chemistry_30
    assert result["subject_score"] == {"Art_Theory": 33.33, "Chemistry": 50}
    assert result["difficulty_score"] == {"Easy": 66.67, "Hard": 0}  # 2 of 3, 0 of 2
    assert (result["Art and Design"], result["Science"]) == (33.33, 50)
    assert result["counts"]["unparsed"] == 1  # Art_Theory_9, for which the official script draws a letter


@pytest.mark.parametrize("reply", ["`B`", "**B**", "B)", "B. Gothic", "b"])
def test_choices_are_read_with_care_and_the_official_reading_stands_beside(mmmu, reply):
    answers = mmmu.gold() | {"validation_Art_Theory_1": reply}
    result = mmmu.run("mmmu/mmmu_val", answers)
    assert (result["accuracy"], result["official_accuracy"]) == (100, 80)  # officially "(B)" or a lone "B"
    assert result["rule_disagreements"] == 1


def test_reasoning_is_not_taken_for_the_answer(mmmu):
    reasoning = {
        "validation_Art_Theory_1": "Option (A) is ornate, but these arches are pointed.\nAnswer: B",
        "validation_Chemistry_30": "There were 2 of 18, so 1/8 is wrong.\nAnswer: 0.11",
    }
    wrong = dict.fromkeys(mmmu.gold(), "Answer: none") | reasoning
    assert mmmu.run("mmmu/mmmu_val_cot", wrong)["accuracy"] == 40  # the two with reasoning, of 5


def test_several_accepted_answers_are_a_list(mmmu):
    assert mmmu.items()["validation_Chemistry_30"]["answer"] == ["1/9", "0.11"]


def test_prompts_hold_options_instruction_and_the_tokens_of_pictures_that_are_sent(mmmu):
    choice = "Answer with the option's letter from the given choices directly."
    prompts = mmmu.prompts()
    assert prompts["validation_Art_Theory_1"] == (
        f"Which period is <image 1> from?\nA. Baroque\nB. Gothic\nC. Rococo\nD. Cubism\n{choice}"
    )
    assert prompts["validation_Chemistry_30"] == (
        "<image 1> What share is left?\nAnswer the question using a single word or phrase."
    )
    # image_2 is in no token, so image_3 is the second picture
    assert prompts["validation_Chemistry_31"] == (
        f"Which of these is ethanol?\nA. <image 2>\nB. <image 1>\nC. none of them\n{choice}"
    )
    options = "\n".join(f"{label}. person {number}" for number, label in enumerate("ABCDEFGHI", start=1))
    # a picture that is named twice is sent once
    assert prompts["validation_Art_Theory_9"] == (
        f"Who drew [image 1] <image 1>? It was compared with <image 2>, but [image 1] is older.\n{options}\n{choice}"
    )


def test_the_prompt_for_reasoning_ends_with_the_form_of_the_answer(mmmu):
    mmmu.run("mmmu/mmmu_val_cot", {})
    prompts = mmmu.prompts()
    form = "Reason step by step first. Then end with one line of the form 'Answer: X', where X is"
    assert prompts["validation_Art_Theory_1"] == (
        "Which period is <image 1> from?\nA. Baroque\nB. Gothic\nC. Rococo\nD. Cubism\n"
        f"{form} the letter of the option you choose."
    )
    assert prompts["validation_Art_Theory_10"] == (f"Who carved <image 1>?\n{form} a single word, number or phrase.")


def test_pictures_are_stored_as_they_are(mmmu):
    items = mmmu.items()
    assert mmmu.media("validation_Art_Theory_1") == [PALETTE["bytes"]]
    assert mmmu.media("validation_Chemistry_30") == [CLEAR["bytes"]]
    assert items["validation_Chemistry_31"]["img_path"] == [
        f"img/validation_Chemistry_31_{number}.png" for number in (1, 3)
    ]


def test_a_copy_with_one_config_for_all_subjects_gives_the_same_items(benchmark):
    rows = [row(**question) for questions in BY_SUBJECT.values() for question in questions]
    benchmark.write("MMMU/MMMU", rows, FEATURES, split="validation")
    result = benchmark.run("mmmu/mmmu_val", {question["id"]: question["answer"] for question in rows})
    assert result["subject_score"].keys() == BY_SUBJECT.keys()
    assert result["accuracy"] == 100
