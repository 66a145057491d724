"""The scripted endpoint says what it was told to, so that the tests built on it can be believed."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.servers import (
    CHAT_PATH,
    USAGE,
    MockEndpoint,
    Reply,
    Script,
    Wire,
    by_question,
    completion,
    content_filter,
    error_reply,
    html_reply,
    no_choices,
    null_content,
    sequence,
    sse,
)


@contextmanager
def connected(endpoint: MockEndpoint, timeout: float = 5) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(urlsplit(endpoint.url).netloc, timeout=timeout)
    try:
        yield connection
    finally:
        connection.close()


def ask(endpoint: MockEndpoint, question: str = "which?", **fields: Any) -> tuple[http.client.HTTPResponse, bytes]:
    with connected(endpoint) as connection:
        body = {"model": "m", "messages": [{"role": "user", "content": question}], **fields}
        connection.request("POST", CHAT_PATH, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response, response.read()


def ask_once(script: Script, **fields: Any) -> tuple[http.client.HTTPResponse, bytes]:
    with MockEndpoint(script) as endpoint:
        return ask(endpoint, **fields)


def answer_of(body: bytes) -> Any:
    return json.loads(body)["choices"][0]["message"]["content"]


def events_of(body: bytes) -> list[Any]:
    """The events of a stream, read in a way of its own: `data:` lines only, whatever ends the lines."""
    data = [line.removeprefix("data: ") for line in body.decode().splitlines() if line.startswith("data: ")]
    return [text if text == "[DONE]" else json.loads(text) for text in data]


def streamed_text(body: bytes, key: str = "content") -> str:
    choices = [choice for event in events_of(body) if event != "[DONE]" for choice in event["choices"]]
    return "".join(choice["delta"].get(key, "") for choice in choices)


def test_a_plain_endpoint_answers_as_openai_does() -> None:
    response, body = ask_once(Reply(text="C", reason="thought"))
    parsed = json.loads(body)
    assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
    assert parsed["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "C", "reasoning_content": "thought"},
            "finish_reason": "stop",
        }
    ]
    assert parsed["usage"] == USAGE
    assert (parsed["model"], parsed["object"]) == ("m", "chat.completion")


def test_requests_are_recorded_with_path_headers_body_and_time() -> None:
    before = time.monotonic()
    with MockEndpoint() as endpoint:
        ask(endpoint, "is it red?", temperature=0)
        [request] = endpoint.requests
    assert (request.method, request.path, request.text) == ("POST", CHAT_PATH, "is it red?")
    assert request.headers["content-type"] == "application/json"
    assert request.body["temperature"] == 0
    assert before <= request.time <= time.monotonic()


def test_a_recorded_request_shows_text_and_pictures_of_the_last_user_message() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    content = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]
    turns = [("system", "be brief"), ("user", "first"), ("assistant", "yes"), ("user", content)]
    with MockEndpoint() as endpoint:
        ask(endpoint, messages=[{"role": role, "content": text} for role, text in turns])
        [request] = endpoint.requests
    assert (request.text, request.image_urls) == ("ab", ["data:image/png;base64,AA=="])


def test_a_body_that_is_no_json_is_recorded_as_empty() -> None:
    with MockEndpoint() as endpoint, connected(endpoint) as connection:
        connection.request("POST", CHAT_PATH, b"\xff not json")
        assert connection.getresponse().status == 200
        assert endpoint.requests[0].body == {}
        assert endpoint.requests[0].text == ""


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models", 200),
        ("GET", CHAT_PATH, 404),
        ("POST", "/v1" + CHAT_PATH, 404),
        ("POST", "/other/chat", 200),
    ],
    ids=["models", "wrong method", "doubled root", "extra path"],
)
def test_only_known_paths_are_answered(method: str, path: str, status: int) -> None:
    with MockEndpoint(paths=(CHAT_PATH, "/other/chat")) as endpoint, connected(endpoint) as connection:
        connection.request(method, path)
        assert connection.getresponse().status == status
        assert [request.path for request in [*endpoint.looks, *endpoint.requests]] == [path]


def test_the_list_of_models_has_the_openai_form() -> None:
    with MockEndpoint() as endpoint, connected(endpoint) as connection:
        connection.request("GET", "/v1/models")
        listed = json.loads(connection.getresponse().read())
    assert (listed["object"], [model["id"] for model in listed["data"]]) == ("list", ["mock"])


def test_errors_carry_status_code_and_the_time_to_wait() -> None:
    response, body = ask_once(error_reply(429, "slow down", code="rate_limit", retry_after=1.5), stream=True)
    assert (response.status, response.headers["Retry-After"]) == (429, "1.5")
    assert json.loads(body)["error"]["message"] == "slow down"
    assert json.loads(body)["error"]["code"] == "rate_limit"


def test_the_web_page_is_html() -> None:
    response, body = ask_once(html_reply())
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert body.startswith(b"<!DOCTYPE html>")


def test_empty_replies_have_the_form_their_names_promise() -> None:
    assert answer_of(ask_once(null_content())[1]) is None
    assert json.loads(ask_once(no_choices())[1])["choices"] == []
    assert json.loads(ask_once(content_filter())[1])["choices"][0]["finish_reason"] == "content_filter"
    response, body = ask_once(content_filter(400))
    assert (response.status, json.loads(body)["error"]["code"]) == (400, "content_filter")


def test_a_completion_takes_more_keys_of_the_message() -> None:
    _, body = ask_once(completion(None, finish_reason="length", refusal="I cannot"))
    choice = json.loads(body)["choices"][0]
    assert (choice["message"]["refusal"], choice["finish_reason"]) == ("I cannot", "length")


def test_a_reply_without_usage_says_nothing_of_it() -> None:
    assert "usage" not in json.loads(ask_once(Reply(usage=None))[1])


def test_a_sequence_gives_its_replies_in_order_and_then_an_error() -> None:
    with MockEndpoint(sequence(["A", error_reply(500, "boom"), Reply(text="C")])) as endpoint:
        assert [ask(endpoint)[0].status for _ in range(4)] == [200, 500, 200, 400]


def test_the_longest_key_in_the_question_chooses_the_reply() -> None:
    script = by_question({"q1": "A", "q10": sequence(["B", "C"]), "q2": ""})
    with MockEndpoint(script) as endpoint:
        answers = [answer_of(ask(endpoint, text)[1]) for text in ("see q10", "see q1", "see q10", "see q2")]
        assert answers == ["B", "A", "C", ""]
        assert ask(endpoint, "q3")[0].status == 400


def test_a_question_without_a_key_gets_the_default() -> None:
    assert answer_of(ask_once(by_question({"x": "A"}, default="D"))[1]) == "D"


def test_an_error_in_a_rule_is_raised_when_the_block_is_left() -> None:
    def rule(request: Any) -> Reply:
        assert request.text == "something else"
        return Reply()

    with pytest.raises(AssertionError, match="something else"), MockEndpoint(rule) as endpoint:
        assert ask(endpoint)[0].status == 400


def test_a_plain_reply_is_streamed_when_the_request_asks_for_it() -> None:
    reply = Reply(text="the cat 你好", reason="hm", finish_reason="length")
    response, body = ask_once(reply, stream=True)
    assert response.headers["Content-Type"] == "text/event-stream"
    assert (streamed_text(body), streamed_text(body, "reasoning_content")) == ("the cat 你好", "hm")
    events = events_of(body)
    assert events[-2]["choices"][0]["finish_reason"] == "length"
    assert events[-1] == "[DONE]"
    assert all("usage" not in event for event in events[:-1])


def test_a_stream_counts_tokens_only_when_asked_as_real_servers_do() -> None:
    usage = {"total_tokens": 5}
    _, body = ask_once(Reply(usage=usage), stream=True, stream_options={"include_usage": True})
    last = events_of(body)[-2]
    assert (last["choices"], last["usage"]) == ([], usage)


@pytest.mark.parametrize("cut", ["event", "character", 1, 7])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("ending", ["blank line", "newline", "nothing"])
def test_every_way_to_write_a_stream_carries_the_same_text(newline: str, ending: Any, cut: Any) -> None:
    reply = sse(["你", "好 é"], reasons=["思"], wire=Wire(newline=newline, ending=ending, cut=cut))
    body = b"".join(reply.stream_chunks or ())
    assert (streamed_text(body), streamed_text(body, "reasoning_content")) == ("你好 é", "思")
    assert events_of(body)[-1] == "[DONE]"
    newlines = {"blank line": 2, "newline": 1, "nothing": 0}[ending]
    assert body.endswith(b"[DONE]" + newline.encode() * newlines)
    assert body.count(b"\r") == body.count(b"\n") or newline != "\r\n"


def test_a_cut_inside_a_character_leaves_no_write_that_decodes_alone() -> None:
    first, second, *_ = sse(["你好"], wire=Wire(cut="character")).stream_chunks or ()
    for half in (first, second):
        with pytest.raises(UnicodeDecodeError):
            half.decode()


def test_a_stream_can_have_ids_comments_and_keep_alive_events_and_no_end_mark() -> None:
    wire = Wire(before=["id: 7", ": still here"], done=False)
    body = b"".join(sse(["A"], keep_alive=True, usage=None, wire=wire).stream_chunks or ())
    lines = body.decode().split("\n")
    assert lines[:2] == ["id: 7", ": still here"]
    assert lines.count("id: 7") == lines.count(": still here") == len(events_of(body)) == 6
    assert [len(event["choices"]) for event in events_of(body)] == [0, 1] * 3
    assert "[DONE]" not in body.decode()


def test_writes_of_a_stream_reach_the_client_apart() -> None:
    with MockEndpoint(sse(["你"], wire=Wire(cut="character"))) as endpoint, connected(endpoint) as connection:
        connection.request("POST", CHAT_PATH, "{}")
        response = connection.getresponse()
        first = response.read1(65536)
        assert first.endswith("你".encode()[:1])
        assert streamed_text(first + response.read()) == "你"


@pytest.mark.parametrize("script", [Reply(reset=True), Reply(reset=True, stream_chunks=[b"data: {"])])
def test_a_reset_breaks_the_connection_in_the_middle_of_the_reply(script: Reply) -> None:
    with MockEndpoint(script) as endpoint, pytest.raises(ConnectionResetError):
        ask(endpoint)


@pytest.mark.parametrize("script", [Reply(hang=True), Reply(hang=True, stream_chunks=[b"data: {"]), Reply(delay=60)])
def test_a_hanging_reply_never_ends_and_the_endpoint_still_closes_at_once(script: Reply) -> None:
    with ExitStack() as later:
        with MockEndpoint(script) as endpoint:
            connection = later.enter_context(connected(endpoint, timeout=0.2))
            connection.request("POST", CHAT_PATH, json.dumps({"stream": True}))
            with pytest.raises(TimeoutError):
                connection.getresponse().read()
            closing = time.monotonic()
        assert time.monotonic() - closing < 1


def test_the_url_of_a_closed_endpoint_refuses_connections() -> None:
    with MockEndpoint() as endpoint:
        ask(endpoint)
    with pytest.raises(ConnectionRefusedError):
        ask(endpoint)


def test_a_delay_holds_the_reply_back() -> None:
    start = time.monotonic()
    ask_once(Reply(delay=0.1))
    assert 0.1 <= time.monotonic() - start < 2


def test_requests_are_served_side_by_side_and_their_peak_is_counted() -> None:
    with MockEndpoint(Reply(delay=0.3)) as endpoint:
        threads = [threading.Thread(target=ask, args=(endpoint,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ask(endpoint)
    assert (endpoint.max_inflight, len(endpoint.requests)) == (4, 5)


def test_a_client_that_goes_away_no_longer_counts_as_open() -> None:
    with MockEndpoint(sequence([Reply(hang=True), "B"])) as endpoint:
        with connected(endpoint, timeout=0.1) as connection:
            connection.request("POST", CHAT_PATH, "{}")
            with pytest.raises(TimeoutError):
                connection.getresponse()
        time.sleep(0.1)
        assert ask(endpoint)[0].status == 200
    assert endpoint.max_inflight == 1
