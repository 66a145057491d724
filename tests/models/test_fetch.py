"""Media behind URLs: what is fetched, and what is refused."""

from __future__ import annotations

import asyncio

import pytest

from flagmm.errors import ModelError
from flagmm.models.fetch import FetchLimits, MediaFetcher, is_public, resolve_host
from tests.servers import MockEndpoint, Reply, html_reply

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
LOCAL = "127.0.0.1"


def fetch(url, *, resolve=resolve_host, accepts=is_public, **limits):
    limits = FetchLimits(**{"max_bytes": 10_000, "timeout": 5.0, **limits})

    async def run():
        fetcher = MediaFetcher(limits, resolve=resolve, accepts=accepts)
        try:
            return await fetcher.fetch(url)
        finally:
            await fetcher.close()

    return asyncio.run(run())


def refused(url, **settings):
    with pytest.raises(ModelError) as caught:
        fetch(url, **settings)
    assert caught.value.kind == "media"
    assert "\n" not in str(caught.value)
    return caught.value


def redirect(target, status=302):
    return Reply(status=status, raw_body=b"", headers={"Location": target})


@pytest.fixture
def serve():
    """Start a server of files; gives its root URL, and the requests that reach it."""
    running = []

    def start(files):
        endpoint = MockEndpoint(files=files)
        running.append(endpoint)
        endpoint.__enter__()
        return endpoint.url.removesuffix("/v1"), endpoint.requests

    yield start
    for endpoint in running:
        endpoint.__exit__(None, None, None)


def test_a_file_is_fetched_as_it_is_without_keys_or_cookies(serve):
    root, requests = serve({"/a.png": Reply(raw_body=PNG, headers={"Set-Cookie": "a=b"})})
    assert fetch(f"{root}/a.png?x=1", allow_private=True) == PNG
    assert {"authorization", "api-key", "cookie"}.isdisjoint(requests[0].headers)


def test_redirects_are_followed(serve):
    root, _ = serve({"/1": redirect("/2"), "/2": redirect("3", status=308), "/3": Reply(raw_body=PNG)})
    assert fetch(f"{root}/1", allow_private=True) == PNG


def test_redirects_without_end_are_given_up(serve):
    root, requests = serve({"/1": redirect("/1")})
    assert str(refused(f"{root}/1", allow_private=True)) == f"{root}/1: redirects more than 5 times"
    assert len(requests) == 6


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/a.png", "data:image/png;base64,QUJD", "gopher://h"])
def test_a_redirect_to_another_scheme_is_refused(serve, target):
    root, _ = serve({"/1": redirect(target)})
    error = refused(f"{root}/1", allow_private=True)
    assert "only http and https are followed" in str(error)
    assert not error.retryable


@pytest.mark.parametrize("host", [LOCAL, "localhost", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_nothing_is_asked_of_this_machine_unless_allowed(serve, host):
    root, requests = serve({"/a.png": Reply(raw_body=PNG)})
    error = refused(f"http://{host}:{root.rpartition(':')[2]}/a.png")
    assert "not on the public network; allow_private_media" in str(error)
    assert not error.retryable
    assert requests == []


@pytest.mark.parametrize("target", ["http://127.0.0.2:{port}/a.png", "http://inner.test:{port}/a.png"])
def test_a_redirect_to_a_private_address_is_refused(serve, target):
    async def resolve(host, port):
        return ["127.0.0.3"]

    files = {"/a.png": Reply(raw_body=PNG)}
    root, requests = serve(files)
    front, _ = serve({"/1": redirect(target.format(port=root.rpartition(":")[2]))})
    error = refused(f"{front}/1", resolve=resolve, accepts=lambda address: address == LOCAL)
    assert "not on the public network" in str(error)
    assert requests == []


def test_one_private_address_among_those_of_a_name_is_enough_to_refuse_it(serve):
    async def resolve(host, port):
        return [LOCAL, "10.0.0.1"]

    root, requests = serve({"/a.png": Reply(raw_body=PNG)})
    url = root.replace(LOCAL, "mixed.test") + "/a.png"
    error = refused(url, resolve=resolve, accepts=lambda address: address == LOCAL)
    assert "mixed.test (10.0.0.1)" in str(error)
    assert requests == []


def test_the_address_that_was_checked_is_the_one_that_is_asked(serve):
    answers = iter([[LOCAL], ["10.0.0.1"]])

    async def resolve(host, port):
        return next(answers)

    root, _ = serve({"/a.png": Reply(raw_body=PNG)})
    url = root.replace(LOCAL, "changing.test") + "/a.png"
    assert fetch(url, resolve=resolve, accepts=lambda address: address == LOCAL) == PNG
    assert next(answers) == ["10.0.0.1"]  # never asked a second time


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("::1", False), ("::", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("ff02::1", False), ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False), ("127.1", False), ("0x7f000001", False), ("", False),
    ],
)  # fmt: skip
def test_public_addresses_are_told_from_others(address, expected):
    assert is_public(address) is expected


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(raw_body=bytes(10_001)), id="said beforehand"),
        pytest.param(Reply(stream_chunks=[bytes(4096)] * 10_000), id="without end"),
    ],
)
def test_a_large_file_is_given_up(serve, reply):
    root, _ = serve({"/a.png": reply})
    error = refused(f"{root}/a.png", allow_private=True)
    assert str(error) == f"{root}/a.png: is larger than 10000 bytes (fetch_media_max_bytes)"
    assert not error.retryable


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(delay=60), id="no answer"),
        pytest.param(Reply(stream_chunks=[PNG], hang=True), id="a body that stops"),
        pytest.param(Reply(stream_chunks=[b"x"] * 1000), id="a body that trickles"),
    ],
)
def test_a_slow_file_is_given_up_and_may_be_tried_again(serve, reply):
    root, _ = serve({"/a.png": reply})
    error = refused(f"{root}/a.png", allow_private=True, timeout=0.3)
    assert str(error) == f"{root}/a.png: was not fetched within 0.3 s (fetch_timeout)"
    assert error.retryable


@pytest.mark.parametrize(
    ("reply", "message", "retryable"),
    [
        (html_reply(404), "gives HTTP 404", False),
        (html_reply(403), "gives HTTP 403", False),
        (html_reply(503), "gives HTTP 503", True),
        (Reply(status=204, raw_body=b""), "gives HTTP 204", False),
        (Reply(raw_body=b""), "is empty", False),
        (Reply(raw_body=PNG, reset=True), "cannot be fetched", True),
    ],
)
def test_an_answer_without_a_medium_is_told(serve, reply, message, retryable):
    root, _ = serve({"/a.png": reply})
    error = refused(f"{root}/a.png", allow_private=True)
    assert str(error).startswith(f"{root}/a.png: {message}")
    assert error.retryable is retryable


async def no_such_host(host, port):
    raise OSError("Name or service not known")


def test_a_host_that_is_not_there_is_told_and_may_be_tried_again():
    error = refused("http://nowhere.test/a.png", resolve=no_such_host)
    assert str(error) == "http://nowhere.test/a.png: cannot be fetched: Name or service not known"
    assert error.retryable


@pytest.mark.parametrize("url", ["http://", "http://[::1", "http://a b/", "http://h:99999999/", "http://" + "a" * 300])
def test_what_is_no_url_is_told(url):
    refused(url, resolve=no_such_host)


def test_passwords_of_a_url_are_masked(serve):
    root, _ = serve({})
    url = root.replace("http://", "http://user:hunter2@") + "/a.png?api_key=abcdef"
    message = str(refused(url, allow_private=True))
    assert "hunter2" not in message
    assert "abcdef" not in message
    assert "/a.png" in message
