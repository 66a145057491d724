"""MME: the two questions of a picture share an id with a slash and a suffix; acc + acc+ by subtask."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "mme/mme_test"
FEATURES = datasets.Features(
    {
        "question_id": datasets.Value("string"),
        "image": datasets.Image(),
        "question": datasets.Value("string"),
        "answer": datasets.Value("string"),
        "category": datasets.Value("string"),
    }
)
PICTURES = {
    "OCR/0001.jpg": picture("red", suffix="JPEG"),
    "OCR/0002.jpg": picture("green", suffix="JPEG"),
    "code_reasoning/0020.png": picture("blue"),
}
IDS = [f"{key}_{number}" for key in PICTURES for number in (0, 1)]


def rows() -> list[dict[str, object]]:
    """The first questions of all pictures, then the second ones: a pair need not stand together."""
    return [
        {
            "question_id": key,
            "image": image,
            "question": f"Is this {word}? Please answer yes or no.",
            "answer": answer,
            "category": key.split("/")[0],
        }
        for word, answer in (("so", "Yes"), ("otherwise", "No"))
        for key, image in PICTURES.items()
    ]


@pytest.fixture
def mme(benchmark):
    benchmark.write("lmms-lab/MME", rows(), FEATURES, split="test")
    return benchmark


def test_empty_answers_give_zero_and_gold_answers_the_full_score(mme):
    assert mme.run(TASK, dict.fromkeys(IDS, ""))["mme_score"] == 0
    result = mme.run(TASK, mme.gold())
    assert (result["mme_score"], result["perception"], result["cognition"]) == (400, 200, 200)  # of two subtasks
    assert result["accuracy"] == 100


def test_hand_made_answers_give_the_score_counted_by_hand(mme):
    answers = {
        "OCR/0001.jpg_0": "Yes",
        "OCR/0001.jpg_1": "No.",  # both right
        "OCR/0002.jpg_0": "yes, it is",
        "OCR/0002.jpg_1": "It is no.",  # the second begins with neither
        "code_reasoning/0020.png_0": "Y",
        "code_reasoning/0020.png_1": "Yes",  # the second is wrong
    }
    result = mme.run(TASK, answers)
    assert result["OCR"] == 125  # acc 3/4, acc+ 1/2
    assert result["code_reasoning"] == 50  # acc 1/2, acc+ 0
    assert (result["perception"], result["cognition"], result["mme_score"]) == (125, 50, 175)
    assert (result["acc"], result["acc_plus"], result["accuracy"]) == (66.67, 33.33, 66.67)  # 4 of 6, 1 of 3 pictures
    assert (result["headline"], result["n"]) == ("mme_score", 6)
    groups = result["groups"]["sub_task"]
    assert (groups["OCR"]["acc"], groups["OCR"]["acc_plus"]) == (75, 50)
    assert (groups["code_reasoning"]["acc"], groups["code_reasoning"]["acc_plus"]) == (50, 0)
    assert [(groups[name]["accuracy"], groups[name]["n"]) for name in ("OCR", "code_reasoning")] == [(75, 4), (50, 2)]


def test_the_prompt_is_the_question_as_it_is(mme):
    mme.run(TASK, {})
    assert mme.prompts()["OCR/0001.jpg_0"] == "<image 1> Is this so? Please answer yes or no."


def test_both_questions_of_a_picture_point_to_one_file_with_its_bytes(mme):
    mme.run(TASK, {})
    items = mme.items()
    assert list(items) == [f"{key}_{number}" for number in (0, 1) for key in PICTURES]
    stored = list(mme.folder.glob("cache/**/img/*"))
    assert {path.read_bytes() for path in stored} == {image["bytes"] for image in PICTURES.values()}
    assert len(stored) == 3
    first, second = items["OCR/0001.jpg_0"], items["OCR/0001.jpg_1"]
    assert (first["img_path"], first["pair_id"]) == (second["img_path"], second["pair_id"])
