"""Replies of an endpoint -> ModelOutput or ModelError, whatever is missing in them."""

from __future__ import annotations

import email.utils
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import ModelError
from flagmm.models.openai_reply import (
    content_text,
    error_in_body,
    make_output,
    parse_completion,
    parse_json,
    parse_retry_after,
    parse_usage,
    served_root,
    setting_hint,
    status_error,
)
from flagmm.models.sse import StreamedReply
from flagmm.types import ModelOutput, Usage
from tests.core_cases import core_cases

OFTEN = settings(max_examples=50, deadline=None)
KEYS = st.sampled_from(
    ("choices", "message", "delta", "content", "text", "error", "code", "finish_reason", "refusal", "reasoning_content")
)
COUNTS = st.sampled_from(("prompt_tokens", "completion_tokens", "total_tokens", "completion_tokens_details"))
SCALARS = st.none() | st.booleans() | st.integers(0, 600) | st.floats() | st.text(max_size=4) | st.just(10**400)
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
CHOICE = st.fixed_dictionaries({}, optional={"message": ANY_JSON, "delta": ANY_JSON, "finish_reason": SCALARS})
NEARLY_A_COMPLETION = st.fixed_dictionaries(
    {"choices": st.lists(CHOICE, max_size=1)},
    optional={"usage": st.dictionaries(COUNTS, SCALARS, max_size=3), "error": ANY_JSON},
)


def completion(content, *, finish_reason="stop", usage=None, **message):
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish_reason}], "usage": usage}


def status_of(output):
    if output.refused:
        return "refused"
    return "empty" if not output.text.strip() else "truncated" if output.finish_reason == "length" else "ok"


@pytest.mark.parametrize(("given", "expected"), core_cases("api_parse"))
def test_recorded_replies(given, expected):
    retry = None
    try:
        if given["http_status"] >= 300:
            raise status_error(given["http_status"], json.dumps(given["body"]), {})
        output = parse_completion(given["body"])
        found = {"content": output.text, "status": status_of(output)}
    except ModelError as error:
        found = {"content": "", "status": "refused" if error.kind == "refused" else "error"}
        retry = error.retryable
    assert found == {key: expected[key] for key in found}
    assert retry == expected.get("retry", retry)


@pytest.mark.parametrize(
    ("body", "output"),
    [
        pytest.param(completion("A"), ModelOutput(text="A", finish_reason="stop"), id="plain"),
        pytest.param(completion("A", finish_reason=None), ModelOutput(text="A"), id="no finish reason"),
        pytest.param({"choices": [{"message": {}}]}, ModelOutput(text=""), id="next to nothing"),
        pytest.param(completion(None), ModelOutput(text="", finish_reason="stop"), id="null"),
        pytest.param(
            completion([{"type": "text", "text": "A"}, {"type": "x"}, "B", 3]),
            ModelOutput(text="AB", finish_reason="stop"),
            id="parts",
        ),
        pytest.param(completion(5), ModelOutput(text="", finish_reason="stop"), id="number"),
        pytest.param(
            completion("<think>r</think>A"),
            ModelOutput(text="A", reason="r", finish_reason="stop"),
            id="inline thinking",
        ),
        pytest.param(
            completion("A", reasoning_content="r"),
            ModelOutput(text="A", reason="r", finish_reason="stop"),
            id="thinking beside it",
        ),
        pytest.param(
            completion("A", reasoning="r"),
            ModelOutput(text="A", reason="r", finish_reason="stop"),
            id="under another key",
        ),
        pytest.param(
            completion("A", reasoning_content="", reasoning="r"),
            ModelOutput(text="A", reason="r", finish_reason="stop"),
            id="under both",
        ),
        pytest.param(
            completion("A", reasoning={"x": 1}),
            ModelOutput(text="A", finish_reason="stop"),
            id="thinking that is no text",
        ),
        pytest.param(
            completion("r2</think>A", reasoning="r1"),
            ModelOutput(text="A", reason="r1\nr2", finish_reason="stop"),
            id="thinking twice",
        ),
        pytest.param(
            completion("<think>r", finish_reason="length"),
            ModelOutput(text="", reason="r", finish_reason="length"),
            id="cut while thinking",
        ),
        pytest.param(
            completion("", finish_reason="content_filter"),
            ModelOutput(text="", finish_reason="content_filter", refused=True),
            id="filtered",
        ),
        pytest.param(
            completion(None, refusal="I won't."), ModelOutput(text="", finish_reason="stop", refused=True), id="refusal"
        ),
        pytest.param(completion("A", refusal=None), ModelOutput(text="A", finish_reason="stop"), id="no refusal"),
        pytest.param({**completion("A"), "error": None}, ModelOutput(text="A", finish_reason="stop"), id="null error"),
        pytest.param(
            completion("A", usage={"prompt_tokens": 2, "completion_tokens": 3}),
            ModelOutput(
                text="A", finish_reason="stop", usage=Usage(prompt_tokens=2, completion_tokens=3, total_tokens=5)
            ),
            id="usage",
        ),
    ],
)
def test_a_reply_is_read_whatever_fields_are_missing(body, output):
    assert parse_completion(body) == output


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "the reply is no JSON object"),
        ([], "the reply is no JSON object"),
        ("text", "the reply is no JSON object"),
        ({}, "the reply has no choices"),
        ({"choices": None}, "the reply has no choices"),
        ({"choices": []}, "the reply has no choices"),
        ({"choices": ["A"]}, "the reply has no choices"),
        ({"choices": [{"text": "A"}]}, "the reply's choice has no message"),
        ({"choices": [{"message": None}]}, "the reply's choice has no message"),
    ],
)
def test_what_is_no_completion_is_a_bad_reply_that_may_pass(body, message):
    with pytest.raises(ModelError) as caught:
        parse_completion(body)
    assert (str(caught.value), caught.value.kind, caught.value.retryable) == (message, "bad_reply", True)


@OFTEN
@given(ANY_JSON | NEARLY_A_COMPLETION)
def test_any_json_gives_an_output_or_a_model_error(body):
    try:
        output = parse_completion(body)
    except ModelError:
        return
    assert isinstance(output.text, str)
    assert isinstance(output.reason, str)


@OFTEN
@given(st.lists(ANY_JSON | NEARLY_A_COMPLETION, max_size=2))
def test_any_json_in_a_stream_gives_an_output_or_a_model_error(events):
    reply = StreamedReply()
    try:
        for event in events:
            reply.add(json.dumps(event).encode())
        assert isinstance(reply.output().text, str)
    except ModelError:
        return


@OFTEN
@given(
    st.sampled_from([300, 307, 400, 401, 403, 404, 408, 422, 429, 451, 500, 503, 599]),
    ANY_JSON.map(json.dumps) | st.text(),
)
def test_any_body_of_an_error_gives_a_model_error_of_one_short_line(status, body):
    error = status_error(status, body, {})
    assert error.status == status
    assert len(str(error)) < 400
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (301, "not_found", False), (400, "bad_request", False), (401, "auth", False), (402, "auth", False),
        (403, "auth", False), (404, "not_found", False), (405, "not_found", False), (408, "server", True),
        (409, "server", True), (410, "not_found", False), (413, "bad_request", False), (422, "bad_request", False),
        (425, "server", True), (429, "rate_limit", True), (500, "server", True), (502, "server", True),
        (503, "server", True), (504, "server", True), (529, "server", True),
    ],
)  # fmt: skip
def test_a_status_says_what_went_wrong_and_whether_to_try_again(status, kind, retryable):
    error = status_error(status, "", {})
    assert (error.kind, error.retryable, error.status) == (kind, retryable, status)


@pytest.mark.parametrize(("given", "expected"), core_cases("retry_policy"))
def test_recorded_statuses_are_tried_again_or_not(given, expected):
    assert status_error(given["http_status"], "{}", {}).retryable is expected


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, '{"error": {"code": "content_filter", "message": "x"}}', "refused"),
        (400, '{"error": {"message": "flagged by our content policy"}}', "refused"),
        (403, '{"error": {"message": "Responsibleai policy violation"}}', "refused"),
        (451, "Inappropriate content", "refused"),
        (500, '{"error": {"code": "content_filter"}}', "server"),
        (429, "content filter busy", "rate_limit"),
        (400, '{"error": {"message": "the image is too large"}}', "bad_request"),
        (400, '{"error": {"message": "unknown field content"}}', "bad_request"),
    ],
)
def test_a_filter_s_refusal_is_told_from_a_wrong_request(status, body, kind):
    assert status_error(status, body, {}).kind == kind


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"error": {"message": "too\\n long"}}', "HTTP 400: too long"),
        ('{"error": "too long"}', "HTTP 400: too long"),
        ('{"detail": {"msg": "too long"}}', "HTTP 400: too long"),
        ('{"object": "error", "message": "too long"}', "HTTP 400: too long"),
        ('{"error": {"code": 5}}', 'HTTP 400: {"code": 5}'),
        ('{"detail": [{"loc": ["x"]}]}', 'HTTP 400: [{"loc": ["x"]}]'),
        ("<html><style>b {}</style><body>Bad <b>gateway</b></body></html>", "HTTP 400: Bad gateway"),
        ("", "HTTP 400: (empty)"),
        ("x" * 1000, f"HTTP 400: {'x' * 300}…"),
    ],
)
def test_the_message_is_found_however_the_endpoint_puts_it(body, text):
    assert str(status_error(400, body, {})) == text


def test_a_redirect_names_where_to():
    error = status_error(308, "", {"Location": "https://other/v1"})
    assert str(error) == "HTTP 308: the endpoint redirects to https://other/v1; use that URL"
    assert not error.retryable


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        pytest.param("worker restarted", "server", True, id="text"),
        pytest.param({"message": "x", "code": 429}, "rate_limit", True, id="a status as code"),
        pytest.param({"message": "x", "code": 401}, "auth", False, id="wrong key"),
        pytest.param({"message": "x", "code": "internal"}, "server", True, id="another code"),
        pytest.param({"message": "x", "code": 7}, "server", True, id="a number that is no status"),
        pytest.param({"code": "data_inspection_failed"}, "refused", False, id="filter"),
    ],
)
def test_an_error_with_a_success_status_is_an_error(error, kind, retryable):
    found = error_in_body(error)
    assert (found.kind, found.retryable) == (kind, retryable)
    with pytest.raises(ModelError):
        parse_completion({**completion("A"), "error": error})


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ("x", None),
        ({}, None),
        ({"prompt_tokens": None, "completion_tokens": "3"}, None),
        ({"prompt_tokens": 2}, Usage(prompt_tokens=2)),
        ({"prompt_tokens": 2, "completion_tokens": 0}, Usage(prompt_tokens=2, completion_tokens=0, total_tokens=2)),
        (
            {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 9},
            Usage(prompt_tokens=2, completion_tokens=3, total_tokens=9),
        ),
        ({"total_tokens": 9.0}, Usage(total_tokens=9)),
        (
            {"total_tokens": float("inf"), "prompt_tokens": float("nan"), "completion_tokens": 1},
            Usage(completion_tokens=1),
        ),
        ({"completion_tokens_details": {"reasoning_tokens": 4}}, Usage(reasoning_tokens=4)),
        ({"completion_tokens_details": None, "total_tokens": 1}, Usage(total_tokens=1)),
    ],
)
def test_token_counts_are_read_as_far_as_they_are_given(usage, expected):
    assert parse_usage(usage) == expected


def http_date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        ("0", 0, 0), ("3", 3, 3), (" 2.5 ", 2.5, 2.5), ("-5", 0, 0),
        pytest.param(http_date(1000), 100, 1000, id="date"),
        pytest.param(http_date(-1000), 0, 0, id="past date"),
        pytest.param(http_date(1000).replace(" GMT", ""), 100, 1000, id="date without a zone"),
        pytest.param(http_date(1000).replace(" GMT", " -0000"), 100, 1000, id="date of no zone"),
    ],
)  # fmt: skip
def test_the_time_to_wait_is_read(value, low, high):
    assert low <= parse_retry_after(value) <= high


@pytest.mark.parametrize(
    "value", [None, "", "soon", "1 2", "Mon, 01 Jan 2024 00:00:00 +99999999999999999999", "Mon, 99 Jan 2024"]
)
def test_what_says_no_time_is_none(value):
    assert parse_retry_after(value) is None


def test_the_time_to_wait_is_in_the_error():
    assert status_error(429, "", {"Retry-After": "7"}).retry_after == 7
    assert status_error(429, "", {}).retry_after is None


@pytest.mark.parametrize("body", [b"", b"<html>Hi</html>", b'{"a": ', b"\xff\xfe", b"[" * 100_000, b"1" * 5000])
def test_a_body_that_is_no_json_is_a_bad_reply_that_shows_its_beginning(body):
    with pytest.raises(ModelError, match=r"^the reply is no JSON: ") as caught:
        parse_json(body)
    assert caught.value.kind == "bad_reply"
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("reason", "refused"),
    [
        ("stop", False),
        ("content_filter", True),
        ("safety", True),
        ("SAFETY", True),
        ("Recitation", True),
        ("FinishReason.PROHIBITED_CONTENT", True),
        ("refusal", True),
        (None, False),
        (3, False),
    ],
)
def test_the_finish_reason_tells_a_refusal(reason, refused):
    output = make_output(text="A", reason="", finish_reason=reason, usage=None, refused=False)
    assert (output.refused, output.finish_reason) == (refused, reason if isinstance(reason, str) else None)


def test_parts_of_content_are_joined_in_order():
    assert content_text([{"text": "a"}, {"text": None}, {"text": "b"}]) == "ab"


def test_a_reply_that_the_endpoint_broke_off_is_no_answer():
    body = {"choices": [{"message": {"content": "tw"}, "finish_reason": "error"}]}
    with pytest.raises(ModelError) as caught:
        parse_completion(body)
    assert (caught.value.kind, caught.value.retryable) == ("server", True)


BROKEN_OFF = ["abort", "ABORTED", "cancelled", "canceled", "timeout", "insufficient_system_resource", "network_error"]


@pytest.mark.parametrize("reason", BROKEN_OFF)
def test_what_the_server_broke_off_has_failed_and_may_pass_streamed_or_not(reason):
    body = {"choices": [{"message": {"content": "tw"}, "finish_reason": reason}]}
    with pytest.raises(ModelError, match=f"broke the generation off .*{reason}") as whole:
        parse_completion(body)
    stream = StreamedReply()
    stream.add(json.dumps({"choices": [{"delta": {"content": "tw"}, "finish_reason": None}]}).encode())
    stream.add(json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode())
    with pytest.raises(ModelError) as streamed:
        stream.output()
    for caught in (whole, streamed):
        assert (caught.value.kind, caught.value.retryable) == ("server", True)


def test_a_stream_that_says_null_as_a_word_has_not_ended():
    stream = StreamedReply()
    stream.add(json.dumps({"choices": [{"delta": {"content": "tw"}, "finish_reason": "null"}]}).encode())
    with pytest.raises(ModelError, match="the stream broke off"):
        stream.output()


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("length", ModelOutput(text="", finish_reason="length")),
        ("MAX_TOKENS", ModelOutput(text="", finish_reason="length")),
        ("content_filter", ModelOutput(text="", finish_reason="content_filter", refused=True)),
    ],
)
@pytest.mark.parametrize("message", [{}, {"message": None}], ids=["no message", "null"])
def test_what_ended_before_its_first_word_needs_no_message(reason, expected, message):
    assert parse_completion({"choices": [{"finish_reason": reason, **message}]}) == expected


def test_what_was_broken_off_before_its_first_word_has_failed():
    with pytest.raises(ModelError, match="broke the generation off"):
        parse_completion({"choices": [{"finish_reason": "abort"}]})


@pytest.mark.parametrize("count", [1e308, 10**400, -1, True, float("nan"), "7"])
def test_what_cannot_be_a_number_of_tokens_is_left_out(count):
    assert parse_usage({"prompt_tokens": count, "completion_tokens": 3}) == Usage(completion_tokens=3)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("max_tokens", "length"),
        ("LENGTH", "length"),
        ("MAX_TOKENS", "length"),
        (["length"], None),
        ({}, None),
        ("model_context_window_exceeded", "length"),
        ({"type": "length", "length": 9}, "length"),
        ("stop", "stop"),
        ("null", None),
        ("FinishReason.MAX_TOKENS", "length"),
        ("tired", "tired"),
    ],
)
def test_finish_reasons_are_in_one_spelling(given, known):
    body = {"choices": [{"message": {"content": "two"}, "finish_reason": given}]}
    assert parse_completion(body).finish_reason == known


def test_a_hostile_error_page_is_read_in_no_time():
    error = status_error(400, "<script " * 30_000, {})
    assert error.kind == "bad_request"
    assert len(str(error)) < 1000


OTHER_LIMIT, NO_TEMPERATURE = "max_completion_tokens", '"temperature": null'


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", OTHER_LIMIT),
        ("Please use max_completion_tokens instead of max_tokens", OTHER_LIMIT),
        ("Unrecognized request argument supplied: max_tokens", OTHER_LIMIT),
        ("'max_tokens' or 'max_completion_tokens' is too large: 4096. The maximum context length is 2048 tokens", ""),
        ("max_tokens is too large: 32768. This model supports at most 4096 completion tokens", ""),
        ("Unsupported value: 'temperature' does not support 0 with this model. Only 1 is supported", NO_TEMPERATURE),
        ("`temperature` may only be set to 1 when thinking is enabled", NO_TEMPERATURE),
        ("`temperature` is deprecated for this model", NO_TEMPERATURE),
        ("image_url is only supported by certain models", ""),
        ("context too long", ""),
    ],
)
def test_the_setting_that_mends_an_error_is_named(message, named):
    hint = setting_hint(message, max_tokens=True, temperature=True)
    assert named in hint
    assert bool(hint) == bool(named)


def test_no_setting_is_named_that_was_not_sent():
    message = "max_tokens and temperature are not supported"
    assert setting_hint(message, max_tokens=False, temperature=False) == ""
    assert NO_TEMPERATURE in setting_hint(message, max_tokens=False, temperature=True)


@pytest.mark.parametrize(
    ("listed", "root"),
    [
        ([{"id": "other", "root": "/o"}, {"id": "m", "root": "/a"}], "/a"),
        ([{"id": "m", "root": "m"}], "m"),
        ([{"id": "default", "root": "/a"}], "/a"),  # a server of one model, which takes any name
        ([{"id": "x", "root": "/a"}, {"id": "y", "root": "/b"}], None),
        ([{"id": "m"}], None),
        ([{"id": "m", "root": None}], None),
        ([{"id": "m", "root": ""}], None),
        ([{"id": "m", "root": 5}], None),
        ([], None),
        ({"m": 1}, None),
        ([None, None], None),
        (None, None),
    ],
)
def test_the_root_of_a_model_is_found_in_the_list(listed, root):
    assert served_root(json.dumps({"data": listed}).encode(), "m") == root


@given(st.binary())
@OFTEN
def test_any_body_is_no_list_of_models(body):
    assert served_root(body, "m") is None


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "auth"), (402, "auth"), (403, "auth"), (407, "auth"), (413, "bad_request")]
)
def test_what_is_not_paid_for_and_what_a_proxy_refuses_concerns_every_call(status, kind):
    assert status_error(status, "{}", {}).kind == kind
