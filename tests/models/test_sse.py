"""Server-sent events in any cut, and the completion that they make up."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagmm.errors import ModelError
from flagmm.models.sse import EventParser, StreamedReply
from flagmm.types import ModelOutput, Usage
from tests.core_cases import core_cases

OFTEN = settings(max_examples=80, deadline=None)


def parse(*chunks):
    parser = EventParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return [*events, *parser.close()]


def reply_to(raw):
    reply = StreamedReply()
    for data in parse(raw):
        reply.add(data)
    return reply.output()


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", [b"a", b"b"], id="two events"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"], id="CRLF"),
        pytest.param(b"data: a\r\rdata: b\r\r", [b"a", b"b"], id="CR"),
        pytest.param(b"data:a\n\n", [b"a"], id="no blank after the colon"),
        pytest.param(b"data:  a\n\n", [b" a"], id="only one blank is dropped"),
        pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="data of several lines"),
        pytest.param(b"id: 7\nevent: x\nretry: 5\ndata: a\n\n", [b"a"], id="other fields"),
        pytest.param(b": still here\n\n: again\n\ndata: a\n\n", [b"a"], id="comments"),
        pytest.param(b"data: a\n\n\n\n\ndata: b\n\n", [b"a", b"b"], id="more blank lines"),
        pytest.param(b"data: a\n\ndata: b", [b"a", b"b"], id="no end of line"),
        pytest.param(b"data: a\n\ndata: b\n", [b"a", b"b"], id="no final blank line"),
        pytest.param(b"data: a\n\ndata: b\r", [b"a", b"b"], id="half a CRLF"),
        pytest.param(b"data: a:b\n\n", [b"a:b"], id="colon in the data"),
        pytest.param(b"data\n\n", [b""], id="field without a colon"),
        pytest.param(b"database: a\n\n", [], id="another field's name"),
        pytest.param(b" data: a\n\n", [], id="blank before the name"),
        pytest.param(b"", [], id="nothing"),
        pytest.param("data: 图\n\n".encode(), ["图".encode()], id="UTF-8"),
    ],
)
def test_events_are_read_by_the_rules(raw, events):
    assert parse(raw) == events
    assert parse(*(raw[index : index + 1] for index in range(len(raw)))) == events


STREAMS = st.lists(
    st.sampled_from(
        [b"data: ", b"data:", b"\n", b"\r", b"\r\n", b"\n\n", b": x", b"id: 1", b"a", b"\xe5\x9b\xbe", b"[DONE]"]
    ),
    max_size=20,
).map(b"".join)


@OFTEN
@given(STREAMS, st.lists(st.integers(0, 120), max_size=8))
def test_where_a_stream_is_cut_makes_no_difference(raw, cuts):
    places = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    chunks = [raw[start:end] for start, end in pairwise(places)]
    assert parse(*chunks) == parse(raw)


@OFTEN
@given(
    st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n")), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_what_is_sent_is_what_is_read(texts, newline):
    raw = "".join(f"data: {text}{newline}{newline}" for text in texts).encode()
    assert parse(raw) == [text.encode() for text in texts]


@pytest.mark.parametrize(("given", "expected"), core_cases("sse_parse"))
def test_recorded_streams(given, expected):
    output = reply_to(given["raw"].encode())
    assert {"content": output.text, "total_tokens": output.usage.total_tokens} == expected


def chunk(delta=None, *, finish_reason=None, **more):
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    return f"data: {json.dumps({'choices': choices, **more})}\n\n".encode()


DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("raw", "output"),
    [
        pytest.param(chunk({"content": "A"}) + chunk({"content": "B"}) + DONE, ModelOutput(text="AB"), id="pieces"),
        pytest.param(
            chunk({"content": "A"}, finish_reason="stop"), ModelOutput(text="A", finish_reason="stop"), id="no [DONE]"
        ),
        pytest.param(
            chunk({"content": "A"}) + chunk({}, finish_reason="length") + DONE,
            ModelOutput(text="A", finish_reason="length"),
            id="truncated",
        ),
        pytest.param(
            chunk() + chunk({"role": "assistant", "content": None}) + chunk({"content": "A"}) + DONE,
            ModelOutput(text="A"),
            id="keep-alive",
        ),
        pytest.param(
            chunk({"reasoning_content": "r1"}) + chunk({"reasoning": "r2"}) + chunk({"content": "A"}) + DONE,
            ModelOutput(text="A", reason="r1r2"),
            id="thinking",
        ),
        pytest.param(
            chunk({"content": "<thi"}) + chunk({"content": "nk>r</think>A"}) + DONE,
            ModelOutput(text="A", reason="r"),
            id="thinking in the text",
        ),
        pytest.param(
            chunk({"content": "A"}) + chunk(usage={"total_tokens": 3}) + chunk(usage=None) + DONE,
            ModelOutput(text="A", usage=Usage(total_tokens=3)),
            id="usage",
        ),
        pytest.param(
            chunk({"content": ""}, finish_reason="content_filter") + DONE,
            ModelOutput(text="", finish_reason="content_filter", refused=True),
            id="filter",
        ),
        pytest.param(
            chunk({"refusal": "No"}) + chunk({"content": ""}) + DONE, ModelOutput(text="", refused=True), id="refusal"
        ),
        pytest.param(
            b'data: {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}\n\n',
            ModelOutput(text="A", finish_reason="stop"),
            id="whole message",
        ),
        pytest.param(
            b'data: {"choices": null}\n\ndata: {"choices": [null]}\n\n' + DONE, ModelOutput(text=""), id="empty choices"
        ),
        pytest.param(b"data: [DONE] \n\n", ModelOutput(text=""), id="nothing but the end"),
    ],
)
def test_a_stream_makes_one_reply(raw, output):
    assert reply_to(raw) == output


@pytest.mark.parametrize(
    ("raw", "kind", "retryable"),
    [
        pytest.param(chunk({"content": "A"}), "connection", True, id="broken off"),
        pytest.param(b"", "connection", True, id="nothing"),
        pytest.param(b"data: <html>\n\n", "bad_reply", True, id="no JSON"),
        pytest.param(b"data: [1]\n\n", "bad_reply", True, id="no object"),
        pytest.param(b'data: {"error": {"message": "x", "code": 429}}\n\n', "rate_limit", True, id="error"),
        pytest.param(
            chunk({"content": "A"}) + b'data: {"error": {"code": "content_filter"}}\n\n', "refused", False, id="filter"
        ),
    ],
)
def test_a_stream_that_is_no_reply_is_a_model_error(raw, kind, retryable):
    with pytest.raises(ModelError) as caught:
        reply_to(raw)
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)


def test_it_is_known_when_a_reply_is_done():
    reply = StreamedReply()
    reply.add(b'{"choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]}')
    assert not reply.done  # the usage may follow
    reply.add(b"[DONE]")
    assert reply.done


def test_only_the_first_of_several_choices_is_read():
    reply = StreamedReply()
    for index, text in [(1, "three"), (0, "two")]:
        reply.add(json.dumps({"choices": [{"index": index, "delta": {"content": text}}]}).encode())
    reply.add(b"[DONE]")
    assert reply.output().text == "two"
