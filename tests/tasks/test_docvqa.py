"""DocVQA: one config of two, several questions to a page, several types and accepted answers to a question."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "docvqa/docvqa_val"
FEATURES = datasets.Features(
    {
        "questionId": datasets.Value("string"),
        "question": datasets.Value("string"),
        "question_types": datasets.List(datasets.Value("string")),
        "image": datasets.Image(),
        "docId": datasets.Value("int64"),
        "ucsf_document_id": datasets.Value("string"),
        "ucsf_document_page_no": datasets.Value("string"),
        "answers": datasets.List(datasets.Value("string")),
        "data_split": datasets.Value("string"),
    }
)
PAGE, OTHER_PAGE = picture("white", mode="L"), picture("black", mode="1")


def row(number: str, page: str, answers: list[str] | None, types: list[str]) -> dict[str, object]:
    document = {"docId": 90002, "ucsf_document_id": "abcd0001", "ucsf_document_page_no": page, "data_split": "val"}
    image = PAGE if page == "81" else OTHER_PAGE
    question = {"questionId": number, "question": f"What is value {number}?", "question_types": types}
    return {**question, "image": image, "answers": answers, **document}


@pytest.fixture
def docvqa(benchmark):
    rows = [
        row("90001", "81", ["12.5"], ["table/list"]),
        row("90002", "81", ["Paris", "City of Paris"], ["layout", "handwritten"]),
        row("90003", "82", ["January 5, 1990"], ["layout"]),
    ]
    benchmark.write("lmms-lab/DocVQA", rows, FEATURES, split="validation", config="DocVQA")
    benchmark.write("lmms-lab/DocVQA", [row("90009", "81", None, [])], FEATURES, split="test", config="DocVQA")
    other = [row("70001", "81", ["none"], [])]
    benchmark.write("lmms-lab/DocVQA", other, FEATURES, split="validation", config="InfographicVQA")
    return benchmark


def test_empty_answers_give_zero_and_gold_answers_the_full_score(docvqa):
    assert docvqa.run(TASK, dict.fromkeys(["90001", "90002", "90003"], ""))["anls"] == 0
    assert docvqa.run(TASK, docvqa.gold())["anls"] == 100


def test_hand_made_answers_give_the_score_counted_by_hand(docvqa):
    # "pariss" is one edit away from "paris": 1 - 1/6 = 0.8333. "1991" is more than half off: 0.
    result = docvqa.run(TASK, {"90001": " 12.5\n", "90002": "PARISS", "90003": "1991"})
    assert result["anls"] == 61.11  # (1 + 0.8333 + 0) / 3
    scores = {kind: (group["anls"], group["n"]) for kind, group in result["groups"]["question_types"].items()}
    # A question counts in each of its types; layout: (0.8333 + 0) / 2.
    assert scores == {"handwritten": (83.33, 1), "layout": (41.67, 2), "table/list": (100, 1)}


def test_a_page_is_stored_once_as_it_is_and_the_prompt_asks_for_a_short_answer(docvqa):
    docvqa.run(TASK, {})
    items = docvqa.items()
    assert [item["img_path"] for item in items.values()] == ["img/90002_81.png", "img/90002_81.png", "img/90002_82.png"]
    [stored] = docvqa.folder.glob("cache/**/img/90002_81.png")
    assert stored.read_bytes() == PAGE["bytes"]
    assert docvqa.prompts()["90001"] == (
        "<image 1> What is value 90001?\nAnswer the question using a single word or phrase."
    )
