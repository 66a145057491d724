"""POPE: question ids that start again in each category, one picture for many questions, F1 of "yes"."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "pope/pope_test"
FEATURES = datasets.Features(
    {
        "id": datasets.Value("string"),
        "question_id": datasets.Value("string"),
        "question": datasets.Value("string"),
        "answer": datasets.Value("string"),
        "image_source": datasets.Value("string"),
        "image": datasets.Image(),
        "category": datasets.Value("string"),
    }
)
GOLD = {
    "random_1": "yes",
    "random_2": "no",
    "random_3": "yes",
    "random_4": "no",
    "popular_1": "yes",
    "popular_2": "no",
    "adversarial_1": "yes",
    "adversarial_2": "no",
}
PHOTO = picture("brown", suffix="JPEG")


def row(number: int, key: str) -> dict[str, object]:
    category, _, question_id = key.partition("_")
    source = "COCO_val2014_000000000123"
    fields = {"id": str(number), "question_id": question_id, "category": category, "image_source": source}
    return {**fields, "question": "Is there a dog in the image?", "answer": GOLD[key], "image": PHOTO}


@pytest.fixture
def pope(benchmark):
    rows = [row(number, key) for number, key in enumerate(GOLD)]
    benchmark.write("lmms-lab/POPE", rows, FEATURES, split="test")
    benchmark.write("lmms-lab/POPE", rows[:4], FEATURES, split="random", config="Full")
    return benchmark


def test_empty_answers_give_zero_and_gold_answers_the_full_score(pope):
    empty = pope.run(TASK, dict.fromkeys(GOLD, ""))
    assert (empty["f1"], empty["accuracy"], empty["yes_ratio"]) == (0, 0, 0)
    assert pope.gold() == GOLD
    gold = pope.run(TASK, GOLD)
    assert (gold["f1"], gold["accuracy"], gold["yes_ratio"]) == (100, 100, 50)


def test_hand_made_answers_give_the_score_counted_by_hand(pope):
    answers = {
        "random_1": "Yes, a dog.",  # found
        "random_2": "No, there is a cat.",  # rejected
        "random_3": "There is not.",  # missed
        "random_4": "yes",  # false alarm
        "popular_1": "Yes",  # found
        "popular_2": "no",  # rejected
        "adversarial_1": "Yes. It is not small.",  # found: only the first sentence counts
        "adversarial_2": "**No**",  # false alarm: the official script knows the bare words only
    }
    result = pope.run(TASK, answers)
    # 3 found, 1 missed, 2 false alarms, 2 rejected: precision 3/5, recall 3/4, F1 2 * 0.6 * 0.75 / 1.35.
    assert (result["precision"], result["recall"], result["f1"]) == (60, 75, 66.67)
    assert (result["accuracy"], result["yes_ratio"]) == (62.5, 62.5)  # 5/8, 5/8
    categories = {name: (group["f1"], group["accuracy"]) for name, group in result["groups"]["sub_task"].items()}
    # adversarial: precision 1/2, recall 1.
    assert categories == {"adversarial": (66.67, 50), "popular": (100, 100), "random": (50, 50)}
    assert result["macro"] == {"sub_task": 72.22}  # (66.67 + 100 + 50) / 3
    assert (result["headline"], result["micro"], result["n"]) == ("f1", 66.67, 8)
    assert "f1_interval" not in result
    assert result["accuracy_interval"] == [30.57, 86.32]
    assert result["metrics"][0]["settings"] == {"reading": "pope"}
    assert result["rule_disagreements"] == 1
    assert pope.evaluated()["adversarial_2"]["careful_correct"] == 1


def test_the_prompt_asks_for_a_word_and_the_picture_is_stored_once_as_it_is(pope):
    pope.run(TASK, {})
    assert pope.prompts()["popular_1"] == (
        "<image 1> Is there a dog in the image?\nAnswer the question using a single word or phrase."
    )
    [stored] = pope.folder.glob("cache/**/img/*")
    assert (stored.name, stored.read_bytes()) == ("COCO_val2014_000000000123.jpg", PHOTO["bytes"])
