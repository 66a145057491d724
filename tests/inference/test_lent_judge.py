"""A judge lent to plain code: calls from threads, failures, interruptions."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from flagmm.config.model import parse_model
from flagmm.errors import DataError, JudgeError, ModelError
from flagmm.inference.judging import JudgeModel
from flagmm.models.api_response import ApiResponse
from flagmm.models.gpt import BaseApiModel, read_messages
from tests.servers import MockEndpoint, Reply, by_question, error_reply


def lend(endpoint, folder, *, fixed=(), **settings):
    values = {"model_name": "j", "url": endpoint.url, "temperature": 0, "retries": 0, **settings}
    spec = parse_model(values, source="test")
    return JudgeModel(spec, folder / "judgements.sqlite", fixed=frozenset(fixed)).lend()


def test_threads_ask_side_by_side_within_the_limit_whatever_their_settings(tmp_path):
    with MockEndpoint(Reply(delay=0.2)) as endpoint, lend(endpoint, tmp_path, num_workers=6) as judge:
        with ThreadPoolExecutor(24) as pool:
            replies = list(pool.map(lambda n: judge.infer(f"q{n}", max_tokens=1 + n % 3), range(24)))
        assert endpoint.max_inflight == 6
        assert replies == ["B"] * 24
        assert (judge.asked, judge.failed, len(judge.usages)) == (24, 0, 24)


def test_a_reply_is_a_text_with_its_parts(tmp_path):
    with MockEndpoint(Reply(text="<think>hm</think>B")) as endpoint, lend(endpoint, tmp_path) as judge:
        reply = judge.infer(judge.build_message("q"))
    assert isinstance(reply, str)
    assert (reply, reply.content, reply.reason, reply.finish_reason) == ("B", "B", "hm", "stop")
    assert reply.usage.total_tokens == 14


def test_a_failed_call_raises_and_the_next_one_goes_on(tmp_path):
    rule = by_question({"bad": error_reply(500, "down"), "blank": Reply(text=" ")}, default="B")
    with MockEndpoint(rule) as endpoint, lend(endpoint, tmp_path) as judge:
        for query in ("bad", "blank"):
            with pytest.raises(ModelError, match=r"^judge http://127"):
                judge.infer(query)
        assert judge.infer("good") == "B"
        assert (judge.asked, judge.failed) == (3, 2)


def ask_in_vain(endpoint, folder, count):
    with lend(endpoint, folder) as judge:
        for number in range(count):
            with pytest.raises((ModelError, JudgeError)):
                judge.infer(f"q{number}")


@pytest.mark.parametrize(("count", "asked"), [(1, 1), (10, 3)])
def test_a_hopeless_judge_is_asked_no_more_and_tells_at_the_end(tmp_path, count, asked):
    with MockEndpoint(error_reply(403, "no")) as endpoint:
        with pytest.raises(JudgeError, match="check api_key"):
            ask_in_vain(endpoint, tmp_path, count)
        assert len(endpoint.requests) == asked
    assert not (tmp_path / "judgements.sqlite").exists()


def fail(endpoint, folder):
    with lend(endpoint, folder) as judge:
        judge.infer("q")
        raise ZeroDivisionError


def test_an_error_of_the_code_itself_goes_through_as_it_is(tmp_path):
    with MockEndpoint() as endpoint, pytest.raises(ZeroDivisionError):
        fail(endpoint, tmp_path)


def interrupted(endpoint, folder, calls):
    """Scoring code whose threads wait for a judge that hangs, when Ctrl-C comes."""
    with lend(endpoint, folder) as judge, ThreadPoolExecutor(4) as pool:
        calls += [pool.submit(judge.infer, f"q{number}") for number in range(12)]
        while len(endpoint.requests) < 4:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def test_an_interruption_ends_calls_that_threads_wait_for(tmp_path):
    threads, calls = threading.active_count(), []
    with MockEndpoint(Reply(hang=True)) as endpoint:
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            interrupted(endpoint, tmp_path, calls)
        assert time.monotonic() - started < 5
        assert len(endpoint.requests) == 4
    assert {type(call.exception()) for call in calls} == {ModelError}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert threading.active_count() == threads


def test_after_the_scoring_there_is_no_judge(tmp_path):
    with MockEndpoint() as endpoint:
        with lend(endpoint, tmp_path) as judge:
            pass
        with pytest.raises(ModelError, match="the scoring is over"):
            judge.infer("q")


def ask_elsewhere(judge, said):
    try:
        judge.infer("q")
    except JudgeError as error:
        said.put(str(error))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_another_process_is_told_instead_of_left_to_wait(tmp_path):
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()
    with MockEndpoint() as endpoint, lend(endpoint, tmp_path) as judge:
        process = context.Process(target=ask_elsewhere, args=(judge, said))
        process.start()
        process.join(20)
    assert process.exitcode == 0
    assert "not from another process" in said.get()


def test_messages_have_the_form_of_openai_s_api():
    judge = BaseApiModel("j")
    first = judge.build_message("one", system_prompt="Be brief.", image_paths="a.png")
    assert first == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "a.png"}}],
        },
    ]
    past = [*first, {"role": "assistant", "content": "fine"}]
    again = judge.build_message("two", "Ignored.", past_messages=past)
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    read = read_messages(again)
    assert [message.text for message in read] == ["Be brief.", "one", "fine", "two"]
    assert [part.type for part in read[1].content] == ["text", "image"]


@pytest.mark.parametrize(
    "messages",
    [[{"content": "no role"}], ["text"], [{"role": "judge", "content": "x"}], [{"role": "user", "content": [5]}]],
)
def test_messages_of_another_form_are_told(messages):
    with pytest.raises(DataError, match="chat_messages: expected"):
        read_messages(messages)


def test_pictures_and_videos_go_into_a_message_as_flagevalmm_has_them(tmp_path):
    judge = BaseApiModel("j")
    (message,) = judge.build_message("q", None, {"image": ["a.png", "b.png"]})
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "image_url"]
    assert judge.build_message("q", multi_modal_data={"image": ["a.png", "b.png"]}) == [message]
    assert judge.build_message("q", None, ["a.png", "b.png"]) == [message]
    picture = Image.new("RGB", (8, 6), "red")
    for data in ({"image": picture}, {"image": [picture]}, {"video": tmp_path / "one.png"}):
        picture.save(tmp_path / "one.png")
        (message,) = read_messages(judge.build_message("q", None, data))
        assert [part.type for part in message.content] == ["text", "image"]
    with pytest.raises(DataError, match="expected image or video, found 'audio'"):
        judge.build_message("q", None, {"audio": "a.wav"})


def test_a_reply_survives_copying():
    import copy
    import pickle

    reply = ApiResponse("B", reason="hm", finish_reason="stop")
    for other in (copy.deepcopy(reply), pickle.loads(pickle.dumps(reply))):
        assert (other, other.reason, other.finish_reason) == ("B", "hm", "stop")


def about(judge):
    return [(call.question_id, call.about["words"], call.about["error"]) for call in judge.calls]


def test_each_call_is_noted_with_its_words_or_its_cause_and_the_question_that_it_names(tmp_path):
    rule = by_question({"bad": error_reply(400, "too long"), "blank": Reply(text=" ")}, default="B")
    with MockEndpoint(rule) as endpoint, lend(endpoint, tmp_path) as judge:
        judge.infer("good", question_id=7)
        judge.asked_about = lambda: "8"
        for query in ("bad", "blank"):
            with pytest.raises(ModelError):
                judge.infer(query)
        assert "question_id" not in endpoint.requests[0].body
    where = f"judge {endpoint.url}"
    assert about(judge) == [
        ("7", "B", None),
        ("8", None, f"{where}: HTTP 400: too long"),
        ("8", None, f"{where}: the reply is empty"),
    ]


def stumble(endpoint, folder, error):
    with lend(endpoint, folder, use_cache=True) as judge:
        judge.infer("first")
        judge.infer("second")
        raise error


@pytest.mark.parametrize(("error", "asked"), [(ValueError("no number"), 1), (DataError("not of the code"), 0)])
def test_the_reply_that_code_stumbled_over_is_asked_for_again(tmp_path, monkeypatch, error, asked):
    monkeypatch.setenv("FLAGEVALMM_CACHE", str(tmp_path / "cache"))
    with MockEndpoint() as endpoint:
        with pytest.raises(type(error)):
            stumble(endpoint, tmp_path, error)
        before = len(endpoint.requests)
        with lend(endpoint, tmp_path, use_cache=True) as judge:
            judge.infer("first")
            judge.infer("second")
        assert [request.text for request in endpoint.requests[before:]] == ["second"] * asked
