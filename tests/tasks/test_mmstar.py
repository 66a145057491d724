"""MMStar: options inside the question, accuracy by category and axis."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

FEATURES = datasets.Features(
    {
        "index": datasets.Value("int64"),
        "question": datasets.Value("string"),
        "image": datasets.Image(),
        "answer": datasets.Value("string"),
        "category": datasets.Value("string"),
        "l2_category": datasets.Value("string"),
        "meta_info": {
            "source": datasets.Value("string"),
            "split": datasets.Value("string"),
            "image_path": datasets.Value("string"),
        },
    }
)
QUESTION = "Which colour is the car?\nOptions: A: red, B: blue, or green, C: white, D: black"


def row(index: int, answer: str, category: str) -> dict[str, object]:
    meta = {"source": "MMBench", "split": "val", "image_path": f"images/{index}.jpg"}
    fields = {"category": category, "l2_category": f"{category} axis", "meta_info": meta}
    return {"index": index, "question": QUESTION, "image": picture(suffix="JPEG"), "answer": answer, **fields}


@pytest.fixture
def mmstar(benchmark):
    rows = [row(0, "A", "math"), row(1, "B", "math"), row(2, "C", "logic"), row(3, "D", "logic")]
    benchmark.write("Lin-Chen/MMStar", rows, FEATURES, split="val", config="val")
    return benchmark


def test_gold_answers_give_the_full_score(mmstar):
    mmstar.run("mmstar/mmstar_val", {})
    assert mmstar.run("mmstar/mmstar_val", mmstar.gold())["accuracy"] == 100


def test_hand_made_answers_give_the_score_counted_by_hand(mmstar):
    answers = {"0": "The answer is A.", "1": "C", "2": "C: white", "3": "I cannot tell."}
    result = mmstar.run("mmstar/mmstar_val", answers)
    assert result["accuracy"] == 50
    assert (result["math"], result["logic"]) == (50, 50)
    assert result["counts"]["unparsed"] == 1


def test_the_prompt_holds_the_options_once_and_the_instruction(mmstar):
    mmstar.run("mmstar/mmstar_val", {})
    assert mmstar.prompts()["1"] == (
        f"<image 1> {QUESTION}\nAnswer with the option's letter from the given choices directly."
    )
