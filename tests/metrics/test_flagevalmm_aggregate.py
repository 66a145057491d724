"""FlagEvalMM's whole pass over a run."""

from __future__ import annotations

import pytest
from flagevalmm_vectors import vectors

from flagmm.metrics.flagevalmm_aggregate import flagevalmm_result, is_rejected, reject_info

GOLD = {
    "q1": {"answer": "a", "question_type": "multiple-choice", "topic": "x"},
    "q2": {"answer": "42", "question_type": "fill-blank", "topic": "y"},
}


def reply(question_id, answer, **fields):
    return {"question_id": question_id, "answer": answer, **fields}


@pytest.mark.parametrize("vector", vectors("flagevalmm_base_process"))
def test_a_run_has_the_numbers_of_flagevalmm(vector):
    line, expected = vector["input"], vector["expected"]
    run = flagevalmm_result(line["annotations"], line["predictions"], detailed_keys=line["detailed_keys"] or ())
    wanted = {
        name: value if name == "reject_info" else pytest.approx(value) for name, value in expected["result"].items()
    }
    assert run.result == wanted
    assert sorted(run.evaluated, key=lambda record: record["question_id"]) == expected["evaluated"]


@pytest.mark.parametrize("vector", vectors("flagevalmm_reject"))
def test_replies_are_rejected_as_flagevalmm_does_its_fault_included(vector):
    rejected = is_rejected(vector["input"]["answer"])
    assert {"rejected": rejected, "results": reject_info(int(rejected), 1)} == vector["expected"]
    if "sensible" in vector:
        assert is_rejected(vector["input"]["answer"], rule="careful") == vector["sensible"]["rejected"]


def test_a_kept_reply_moves_to_the_rejected_ones_question_unless_read_with_care():
    predictions = [reply("q1", {"inference_0": "Error code: 1", "inference_1": "A"}), reply("q2", "42")]
    moved = flagevalmm_result(GOLD, predictions)
    stayed = flagevalmm_result(GOLD, predictions, rule="careful")
    assert [record["question_id"] for record in moved.evaluated] == ["q1", "q1_inference_0"]
    assert moved.evaluated[0]["answer"] == {"inference_0": "A", "inference_1": "42"}
    assert [record["question_id"] for record in stayed.evaluated] == ["q1", "q2", "q1_inference_0"]
    assert moved.result == stayed.result


def test_groups_and_tokens_are_over_the_replies_kept():
    usage = {"total_tokens": 9, "prompt_tokens": 6, "completion_tokens": 3}
    predictions = [reply("q1", "B", usage=usage), reply("q2", "42"), reply("q1", "Error code", usage=usage)]
    result = flagevalmm_result(GOLD, predictions, detailed_keys=["topic"]).result
    assert result["accuracy"] == 50
    assert (result["x"], result["y"]) == (0, 100)
    assert [result[name] for name in result if name.startswith("average")] == [4.5, 3, 1.5]
    assert result["reject_info"] == {"reject_rate": 33.33, "reject_number": 1, "total_question": 3}


@pytest.mark.parametrize("predictions", [[], [reply("q1", "Error code: 5")]])
def test_a_run_without_kept_replies_has_no_accuracy(predictions):
    result = flagevalmm_result(GOLD, predictions).result
    assert result["accuracy"] is None
    assert result["average_tokens"] is None


def test_another_question_type_is_an_error():
    with pytest.raises(ValueError, match="essay"):
        flagevalmm_result({"q": {"answer": "", "question_type": "essay"}}, [reply("q", "x")])
