"""The client of an endpoint, against a real one on this machine."""

from __future__ import annotations

import asyncio
import errno
import gzip
import socket
import tracemalloc

import pytest
from PIL import Image

from flagmm.config.model import ModelSpec
from flagmm.config.secrets import Secret
from flagmm.errors import ConfigError, ModelError
from flagmm.models.http import MOST_BYTES, HttpClient, _broken, _proxy_for, completions_url, models_url
from flagmm.types import CallSettings, ImagePart, MediaSource, Message, ModelOutput, TextPart, Usage
from tests.servers import (
    CHAT_PATH,
    MODELS_PATH,
    MockEndpoint,
    Reply,
    Wire,
    completion,
    content_filter,
    error_reply,
    html_reply,
    no_choices,
    null_content,
    sse,
)

KEY = "sk-test-123456"
USAGE = Usage(prompt_tokens=11, completion_tokens=3, total_tokens=14)


def ask(url, *parts, times=1, **spec):
    """The outcome of each call of one client: an output, or the error."""
    content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts or ("Q?",))
    messages = [Message(role="user", content=content)]
    values = {"model_name": "m", "url": url, "timeout": 5.0, **spec}

    async def run():
        outcomes = []
        async with HttpClient(ModelSpec(**values)) as client:
            for repeat in range(times):
                try:
                    outcomes.append(await client.generate(messages, CallSettings(question_id="1", repeat=repeat)))
                except ModelError as error:
                    outcomes.append(error)
        return outcomes

    outcomes = asyncio.run(run())
    return outcomes[0] if times == 1 else outcomes


@pytest.mark.parametrize(
    ("given", "posted"),
    [
        ("http://h:8000", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/", "http://h:8000/v1/chat/completions"),
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("https://h/api/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
        (
            "https://h/openai/deployments/d/chat/completions?api-version=1",
            "https://h/openai/deployments/d/chat/completions?api-version=1",
        ),
        (
            "https://h/openai/deployments/d?api-version=1",
            "https://h/openai/deployments/d/chat/completions?api-version=1",
        ),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
    ],
)
def test_the_url_posted_to_comes_from_a_full_one_or_a_root(given, posted):
    assert completions_url(given) == posted


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "h/v1",
        "ftp://h/v1",
        "http://",
        "http:///v1",
        "http://[::1/v1",
        "http://h:port/v1",
        "http://h:99999/v1",
    ],
)
def test_what_is_no_url_is_told(url):
    with pytest.raises(ConfigError, match=r"^model: url: '.*' is no http or https URL$"):
        completions_url(url)


def test_a_broken_url_does_not_show_its_password():
    with pytest.raises(ConfigError) as caught:
        completions_url("ftp://user:pass1234@h")
    assert "pass1234" not in str(caught.value)


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_comes_back_whole(stream):
    with MockEndpoint(completion("图 B", reasoning_content="r")) as endpoint:
        output = ask(endpoint.url, stream=stream)
    assert output == ModelOutput(text="图 B", reason="r", usage=USAGE, finish_reason="stop")
    (request,) = endpoint.requests
    assert (request.method, request.path, request.body["model"], request.text) == (
        "POST",
        "/v1/chat/completions",
        "m",
        "Q?",
    )
    assert request.body.get("stream", False) is stream


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(sse(["图", "A"]), id="plain"),
        pytest.param(
            sse(["图", "A"], keep_alive=True, wire=Wire(newline="\r\n", before=["id: 7", ": here"], ending="nothing")),
            id="awkward",
        ),
        pytest.param(sse(["图", "A"], wire=Wire(cut="character")), id="cut inside characters"),
        pytest.param(sse(["图", "A"], wire=Wire(done=False, cut=3)), id="no [DONE]"),
    ],
)
def test_a_stream_is_read_even_where_none_was_asked_for(reply):
    with MockEndpoint(reply) as endpoint:
        assert ask(endpoint.url) == ModelOutput(text="图A", usage=USAGE, finish_reason="stop")


def test_a_stream_that_says_it_is_json_is_read():
    raw = b"".join(sse(["A"]).stream_chunks)
    with MockEndpoint(Reply(raw_body=b": hello\n\n" + raw)) as endpoint:
        assert ask(endpoint.url).text == "A"


def test_a_reply_that_never_ends_after_done_is_not_waited_for():
    reply = Reply(stream_chunks=sse(["A"]).stream_chunks, hang=True)
    with MockEndpoint(reply) as endpoint:
        assert ask(endpoint.url, stream=True).text == "A"


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "message"),
    [
        pytest.param(
            error_reply(401, "no such key"), "auth", False, "HTTP 401: no such key (no API key is set", id="401"
        ),
        pytest.param(error_reply(404, "no such model"), "not_found", False, "HTTP 404: no such model", id="404"),
        pytest.param(error_reply(400, "too large"), "bad_request", False, "HTTP 400: too large", id="400"),
        pytest.param(content_filter(400), "refused", False, "HTTP 400: The prompt was filtered", id="filter"),
        pytest.param(error_reply(429, "slow down", retry_after=3), "rate_limit", True, "HTTP 429: slow down", id="429"),
        pytest.param(error_reply(500, "oops"), "server", True, "HTTP 500: oops", id="500"),
        pytest.param(html_reply(502), "server", True, "HTTP 502: Welcome Welcome", id="502 as a page"),
        pytest.param(html_reply(), "bad_reply", True, "the reply is no JSON: Welcome Welcome", id="page"),
        pytest.param(no_choices(), "bad_reply", True, "the reply has no choices", id="no choices"),
        pytest.param(Reply(raw_body=b""), "bad_reply", True, "the reply is no JSON: (empty)", id="empty body"),
        pytest.param(
            Reply(status=307, raw_body=b"", headers={"Location": "/elsewhere"}),
            "not_found",
            False,
            "HTTP 307: the endpoint redirects to /elsewhere",
            id="redirect",
        ),
        pytest.param(Reply(reset=True), "connection", True, "the connection broke: ", id="reset"),
        pytest.param(
            Reply(stream_chunks=[b'data: {"choices": []}\n\n'], reset=True),
            "connection",
            True,
            "the connection broke: ",
            id="reset stream",
        ),
        pytest.param(
            Reply(stream_chunks=[b'data: {"choices": []}\n\n']),
            "connection",
            True,
            "the stream broke off",
            id="short stream",
        ),
    ],
)
def test_a_fault_is_a_model_error_that_says_whether_it_may_pass(reply, kind, retryable, message):
    with MockEndpoint(reply) as endpoint:
        error = ask(endpoint.url)
    assert (error.kind, error.retryable) == (kind, retryable)
    assert str(error).startswith(message)
    assert error.retry_after == (3 if kind == "rate_limit" else None)
    assert len(endpoint.requests) == 1, "the client itself never tries again"


MEGABYTE = 2**20
ENDLESS = [b" " * 4 * MEGABYTE] * 20
EVENT = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % (b"A" * MEGABYTE)
BODIES_WITHOUT_END = {
    "body": Reply(stream_chunks=ENDLESS, headers={"Content-Type": "application/json"}),
    "line of a stream": Reply(stream_chunks=[b"data: ", *ENDLESS]),
    "stream of comments": Reply(stream_chunks=[b": %s\n" % ENDLESS[0]] * 20),
    "stream of events": Reply(stream_chunks=[EVENT] * 70),
}


@pytest.mark.parametrize("name", BODIES_WITHOUT_END)
def test_a_reply_without_end_is_given_up_for_good(name):
    with MockEndpoint(BODIES_WITHOUT_END[name]) as endpoint:
        error = ask(endpoint.url, timeout=60.0)
    assert (str(error), error.kind, error.retryable) == ("the reply is longer than 64 MB", "bad_reply", False)


@pytest.mark.parametrize("status", [200, 500])
def test_a_small_reply_that_unpacks_to_a_large_one_does_not_fill_memory(status):
    bomb = gzip.compress(b" " * (6 * MOST_BYTES), compresslevel=1)
    with MockEndpoint(Reply(raw_body=bomb, status=status, headers={"Content-Encoding": "gzip"})) as endpoint:
        tracemalloc.start()
        try:
            error = ask(endpoint.url, timeout=60.0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert error.kind == ("bad_reply" if status == 200 else "server")
    assert peak < 2 * MOST_BYTES


def test_a_packed_reply_is_read():
    body = gzip.compress(b'{"choices": [{"message": {"content": "A"}}]}')
    with MockEndpoint(Reply(raw_body=body, headers={"Content-Encoding": "gzip"})) as endpoint:
        assert ask(endpoint.url).text == "A"


def test_no_content_is_an_empty_output():
    with MockEndpoint(null_content()) as endpoint:
        assert ask(endpoint.url).text == ""


@pytest.mark.parametrize(
    "reply",
    [Reply(hang=True), Reply(stream_chunks=[b'data: {"choices": []}\n\n'], hang=True)],
    ids=["nothing", "half a stream"],
)
def test_an_endpoint_that_does_not_answer_in_time_is_a_timeout(reply):
    with MockEndpoint(reply) as endpoint:
        error = ask(endpoint.url, timeout=0.2)
    assert (str(error), error.kind, error.retryable) == ("no reply within 0.2 s", "timeout", True)


def test_an_endpoint_that_is_not_there_is_told_with_its_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = ask(f"http://127.0.0.1:{port}/v1")
    assert (error.kind, error.retryable) == ("connection", True)
    assert str(error).startswith(f"cannot connect to 127.0.0.1:{port}: ")


def test_one_connection_serves_many_calls():
    with MockEndpoint("A") as endpoint:
        outputs = ask(endpoint.url, times=3, seed=5)
    assert [output.text for output in outputs] == ["A"] * 3
    assert [request.body["seed"] for request in endpoint.requests] == [5, 6, 7]


def test_calls_run_side_by_side():
    async def run(url):
        message = Message(role="user", content=(TextPart(text="Q?"),))
        async with HttpClient(ModelSpec(model_name="m", url=url)) as client:
            await asyncio.gather(*(client.generate([message], CallSettings(question_id=str(n))) for n in range(20)))

    with MockEndpoint(Reply(delay=0.2)) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.max_inflight == 20


@pytest.mark.parametrize(
    ("spec", "headers"),
    [
        pytest.param({}, {}, id="no key"),
        pytest.param({"api_key": Secret(KEY)}, {"authorization": f"Bearer {KEY}"}, id="key"),
        pytest.param({"headers": {"X-Team": "vision"}}, {"x-team": "vision"}, id="header"),
        pytest.param(
            {"api_key": Secret(KEY), "headers": {"Authorization": "Basic abc"}},
            {"authorization": "Basic abc"},
            id="own authorization",
        ),
    ],
)
def test_headers_are_sent(spec, headers):
    with MockEndpoint() as endpoint:
        ask(endpoint.url, **spec)
    sent = endpoint.requests[0].headers
    assert {name: sent.get(name) for name in ("authorization", "x-team") if name in sent} == headers
    assert sent["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("host", "is_azure"),
    [
        ("x.openai.azure.com", True),
        ("x.services.ai.azure.com", True),
        ("x.openai.azure.us", True),
        ("azure.com.example.org", False),
        ("notazure.com", False),
    ],
)
def test_azure_gets_the_key_in_its_own_header(host, is_azure):
    client = HttpClient(ModelSpec(model_name="m", url=f"https://{host}/v1", api_key=Secret(KEY)))
    headers = client._headers()  # no such host can be had on this machine
    assert ("api-key" in headers, "Authorization" in headers) == (is_azure, not is_azure)


@pytest.mark.parametrize(
    "spec",
    [{"api_key": Secret(KEY)}, {"headers": {"Authorization": f"Bearer {KEY}"}}, {"headers": {"X-Api-Key": KEY}}],
    ids=["key", "authorization", "other header"],
)
def test_a_key_that_the_endpoint_repeats_is_not_shown(spec):
    with MockEndpoint(error_reply(401, f"Incorrect API key provided: {KEY}.")) as endpoint:
        error = ask(endpoint.url, **spec)
    assert str(error) == "HTTP 401: Incorrect API key provided: ***."


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("http://h:8000/v1", "http://h:8000/v1/models"),
        ("https://h/api/v1/chat/completions", "https://h/api/v1/models"),
        (
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "https://x.openai.azure.com/openai/models?api-version=1",
        ),
        ("https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/models"),
    ],
)
def test_the_list_of_models_stands_beside_the_completions(url, listed):
    assert models_url(completions_url(url)) == listed


def check_key(url, **spec):
    """The error of a check of the key, or None."""

    async def run():
        async with HttpClient(ModelSpec(**{"model_name": "m", "url": url, "timeout": 5.0, **spec})) as client:
            try:
                await client.check_key()
            except ModelError as error:
                return error
        return None

    return asyncio.run(run())


REFUSED = error_reply(401, f"Incorrect API key provided: {KEY}.")


@pytest.mark.parametrize("reply", [REFUSED, error_reply(403, f"{KEY} is barred")], ids=["401", "403"])
def test_a_key_that_is_refused_is_told_and_not_shown(reply):
    with MockEndpoint(reply, files={MODELS_PATH: reply}) as endpoint:
        error = check_key(endpoint.url, api_key=Secret(KEY), headers={"X-Team": "vision"})
    assert (error.kind, error.status) == ("auth", reply.status)
    assert KEY not in str(error)
    listed, confirmed = endpoint.requests
    assert (listed.method, listed.path) == ("GET", MODELS_PATH)
    assert (confirmed.method, confirmed.path) == ("POST", CHAT_PATH)
    assert confirmed.body["messages"] == []  # which nothing can answer, so no token is spent
    assert [each.headers["authorization"] for each in endpoint.requests] == [f"Bearer {KEY}"] * 2
    assert [each.headers["x-team"] for each in endpoint.requests] == ["vision"] * 2


def test_a_key_that_is_missing_is_told_with_what_to_do():
    with MockEndpoint(REFUSED, files={MODELS_PATH: REFUSED}) as endpoint:
        assert "no API key is set: give api_key" in str(check_key(endpoint.url))


def test_a_key_that_may_only_not_read_the_list_is_sound():
    nothing_asked = error_reply(400, "messages: at least one is needed")
    with MockEndpoint(nothing_asked, files={MODELS_PATH: error_reply(403, "Missing scopes: api.model.read")}) as found:
        assert check_key(found.url, api_key=Secret(KEY)) is None
    assert len(found.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw_body=b"[]"),
        *(error_reply(status, "no") for status in (302, 400, 404, 405, 429, 500, 503)),
        html_reply(),
        Reply(reset=True),
        Reply(raw_body=b"x", headers={"Content-Encoding": "gzip"}),
        Reply(hang=True),
    ],
    ids=["list", "302", "400", "404", "405", "429", "500", "503", "page", "reset", "no gzip", "no reply"],
)
def test_an_endpoint_without_a_usable_list_of_models_is_not_found_fault_with(reply):
    with MockEndpoint(REFUSED, files={MODELS_PATH: reply}) as endpoint:
        assert check_key(endpoint.url, api_key=Secret(KEY), timeout=0.3) is None
    assert [request.path for request in endpoint.requests] == [MODELS_PATH]


def test_an_endpoint_that_is_not_there_has_refused_no_key():
    with MockEndpoint() as endpoint:
        pass
    assert check_key(endpoint.url) is None


def test_the_key_is_checked_through_the_proxy():
    with MockEndpoint(REFUSED, files={MODELS_PATH: REFUSED}) as proxy:
        error = check_key("http://judge.invalid/v1", api_key=Secret(KEY), proxy=proxy.url.removesuffix("/v1"))
    assert (error.kind, len(proxy.requests)) == ("auth", 2)
    assert proxy.requests[0].headers["host"] == "judge.invalid"


def test_a_picture_is_sent_with_its_length_known(tmp_path):
    Image.effect_noise((300, 300), 90).save(tmp_path / "a.png")
    with MockEndpoint() as endpoint:
        assert ask(endpoint.url, "Q?", ImagePart(source=MediaSource(path=str(tmp_path / "a.png")))).text == "B"
    (request,) = endpoint.requests
    assert request.image_urls[0].startswith("data:image/png;base64,")
    assert int(request.headers["content-length"]) > (tmp_path / "a.png").stat().st_size
    assert "transfer-encoding" not in request.headers


def test_a_broken_picture_fails_without_a_call(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no picture")
    with MockEndpoint() as endpoint:
        error = ask(endpoint.url, "Q?", ImagePart(source=MediaSource(path=str(tmp_path / "a.png"))))
    assert (error.kind, error.retryable, endpoint.requests) == ("media", False, [])
    assert "a.png" in str(error)


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "http://h/v1", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://h/v1", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://h/v1", None),
        ({"https_proxy": "http://p:1"}, "https://h/v1", "http://p:1"),
        ({"http_proxy": "http://p:1", "no_proxy": "h,localhost"}, "http://h/v1", None),
        ({"http_proxy": "p:1"}, "http://h/v1", "http://p:1"),
    ],
)
def test_the_proxy_that_the_environment_names_is_taken(monkeypatch, variables, url, proxy):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _proxy_for(url) == proxy


def test_the_proxy_of_the_model_goes_before_the_environment_s(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://p:1")
    monkeypatch.setenv("no_proxy", "h")
    assert _proxy_for("http://h/v1", "own:2") == "http://own:2"
    with pytest.raises(ConfigError, match=r"^model: proxy: .* is no http or https URL$") as caught:
        HttpClient(ModelSpec(model_name="m", url="http://h/v1", proxy="socks5://u:secret@p:1"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["socks5://u:secret@p:1", "http://p:port", "http://"])
def test_a_proxy_that_cannot_be_used_is_told_before_anything_is_asked(monkeypatch, proxy):
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ConfigError, match=r"^http_proxy: .* is no http or https URL; .*no_proxy=h$") as caught:
        HttpClient(ModelSpec(model_name="m", url="http://h/v1"))
    assert "secret" not in str(caught.value)


def test_too_many_open_files_are_no_fault_of_the_endpoint():
    error = _broken(OSError(errno.EMFILE, "Too many open files"), "the connection broke")
    assert (error.kind, error.retryable) == ("system", True)
    assert "fewer num_workers" in str(error)
    assert _broken(OSError(errno.ECONNRESET, "reset"), "the connection broke").kind == "connection"


def test_a_proxy_that_refuses_is_named_without_its_password():
    with MockEndpoint(paths=()) as proxy:
        way = proxy.url.removesuffix("/v1").replace("//", "//me:geheim@")
        error = ask("http://endpoint.invalid/v1", "Q?", proxy=way)
    assert str(error).endswith(f"(through the proxy {way.replace('me:geheim', '***')} of the model file)")
    assert "geheim" not in str(error)
