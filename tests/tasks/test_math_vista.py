"""MathVista: choices as texts or None, precision as a float or None, pictures of any format, skills as lists."""

from __future__ import annotations

import datasets
import pytest

from flagmm.config.locate import find_tasks
from flagmm.plugin import load_function
from tests.tasks.conftest import picture

TASK = "math_vista/math_vista_testmini"
FEATURES = datasets.Features(
    {
        "pid": datasets.Value("string"),
        "question": datasets.Value("string"),
        "image": datasets.Value("string"),
        "decoded_image": datasets.Image(),
        "choices": datasets.List(datasets.Value("string")),
        "unit": datasets.Value("string"),
        "precision": datasets.Value("float64"),
        "answer": datasets.Value("string"),
        "question_type": datasets.Value("string"),
        "answer_type": datasets.Value("string"),
        "metadata": {
            "category": datasets.Value("string"),
            "context": datasets.Value("string"),
            "grade": datasets.Value("string"),
            "img_height": datasets.Value("int64"),
            "img_width": datasets.Value("int64"),
            "language": datasets.Value("string"),
            "skills": datasets.List(datasets.Value("string")),
            "source": datasets.Value("string"),
            "split": datasets.Value("string"),
            "task": datasets.Value("string"),
        },
        "query": datasets.Value("string"),
    }
)
HINT = "Hint: Please answer the question and provide the correct option letter, e.g., A, B, C, D, at the end."
WHICH = f"{HINT}\nQuestion: Which point is highest?\nChoices:\n(A) C\n(B) B\n(C) A"
FORMATS = {
    "1": picture("red", mode="P"),
    "2": picture("red", mode="RGBA", suffix="WEBP"),
    "3": picture("red", suffix="JPEG"),
    "4": picture("red", suffix="MPO"),
    "5": picture("red", mode="LA"),
    "6": picture("red", mode="P", suffix="GIF"),
    "7": picture("red", mode="CMYK", suffix="JPEG"),
}


def row(pid: str, answer_type: str, answer: str, *, skills: list[str], **fields: object) -> dict[str, object]:
    choices = fields.get("choices")
    metadata = {"category": "math-targeted-vqa", "context": "table", "grade": "high school", "language": "english"}
    metadata |= {"img_height": 6, "img_width": 8, "source": "FigureQA", "split": "testmini", "skills": skills}
    metadata["task"] = "figure question answering" if choices else "math word problem"
    return {
        "pid": pid,
        "question": "Which point is highest?",
        "image": f"images/{pid}.jpg",
        "decoded_image": FORMATS[pid],
        "choices": None,
        "unit": None,
        "precision": None,
        "answer": answer,
        "question_type": "multi_choice" if choices else "free_form",
        "answer_type": answer_type,
        "metadata": metadata,
        "query": f"Hint: Please answer.\nQuestion: How much is number {pid}?",
        **fields,
    }


@pytest.fixture
def math_vista(benchmark):
    choices = ["C", "B", "A"]  # the option "A" has the letter C
    rows = [
        row("1", "text", "A", skills=["geometry reasoning", "logical reasoning"], choices=choices, query=WHICH),
        row("2", "integer", "3", skills=["arithmetic reasoning"]),
        row("3", "float", "1.5", skills=["geometry reasoning"], precision=1.0, unit="cm"),
        row("4", "float", "0.25", skills=["arithmetic reasoning"], precision=2.0),
        row("5", "list", "[1, 2, 3]", skills=["logical reasoning"]),
        row("6", "text", "145°", skills=["geometry reasoning"], choices=["35°", "145°"]),
        row("7", "integer", "14", skills=["arithmetic reasoning"]),
    ]
    benchmark.write("AI4Math/MathVista", rows, FEATURES, split="testmini")
    return benchmark


def test_empty_answers_give_zero_and_gold_answers_the_full_score(math_vista):
    assert math_vista.run(TASK, dict.fromkeys(FORMATS, ""))["accuracy"] == 0
    gold = math_vista.gold()
    assert gold == {"1": "C", "2": "3", "3": "1.5", "4": "0.25", "5": "[1, 2, 3]", "6": "B", "7": "14"}
    assert math_vista.run(TASK, gold)["accuracy"] == 100


def test_hand_made_answers_give_the_score_counted_by_hand(math_vista):
    answers = {
        "1": "Point A is at the top, so the answer is (C).",  # right
        "2": "There are 3.0 of them.",  # right: a whole number
        "3": "The length is 1.46 cm.",  # right: rounded to one decimal
        "4": "The answer is 0.3.",  # wrong
        "5": "So the list is [1,2,3].",  # right
        "6": "I cannot tell.",  # no answer; the official script would take the nearest option
        "7": "14.9",  # right by the official rule, which cuts; not with care
    }
    result = math_vista.run(TASK, answers)
    assert result["accuracy"] == 71.43  # 5/7
    tasks = {name: (group["accuracy"], group["n"]) for name, group in result["groups"]["sub_task"].items()}
    assert tasks == {"figure question answering": (50, 2), "math word problem": (80, 5)}  # 1/2, 4/5
    # A question counts in each of its skills: of geometry 1 and 3 are right, 6 is not; of arithmetic 2 and 7, not 4.
    assert result["groups"]["skills"]["geometry reasoning"]["accuracy"] == 66.67
    assert result["groups"]["skills"]["arithmetic reasoning"]["accuracy"] == 66.67
    assert result["groups"]["skills"]["logical reasoning"]["accuracy"] == 100
    assert result["counts"]["unparsed"] == 1
    assert result["rule_disagreements"] == 1
    assert math_vista.evaluated()["7"]["careful_correct"] == 0


def test_the_prompt_is_the_query_with_its_choices_once(math_vista):
    math_vista.run(TASK, {})
    assert math_vista.prompts()["1"] == f"<image 1> {WHICH}"


def test_pictures_of_all_formats_are_stored_as_they_are(math_vista):
    math_vista.run(TASK, {})
    stored = {path.stem: path for path in math_vista.folder.glob("cache/**/img/*")}
    assert {pid: path.read_bytes() for pid, path in stored.items()} == {
        pid: image["bytes"] for pid, image in FORMATS.items()
    }
    assert [stored[pid].suffix for pid in "1234567"] == [".png", ".webp", ".jpg", ".jpg", ".png", ".gif", ".jpg"]


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [("A", ["C", "B", "A"], "C"), ("5", ["4", "5", "5"], "B"), ("5", None, "5"), ("", None, None), ("", ["4"], None)],
)
def test_the_answer_is_a_letter_a_value_or_withheld(text, choices, expected):
    [task] = find_tasks([TASK])
    answer = load_function(task.parent / "process.py", "answer")
    assert answer(text, choices) == expected
