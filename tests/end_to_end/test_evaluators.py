"""Each evaluator that is no plain metric, through the real command with a scripted model."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.end_to_end.folders import result_of, write_task

OPEN = [
    {
        "question_id": "1",
        "question": "How many?",
        "question_type": "open",
        "answer_type": "integer",
        "answer": 3,
        "kind": "x",
    },
    {
        "question_id": "2",
        "question": "Which?",
        "question_type": "open",
        "answer_type": "text match",
        "answer": "red",
        "kind": "y",
    },
]
CAPTIONS = [
    {"question_id": "1", "question": "Describe.", "question_type": "caption", "answer": ["a red dog", "one dog"]},
    {"question_id": "2", "question": "Describe.", "question_type": "caption", "answer": ["two boats"]},
]
SHORT = [
    {"question_id": "1", "question": "Animal?", "question_type": "short-answer", "answer": "cat"},
    {"question_id": "2", "question": "Thing?", "question_type": "short-answer", "answer": "boat"},
]
PARTS = "[dict(type='BaseEvaluator'), dict(type='MetricEvaluator', metrics='anls')]"


@pytest.fixture
def score(tmp_path, run_command):
    """The result of a task that a scripted model answers by question id."""

    def score(items, evaluator, answers, *flags):
        task = write_task(tmp_path, items, evaluator=evaluator)
        model = tmp_path / "model.json"
        model.write_text(json.dumps({"model_type": "scripted", "answers": answers}))
        done = run_command("--tasks", task, "--cfg", model, "--output-dir", tmp_path / "out", *flags)
        assert done.status == 0, done.stderr
        return result_of(tmp_path / "out")

    return score


def test_open_answers_are_scored_by_type(score):
    evaluator = "dict(type='OpenEvaluator', tracker_type='kind')"
    result = score(OPEN, evaluator, {"1": "I see 3", "2": "It is blue."})
    assert (result["accuracy"], result["n"], result["evaluator"]) == (50.0, 2, "OpenEvaluator")
    assert result["x"][:3] == [1.0, 1, 1.0]
    assert result["y"][:3] == [0.0, 1, 0.0]


def test_captions_are_scored_as_a_whole(score):
    result = score(CAPTIONS, "dict(type='CocoEvaluator')", {"1": "A red dog.", "2": "Two boats"})
    assert (result["Bleu_1"], result["ROUGE_L"], result["evaluator"]) == (1.0, 1.0, "CocoEvaluator")


def test_several_evaluators_score_the_same_answers(score):
    evaluator = f"dict(type='AggregationEvaluator', evaluators={PARTS})"
    result = score(SHORT, evaluator, {"1": "cat", "2": "boats"})
    assert (result["accuracy"], result["anls"], result["evaluator"]) == (50.0, 90.0, "AggregationEvaluator")


def test_recall_is_counted_from_a_matrix_in_the_results_folder(tmp_path, score):
    folder = tmp_path / "out" / "colours"
    folder.mkdir(parents=True)
    np.save(folder / "colours.npy", np.array([[0.9, 0.1], [0.8, 0.2]]))
    result = score(SHORT, "dict(type='RetrievalEvaluator')", {}, "--without-infer")
    assert (result["i2t_R@1"], result["t2i_R@1"], result["mean_recall"]) == (
        50.0,
        100.0,
        pytest.approx(91.67, abs=0.01),
    )
    assert result["evaluator"] == "RetrievalEvaluator"
