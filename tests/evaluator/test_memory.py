"""Scoring holds little for each question."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from flagmm.dataset.vqa_base_dataset import VqaBaseDataset
from flagmm.evaluator.base_evaluator import BaseEvaluator

BYTES = 400
"""For each question: more than it takes, and an eighth of an annotation and an answer as dicts."""


def choice(number):
    return {"question_type": "multiple-choice", "options": ["a red kite", "a blue boat"], "answer": "AB"[number % 2]}


def short(number):
    return {"question_type": "short-answer", "answer": f"the name of number {number}"}


def peak(folder, count, kind):
    """Bytes at the most, from loading the data to the result."""
    folder.mkdir()
    items = [
        {"question_id": f"q{number}", "question": "Which? " * 20, "topic": number % 7, **kind(number)}
        for number in range(count)
    ]
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    answers = [
        {
            "question_id": each["question_id"],
            "question": each["question"],
            "answer": each["answer"] + ".",
            "usage": usage,
        }
        for each in items
    ]
    (folder / "data.json").write_text(json.dumps(items))
    (folder / "t.json").write_text(json.dumps(answers))
    del items, answers
    tracemalloc.start()
    try:
        dataset = VqaBaseDataset(name="t", data_root=str(folder))
        result = BaseEvaluator(detailed_keys=["topic"]).process(dataset, folder)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [choice, short])
def test_memory_hardly_grows_with_the_questions(tmp_path, kind):
    peak(tmp_path / "first", 10, kind)  # imports what is imported at the first use
    _, few = peak(tmp_path / "few", 3000, kind)
    result, many = peak(tmp_path / "many", 9000, kind)
    assert (result["n"], result["accuracy"]) == (9000, 100.0)
    assert (many - few) / 6000 < BYTES
