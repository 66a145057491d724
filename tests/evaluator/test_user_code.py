"""A task's own scoring: what it sees, and what becomes of what it writes."""

from __future__ import annotations

import pytest

from flagmm.errors import UserCodeError
from flagmm.evaluator.answers import Answer, Reply
from flagmm.evaluator.user_code import UserScoring


def answer(question_id, *texts, **record):
    """A question with its replies; None is a failed one."""
    replies = tuple(
        Reply(
            text=text or "", status="failed" if text is None else "ok", finish_reason=None, usage=None, inference=number
        )
        for number, text in enumerate(texts)
    )
    repeated = len(texts) > 1
    saved = {f"inference_{number}": text for number, text in enumerate(texts)} if repeated else texts[0]
    return Answer(
        question_id=question_id,
        annotation={"answer": "A", "tags": ["x"]},
        record={"question_id": question_id, "answer": saved, **record},
        replies=replies,
        repeated=repeated,
    )


def run(answers, function, **settings):
    scoring = UserScoring(answers, **settings)
    return scoring.run(function, name="evaluate.py: get_result"), scoring.evaluated(["raw_answer"])


FAILED = {"kind": "saved", "message": "saved with another status than ours", "status": None}


def test_it_sees_all_items_asked_those_without_an_answer_too():
    seen = {}

    def get_result(annotations, predictions):
        seen.update(annotations=annotations, predictions=list(predictions))
        return {"n": len(predictions)}

    result, _ = run([answer("1", "A", reason="r"), answer("2", None)], get_result)
    assert result == {"n": 2}
    assert seen["annotations"] == {"1": {"answer": "A", "tags": ["x"]}, "2": {"answer": "A", "tags": ["x"]}}
    assert seen["predictions"] == [
        {"question_id": "1", "answer": "A", "reason": "r", "status": "ok"},
        {"question_id": "2", "answer": "", "status": "failed"},
    ]


def test_it_sees_the_answered_items_only_where_it_wants_no_others():
    seen = []

    def get_result(annotations, predictions):
        seen.extend([annotations.keys(), [prediction["question_id"] for prediction in predictions]])
        return {}

    _, evaluated = run([answer("1", "A"), answer("2", None), answer("3", "B")], get_result, answered_only=True)
    assert seen == [{"1", "3"}, ["1", "3"]]
    assert [entry["question_id"] for entry in evaluated] == ["1", "2", "3"]


@pytest.mark.parametrize("text", ["Error code: 400 - bad", "Can not answer because of policy"])
def test_the_message_of_a_failed_call_is_no_answer(text):
    (given,) = [
        Answer(
            question_id="1",
            annotation={},
            record={"question_id": "1", "answer": text},
            replies=(Reply(text=text, status="failed", finish_reason=None, usage=None, inference=0),),
            repeated=False,
        )
    ]
    seen = []
    _, (entry,) = run([given], lambda annotations, predictions: seen.extend(predictions) or {})
    assert [(each["answer"], each["status"]) for each in seen] == [("", "failed")]
    assert (entry["answer"], entry["status"], entry["error"]["message"]) == ("", "failed", text)


def test_its_numbers_are_kept_as_it_returned_them():
    numbers = {"accuracy": 66.666, "by": {"x": None}, 3: "odd"}
    assert run([answer("1", "A")], lambda annotations, predictions: numbers)[0] is numbers


def test_it_may_write_into_what_it_gets_without_harm():
    given = [answer("1", "A"), answer("2", "B")]

    def get_result(annotations, predictions):
        annotations["1"]["tags"].append("y")
        annotations.clear()
        for prediction in predictions:
            prediction["answer"] = "changed"
        return {}

    run(given, get_result)
    assert [each.annotation for each in given] == [{"answer": "A", "tags": ["x"]}] * 2
    assert [each.record["answer"] for each in given] == ["A", "B"]


def test_what_it_writes_into_predictions_is_kept_for_each_question():
    def get_result(annotations, predictions):
        predictions.sort(key=lambda prediction: prediction["answer"])
        for rank, prediction in enumerate(predictions):
            prediction |= {"correct": rank, "question_id": "spoilt"}
        del predictions[0]
        return {}

    _, evaluated = run([answer("1", "C"), answer("2", None), answer("3", "A"), answer("4", "B")], get_result)
    assert [entry.get("correct") for entry in evaluated] == [3, 0, 1, 2]
    assert evaluated[1]["status"] == "failed"


def test_repetitions_are_items_of_their_own():
    seen = []

    def get_result(annotations, predictions):
        seen.extend((prediction["question_id"], prediction["answer"]) for prediction in predictions)
        assert {prediction["question_id"] for prediction in predictions} == set(annotations)
        return {}

    run([answer("1", "A", None, "C"), answer("2", "D", "E")], get_result)
    assert seen == [
        ("1_inference_0", "A"), ("1_inference_1", ""), ("1_inference_2", "C"),
        ("2_inference_0", "D"), ("2_inference_1", "E"),
    ]  # fmt: skip


def test_what_it_writes_about_repetitions_is_put_together():
    def get_result(annotations, predictions):
        for prediction in predictions:
            prediction |= {
                "correct": prediction["answer"] == "A",
                "raw_answer": prediction["answer"].lower(),
                "other": 1,
            }
        return {}

    _, (entry,) = run([answer("1", "A", "B", None)], get_result)
    assert entry == {
        "question_id": "1",
        "answer": {"inference_0": "A", "inference_1": "B", "inference_2": None},
        "correct": pytest.approx(1 / 3),
        "inference_scores": [True, False, False],
        "num_inferences": 3,
        "raw_answer": ["a", "b", ""],
        "status": "failed",
        "statuses": ["ok", "ok", "failed"],
        "error": [None, None, FAILED],
    }


def test_a_repeated_question_that_it_says_nothing_of_is_as_it_was():
    _, (entry,) = run([answer("1", "A", "B")], lambda annotations, predictions: {})
    assert entry == {
        "question_id": "1", "answer": {"inference_0": "A", "inference_1": "B"},
        "status": "ok", "statuses": ["ok", "ok"], "error": [None, None],
    }  # fmt: skip


def test_without_a_run_the_answers_are_as_they_were():
    assert UserScoring([answer("1", "A"), answer("2", None)]).evaluated([]) == [
        {"question_id": "1", "answer": "A", "status": "ok", "error": None},
        {"question_id": "2", "answer": None, "status": "failed", "error": FAILED},
    ]


@pytest.mark.parametrize("value", [None, 5, [1], "x"])
def test_what_returns_no_dict_is_told(value):
    with pytest.raises(
        UserCodeError, match=rf"^evaluate\.py: get_result: returned {type(value).__name__}, expected a dict of metrics$"
    ):
        run([answer("1", "A")], lambda annotations, predictions: value)


@pytest.mark.parametrize("error", [KeyError("answer"), SystemExit(1), ZeroDivisionError("division by zero")])
def test_what_raises_is_told_in_one_line_with_its_place(error):
    def get_result(annotations, predictions):
        raise error

    with pytest.raises(
        UserCodeError, match=rf"^evaluate\.py: get_result: {type(error).__name__}: .* \(at .*test_user_code\.py:\d+\)$"
    ):
        run([answer("1", "A")], get_result)
