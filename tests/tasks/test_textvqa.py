"""TextVQA: ten answers to a question as plain texts, soft accuracy, and a variant with OCR tokens in the prompt."""

from __future__ import annotations

import datasets
import pytest

from tests.tasks.conftest import picture

TASK = "textvqa/textvqa_val"
FEATURES = datasets.Features(
    {
        "image_id": datasets.Value("string"),
        "question_id": datasets.Value("int32"),
        "question": datasets.Value("string"),
        "question_tokens": datasets.List(datasets.Value("string")),
        "image": datasets.Image(),
        "image_width": datasets.Value("int32"),
        "image_height": datasets.Value("int32"),
        "flickr_original_url": datasets.Value("string"),
        "flickr_300k_url": datasets.Value("string"),
        "answers": datasets.List(datasets.Value("string")),
        "image_classes": datasets.List(datasets.Value("string")),
        "set_name": datasets.Value("string"),
        "ocr_tokens": datasets.List(datasets.Value("string")),
    }
)
PHOTO = picture("green", suffix="JPEG")


def row(number: int, answers: list[str], *, image: str = "00000000000000aa", tokens: list[str]) -> dict[str, object]:
    question = "what brand is this radio?"
    urls = {"flickr_original_url": "https://example.org/o.jpg", "flickr_300k_url": "https://example.org/z.jpg"}
    return {
        "image_id": image,
        "question_id": number,
        "question": question,
        "question_tokens": question.rstrip("?").split(),
        "image": PHOTO,
        "image_width": 8,
        "image_height": 6,
        **urls,
        "answers": answers,
        "image_classes": ["Radio"],
        "set_name": "val",
        "ocr_tokens": tokens,
    }


@pytest.fixture
def textvqa(benchmark):
    rows = [
        row(90004, ["acme"] * 8 + ["acme corp", "unknown"], tokens=["ACME", "FM"]),
        row(90005, ["men's"] * 5 + ["2", "2", "two", "the 2", "no idea"], tokens=[]),
        row(90006, ["12:30"] * 10, image="00000000000000bb", tokens=["12:30"]),
    ]
    benchmark.write("lmms-lab/textvqa", rows, FEATURES, split="validation")
    return benchmark


def test_empty_answers_give_zero_and_gold_answers_the_full_score(textvqa):
    assert textvqa.run(TASK, dict.fromkeys(["90004", "90005", "90006"], ""))["vqa_accuracy"] == 0
    assert textvqa.run(TASK, textvqa.gold())["vqa_accuracy"] == 100


def test_hand_made_answers_give_the_score_counted_by_hand(textvqa):
    # 90004: one person of ten says "acme corp"; the other nine see one match, that one none: 9 * 1/3 / 10 = 0.3.
    # 90005: "2", "2", "two" and "the 2" are one answer, so any of ten sees three matches: 1.  90006: 0.
    result = textvqa.run(TASK, {"90004": "Acme Corp.", "90005": "Two", "90006": "12"})
    assert result["vqa_accuracy"] == 43.33  # (0.3 + 1 + 0) / 3


def test_the_prompt_capitalises_the_question_and_a_picture_is_stored_once_as_it_is(textvqa):
    textvqa.run(TASK, {})
    assert textvqa.prompts()["90004"] == (
        "<image 1> What brand is this radio?\nAnswer the question using a single word or phrase."
    )
    stored = sorted(textvqa.folder.glob("cache/**/img/*"))
    assert [path.name for path in stored] == ["00000000000000aa.jpg", "00000000000000bb.jpg"]
    assert stored[0].read_bytes() == PHOTO["bytes"]


def test_the_variant_shows_the_ocr_tokens_and_shares_the_prepared_data(textvqa):
    result = textvqa.run("textvqa/textvqa_val_ocr", {"90004": "acme", "90005": "men's", "90006": "12:30"})
    assert result["vqa_accuracy"] == 100
    assert textvqa.prompts()["90004"] == (
        "<image 1> What brand is this radio?\n"
        "Reference OCR token: ACME, FM\n"
        "Answer the question using a single word or phrase."
    )
    assert len(textvqa.items()) == 3
