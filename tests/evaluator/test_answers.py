"""Saved answers joined to their questions, whoever wrote them."""

from __future__ import annotations

import json
import logging

import pytest

from flagmm.errors import DataError
from flagmm.evaluator.answers import read_answers, reply_counts
from flagmm.types import Counts

ANNOTATIONS = {"1": {"answer": "A"}, "2": {"answer": "B"}}


@pytest.fixture
def read(tmp_path):
    def read(*records, annotations=ANNOTATIONS):
        (tmp_path / "t.json").write_text(json.dumps(records), encoding="utf-8")
        return read_answers(tmp_path / "t.json", annotations)

    return read


def replies(answer):
    return [(reply.text, reply.status, reply.inference) for reply in answer.replies]


def test_answers_meet_their_questions_in_the_file_s_order(read):
    first, second = read({"question_id": 2, "answer": "x", "note": 1}, {"question_id": "1", "answer": "y"})
    assert (first.question_id, first.annotation, first.repeated) == ("2", {"answer": "B"}, False)
    assert first.record == {"question_id": 2, "answer": "x", "note": 1}, "unknown keys are kept"
    assert (second.question_id, replies(second)) == ("1", [("y", "ok", 0)])


@pytest.mark.parametrize(
    ("record", "status"),
    [
        pytest.param({"answer": "A"}, "ok", id="no status"),
        pytest.param({"answer": ""}, "empty", id="no text"),
        pytest.param({"answer": " \n"}, "empty", id="blank"),
        pytest.param({"answer": None}, "empty", id="null"),
        pytest.param({"answer": 5}, "ok", id="number"),
        pytest.param({"answer": 0}, "ok", id="zero"),
        pytest.param({"answer": "Error code: 400 - {'error': …}"}, "failed", id="error text of FlagEvalMM"),
        pytest.param({"answer": "Can not answer because of the safety policy"}, "failed", id="another one"),
        pytest.param({"answer": "Input data may contain inappropriate content."}, "failed", id="and another"),
        pytest.param({"answer": "The Error code is 5"}, "ok", id="an answer about errors"),
        pytest.param({"answer": "A", "status": "refused"}, "refused", id="refused"),
        pytest.param({"answer": "", "status": "failed"}, "failed", id="failed"),
        pytest.param({"answer": "Error code: 5", "status": "ok"}, "ok", id="our own status is believed"),
        pytest.param({"answer": "A", "status": None}, "ok", id="null as status"),
        pytest.param({"answer": "A", "status": "timed out"}, "failed", id="a status that is none of ours"),
        pytest.param({"answer": "A", "status": ["ok"]}, "failed", id="a list as status"),
        pytest.param({"answer": "", "status": 500}, "failed", id="a number as status"),
    ],
)
def test_each_answer_has_a_status(read, record, status):
    (answer,) = read({"question_id": "1", **record})
    assert [reply.status for reply in answer.replies] == [status]


def test_statuses_that_are_none_of_ours_are_warned_of_once_with_how_many(read, caplog):
    caplog.set_level(logging.WARNING)
    repeated = {"answer": {"inference_0": "A", "inference_1": "B"}, "statuses": ["ok", "done"]}
    first, second = read({"question_id": "1", "answer": "A", "status": "done"}, {"question_id": "2", **repeated})
    assert [reply.status for answer in (first, second) for reply in answer.replies] == ["failed", "ok", "failed"]
    [told] = caplog.messages
    assert told.endswith(
        "t.json: 2 answers count as failed, as their status is none of ok, empty, refused, failed: 'done' (×2)"
    )


def test_many_unknown_statuses_are_still_one_line(read, caplog):
    caplog.set_level(logging.WARNING)
    annotations = {str(number): {} for number in range(9)}
    list(read(*({"question_id": n, "answer": "A", "status": f"s{n}"} for n in range(9)), annotations=annotations))
    [told] = caplog.messages
    assert ": 9 answers count as failed" in told
    assert told.endswith("'s4' (×1), …")


def test_a_reply_keeps_what_is_known_of_its_call(read):
    (answer,) = read({"question_id": "1", "answer": "A", "finish_reason": "length", "usage": {"total_tokens": 3}})
    (reply,) = answer.replies
    assert (reply.finish_reason, reply.usage) == ("length", {"total_tokens": 3})


def test_repeated_answers_are_replies_of_one_question(read):
    (answer,) = read(
        {
            "question_id": "1",
            "answer": {"inference_0": "A", "inference_2": "", "inference_3": "Error code: 5"},
            "statuses": ["ok", "refused"],
            "finish_reason": ["stop", None, "length"],
            "usage": [{"total_tokens": 1}],
        }
    )
    assert answer.repeated
    assert replies(answer) == [("A", "ok", 0), ("", "refused", 2), ("Error code: 5", "failed", 3)]
    assert [reply.finish_reason for reply in answer.replies] == ["stop", None, "length"]
    assert [reply.usage for reply in answer.replies] == [{"total_tokens": 1}, None, None]


def test_repeats_of_flagevalmm_lack_the_lists(read):
    (answer,) = read({"question_id": "1", "answer": {"inference_0": "A", "x": "B"}, "usage": {"total_tokens": 1}})
    assert replies(answer) == [("A", "ok", 0), ("B", "ok", 1)]
    assert [reply.usage for reply in answer.replies] == [None, None]


def test_answers_to_unknown_questions_are_left_out_with_a_warning(read, caplog):
    caplog.set_level(logging.WARNING)
    assert [
        answer.question_id for answer in read({"question_id": "9", "answer": "A"}, {"question_id": "1", "answer": "A"})
    ] == ["1"]
    assert "1 answers belong to no question of the data set and are left out" in caplog.text


def test_a_part_of_the_questions_may_be_answered(read):
    assert list(read()) == []
    assert len(read({"question_id": "2", "answer": "A"})) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            None, r"t\.json: no such file; run the inference first, or name the right results directory$", id="missing"
        ),
        pytest.param("{}", r"t\.json: expected a list of items, found an object$", id="object"),
        pytest.param('["x"]', r"t\.json: item 0: expected an object with 'question_id' and 'answer'$", id="text"),
        pytest.param(
            '[{"question_id": 1, "answer": "A"}, {"question_id": 2}]', r"item 1: expected an object", id="no answer"
        ),
        pytest.param('[{"answer": "A"}]', r"item 0: expected an object", id="no id"),
        pytest.param(
            '[{"question_id": 1, "answer": "A"}, {"question_id": "1", "answer": "B"}]',
            r"item 1: a second answer for question_id '1'$",
            id="twice",
        ),
        pytest.param("[", r"t\.json:1:2: not valid JSON", id="torn"),
    ],
)
def test_a_file_that_holds_no_answers_is_told(tmp_path, text, message):
    if text is not None:
        (tmp_path / "t.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_answers(tmp_path / "t.json", ANNOTATIONS)


def test_an_answer_that_the_server_broke_off_has_failed_in_files_of_any_tool(read, caplog):
    first, second = read(
        {"question_id": "1", "answer": "A", "status": "ok", "finish_reason": "abort"},
        {"question_id": "2", "answer": "B", "finish_reason": "Safety"},
    )
    assert (first.replies[0].status, first.record["status"]) == ("failed", "failed")
    assert (second.replies[0].status, second.record["status"]) == ("refused", "refused")
    assert "1 answers count as failed" in caplog.text
    assert "abort (×1)" in caplog.text


def test_of_repetitions_only_those_that_were_broken_off_have_failed(read):
    (answer,) = read(
        {
            "question_id": "1",
            "answer": {"inference_0": "A", "inference_1": "B"},
            "finish_reason": ["max_tokens", "timeout"],
            "status": "ok",
            "statuses": ["ok", "ok"],
        }
    )
    assert [(reply.status, reply.finish_reason) for reply in answer.replies] == [
        ("ok", "length"),
        ("failed", "timeout"),
    ]
    assert (answer.record["status"], answer.record["statuses"]) == ("failed", ["ok", "failed"])


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ('[{"question_id": 1, "answer": "A"}, {"question_id": 2, "answer": "Error code: 500"}]', (2, 1, 1)),
        ('[{"question_id": 1, "answer": {"inference_0": "A", "inference_1": "", "inference_2": "B"}}]', (3, 2, 0)),
        ('[{"question_id": 1}]', (0, 0, 0)),
        ("[1]", (0, 0, 0)),
        ("{", (0, 0, 0)),
    ],
)
def test_replies_are_counted_without_their_questions(tmp_path, text, counted):
    (tmp_path / "t.json").write_text(text)
    counts = reply_counts(tmp_path / "t.json")
    assert (counts.asked, counts.answered, counts.failed) == counted


def test_where_there_is_no_file_nothing_was_asked(tmp_path):
    assert reply_counts(tmp_path / "t.json") == Counts()
