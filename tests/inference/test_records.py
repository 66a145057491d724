"""Predictions as lines and as entries of `<task>.json`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.evaluator.answers import read_answers
from flagmm.finish_reasons import read_finish_reason, status_by
from flagmm.inference.records import to_answer, to_line
from flagmm.inference.store import PredictionStore
from flagmm.jsonio import read_json
from flagmm.types import STATUSES, ItemError, MediaIdentity, Prediction, Usage

OFTEN = settings(max_examples=25, deadline=None)
TEXTS = st.text(st.characters(), max_size=8)  # lone surrogates included
COUNTS = st.none() | st.integers(0, 10**9)
USAGES = st.builds(Usage, prompt_tokens=COUNTS, completion_tokens=COUNTS, total_tokens=COUNTS, reasoning_tokens=COUNTS)
ERRORS = st.builds(ItemError, kind=TEXTS, message=TEXTS, status=st.none() | st.integers(100, 599))
MEDIA = st.builds(MediaIdentity, size=st.integers(0), mtime_ns=st.integers(), digest=TEXTS)
PREDICTIONS = st.builds(
    Prediction,
    question_id=TEXTS,
    question=TEXTS,
    answer=TEXTS,
    status=st.sampled_from(STATUSES),
    reason=TEXTS,
    usage=st.none() | USAGES,
    finish_reason=st.none() | TEXTS | st.sampled_from(["stop", "abort", "SAFETY", "max_tokens"]),
    error=st.none() | ERRORS,
    attempts=st.integers(0, 9),
    latency=st.none() | st.floats(0, 1e6),
    request=TEXTS,
    media=st.lists(MEDIA, max_size=2).map(tuple),
)

WHOLE = Prediction(
    question_id="7",
    question="Q?",
    answer="A",
    status="ok",
    reason="r",
    usage=Usage(prompt_tokens=1, total_tokens=0),
    finish_reason="stop",
    attempts=2,
    latency=0.5,
    request="h",
    inference=0,
    media=(MediaIdentity(size=3, mtime_ns=4, digest="d"),),
)
FAILED = replace(
    WHOLE, answer="", reason="", usage=None, finish_reason=None, status="failed", inference=1,
    error=ItemError(kind="server", message="HTTP 500: oops", status=500),
)  # fmt: skip


def test_a_line_holds_everything_about_a_call():
    assert to_line(WHOLE) == {
        "question_id": "7",
        "question": "Q?",
        "answer": "A",
        "reason": "r",
        "usage": {"prompt_tokens": 1, "total_tokens": 0},
        "status": "ok",
        "finish_reason": "stop",
        "error": None,
        "attempts": 2,
        "latency": 0.5,
        "request": "h",
        "inference": 0,
        "media": [[3, 4, "d"]],
    }
    assert to_line(FAILED)["error"] == {"kind": "server", "message": "HTTP 500: oops", "status": 500}
    assert (to_line(FAILED)["answer"], to_line(FAILED)["usage"]) == ("", None)


def test_the_entry_of_a_question_asked_once_is_its_line():
    entry = to_answer([to_line(WHOLE)], repeated=False)
    assert entry == {key: value for key, value in to_line(WHOLE).items() if key not in ("inference", "media")}


def test_the_entry_of_a_repeated_question_has_an_answer_per_repetition():
    assert to_answer([to_line(WHOLE), to_line(FAILED)], repeated=True) == {
        "question_id": "7",
        "question": "Q?",
        "answer": {"inference_0": "A", "inference_1": ""},
        "reason": ["r", ""],
        "usage": [{"prompt_tokens": 1, "total_tokens": 0}, None],
        "status": "failed",
        "statuses": ["ok", "failed"],
        "finish_reason": ["stop", None],
        "error": [None, {"kind": "server", "message": "HTTP 500: oops", "status": 500}],
        "attempts": [2, 2],
        "latency": [0.5, 0.5],
        "request": ["h", "h"],
    }


@pytest.mark.parametrize(
    ("statuses", "status"),
    [(["ok", "ok"], "ok"), (["ok", "empty", "failed"], "empty"), (["refused"], "refused")],
)
def test_a_repeated_question_is_ok_only_where_every_repetition_is(statuses, status):
    lines = [to_line(replace(WHOLE, status=each, inference=number)) for number, each in enumerate(statuses)]
    assert to_answer(lines, repeated=True)["status"] == status


def test_repetitions_keep_their_numbers_where_some_are_missing():
    assert to_answer([to_line(replace(WHOLE, inference=2))], repeated=True)["answer"] == {"inference_2": "A"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@OFTEN
@given(prediction=PREDICTIONS)
def test_a_prediction_survives_the_way_through_all_files(folder, prediction):
    lines, answers = folder / "predictions.jsonl", folder / "answers.json"
    lines.unlink(missing_ok=True)
    with PredictionStore(lines) as store:
        store.append(prediction)
    with PredictionStore(lines) as store:
        entry = store.get(prediction.question_id, 0)
        store.write_answers(answers, [prediction.question_id], 1)
    status = status_by(prediction.status, prediction.finish_reason)
    assert (entry.status, entry.request, entry.media) == (status, prediction.request, prediction.media)
    assert read_json(answers) == [to_answer([to_line(prediction)], repeated=False)]
    (answer,) = read_answers(answers, {prediction.question_id: {"kept": 1}})
    (reply,) = answer.replies
    assert (answer.question_id, answer.annotation, answer.repeated) == (prediction.question_id, {"kept": 1}, False)
    assert (reply.text, reply.status, reply.finish_reason) == (
        prediction.answer,
        status,
        read_finish_reason(prediction.finish_reason),
    )


@OFTEN
@given(predictions=st.lists(PREDICTIONS, min_size=2, max_size=4))
def test_repetitions_survive_the_way_through_all_files(folder, predictions):
    lines, answers = folder / "predictions.jsonl", folder / "answers.json"
    lines.unlink(missing_ok=True)
    repeats = [replace(each, question_id="q", inference=number) for number, each in enumerate(predictions)]
    with PredictionStore(lines) as store:
        for prediction in reversed(repeats):
            store.append(prediction)
        store.write_answers(answers, ["q"], len(repeats))
    (answer,) = read_answers(answers, {"q": {}})
    found = [(reply.text, reply.status, reply.finish_reason, reply.inference) for reply in answer.replies]
    assert found == [
        (
            each.answer,
            status_by(each.status, each.finish_reason),
            read_finish_reason(each.finish_reason),
            each.inference,
        )
        for each in repeats
    ]
    assert answer.repeated
