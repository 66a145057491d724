"""HallusionBench: ids that start again in each set, VD and VS with the same subcategory, shared pictures."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "hallusion_bench/hallusion_bench_image"
STRINGS = (
    *("category", "subcategory", "visual_input", "set_id", "figure_id", "sample_note", "question_id", "question"),
    *("gt_answer", "gt_answer_details", "filename"),
)
FEATURES = datasets.Features(dict.fromkeys(STRINGS, datasets.Value("string")) | {"image": datasets.Image()})
ORIGINAL, EDITED, SIGN, POSTER = picture("red"), picture("green"), picture("blue"), picture("white")


def row(category, subcategory, figure_id, question_id, gt_answer, image):
    return {
        "category": category,
        "subcategory": subcategory,
        "visual_input": "1" if figure_id == "0" else "2",
        "set_id": "0",
        "figure_id": figure_id,
        "sample_note": "circle",
        "question_id": question_id,
        "question": f"Is statement {question_id} about {subcategory} right?",
        "gt_answer": gt_answer,
        "gt_answer_details": "The circles have one size.",
        "filename": f"./{category}/{subcategory}/0_{figure_id}.png",
        "image": image,
    }


ROWS = [
    row("VD", "illusion", "0", "0", "1", ORIGINAL),
    row("VD", "illusion", "0", "1", "0", ORIGINAL),
    row("VD", "illusion", "1", "0", "0", EDITED),
    row("VD", "illusion", "1", "1", "1", EDITED),
    row("VD", "ocr", "1", "0", "1", SIGN),
    row("VS", "ocr", "1", "0", "0", POSTER),
]


@pytest.fixture
def hallusion_bench(benchmark):
    benchmark.write("lmms-lab/HallusionBench", ROWS, FEATURES, split="image")
    benchmark.run(TASK, {})
    return benchmark


def test_gold_answers_give_the_full_score_and_empty_ones_none(hallusion_bench):
    gold = hallusion_bench.gold()
    assert gold == {"0": "yes", "1": "no", "2": "no", "3": "yes", "4": "yes", "5": "no"}
    full = hallusion_bench.run(TASK, gold)
    assert [full[name] for name in ("aAcc", "fAcc", "qAcc", "average")] == [100, 100, 100, 100]
    none = hallusion_bench.run(TASK, dict.fromkeys(gold, ""))
    assert [none[name] for name in ("aAcc", "fAcc", "qAcc", "average")] == [0, 0, 0, 0]


def test_hand_made_answers_give_the_scores_counted_by_hand(hallusion_bench):
    answers = {
        "0": "Yes, it is.",  # right
        "1": "No.",  # right
        "2": "Yes",  # wrong
        "3": "YES",  # right
        "4": "Yes, there is no doubt.",  # both words: wrong
        "5": "no",  # right
    }
    result = hallusion_bench.run(TASK, answers)
    assert result["aAcc"] == 66.67  # 4 of 6 rows
    # figures: illusion 0 right, illusion 1 wrong (row 2), VD ocr 1 wrong, VS ocr 1 right, not one figure with VD's
    assert result["fAcc"] == 50
    # questions: illusion 0 wrong (row 2), illusion 1 right on both figures, VD ocr 0 wrong, VS ocr 0 right
    assert result["qAcc"] == 50
    assert result["average"] == 55.56  # (66.667 + 50 + 50) / 3
    assert (result["VD"], result["VS"]) == (60, 100)  # aAcc: 3 of 5, 1 of 1
    group = result["groups"]["sub_task"]["VD_illusion"]
    assert {key: value for key, value in group.items() if key != "counts"} == {
        "aAcc": 75, "fAcc": 50, "qAcc": 50, "average": 58.33, "n": 4,
        "aAcc_stderr": 25, "aAcc_interval": [30.06, 95.44],
    }  # fmt: skip
    assert result["counts"]["unparsed"] == 1


def test_the_prompt_is_the_question_and_the_wish_for_yes_or_no(hallusion_bench):
    assert hallusion_bench.prompts()["4"] == ("<image 1> Is statement 0 about ocr right?\nPlease answer yes or no.")


def test_a_picture_is_stored_once_for_its_questions(hallusion_bench):
    paths = [item["img_path"] for item in hallusion_bench.items().values()]
    assert paths == [
        *["img/VD_illusion_0_0.png"] * 2,
        *["img/VD_illusion_0_1.png"] * 2,
        *["img/VD_ocr_0_1.png", "img/VS_ocr_0_1.png"],
    ]
    assert [hallusion_bench.media(key)[0] for key in "0245"] == [
        image["bytes"] for image in (ORIGINAL, EDITED, SIGN, POSTER)
    ]


def test_questions_without_a_picture_can_be_prepared(benchmark):
    """The split `non_image` has neither picture nor file name."""
    rows = [row("VS", "chart", "0", "0", "1", None) | {"filename": None, "visual_input": "0"}]
    benchmark.write("lmms-lab/HallusionBench", rows, FEATURES, split="image")
    assert benchmark.run(TASK, {"0": "yes"})["aAcc"] == 100
    assert benchmark.prompts()["0"] == "Is statement 0 about chart right?\nPlease answer yes or no."
