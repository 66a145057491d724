"""Downloads from a real server that serves ranges, breaks off, changes the file, or lies."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flagmm.dataset.tsv import TsvDataset
from flagmm.dataset.tsv.download import download
from flagmm.errors import ConfigError, DataError, OutputError

TABLE = b"index\tquestion\tA\tB\n" + b"".join(b"%d\tWhich?\tone\ttwo\n" % number for number in range(2000))
MD5 = hashlib.md5(TABLE).hexdigest()


class Server:
    """Serves `content` at every path; `cuts` are how many bytes the next replies send before they break off."""

    def __init__(self):
        self.content, self.etag, self.status = TABLE, '"1"', 200
        self.cuts: list[int] = []
        self.ranges: list[str | None] = []
        self.url = ""

    def answer(self, handler):
        asked = handler.headers.get("Range")
        self.ranges.append(asked)
        if self.status != 200:
            handler.send_error(self.status)
            return
        is_same = asked is not None and handler.headers.get("If-Range") == self.etag
        start = int(asked[len("bytes=") : -1]) if is_same else 0
        body = self.content[start:]
        handler.send_response(206 if is_same else 200)
        if self.etag:
            handler.send_header("ETag", self.etag)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)
        handler.close_connection = True


@pytest.fixture
def server():
    with serving() as running:
        yield running


@contextmanager
def serving():
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.answer(self)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_port}/t.tsv"
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_table_is_downloaded_once_and_left_alone(lmu, server):
    for _ in range(2):
        assert len(TsvDataset(name="x", url=server.url, md5=MD5)) == 2000
    assert (lmu / "t.tsv").read_bytes() == TABLE
    assert len(server.ranges) == 1
    assert [name for name in files(lmu) if not name.startswith(".")] == ["t.tsv"]


def test_a_table_with_another_md5_is_downloaded_again(lmu, server):
    lmu.mkdir()
    (lmu / "t.tsv").write_text("index\tquestion\n1\told\n")
    assert len(TsvDataset(name="x", url=server.url, md5=MD5.upper())) == 2000


def test_a_torn_download_is_gone_on_with(tmp_path, server):
    server.cuts = [700, 1200]
    download(server.url, tmp_path / "t.tsv", md5=MD5, pause=0)
    assert (tmp_path / "t.tsv").read_bytes() == TABLE
    assert server.ranges == [None, "bytes=700-", "bytes=1900-"]
    assert files(tmp_path) == ["t.tsv"]


def test_a_download_that_breaks_off_again_and_again_leaves_no_table_and_goes_on_next_time(tmp_path, server):
    server.cuts = [500, 500, 500]
    with pytest.raises(DataError, match=rf"broke off after 1500 of {len(TABLE)} bytes; run again to go on, or put"):
        download(server.url, tmp_path / "t.tsv", pause=0)
    assert files(tmp_path) == ["t.tsv.part", "t.tsv.part.version"]
    download(server.url, tmp_path / "t.tsv", pause=0)
    assert server.ranges[-1] == "bytes=1500-"
    assert (tmp_path / "t.tsv").read_bytes() == TABLE


def test_a_file_that_changed_meanwhile_is_fetched_from_its_start(tmp_path, server):
    server.cuts = [500] * 3
    with pytest.raises(DataError):
        download(server.url, tmp_path / "t.tsv", pause=0)
    server.content, server.etag = TABLE[::-1], '"2"'
    download(server.url, tmp_path / "t.tsv", pause=0)
    assert (tmp_path / "t.tsv").read_bytes() == TABLE[::-1]


def test_a_server_that_tells_no_version_starts_again(tmp_path, server):
    server.etag, server.cuts = "", [500]
    download(server.url, tmp_path / "t.tsv", pause=0)
    assert server.ranges == [None, None]
    assert (tmp_path / "t.tsv").read_bytes() == TABLE


def test_a_wrong_md5_leaves_no_file(tmp_path, server):
    with pytest.raises(DataError, match=f"the file has the MD5 {MD5}, not 0123; correct md5 or url"):
        download(server.url, tmp_path / "t.tsv", md5="0123", pause=0)
    assert files(tmp_path) == []


def test_a_wrong_md5_of_a_table_that_is_there_is_told(lmu):
    lmu.mkdir()
    (lmu / "t.tsv").write_bytes(TABLE)
    with pytest.raises(DataError, match=r"t\.tsv: its MD5 is not 0123; get the right table, or correct md5"):
        TsvDataset(name="t", md5="0123")


@pytest.mark.parametrize(("status", "message"), [(404, "HTTP 404"), (503, "HTTP 503; run again to go on")])
def test_an_answer_that_is_no_file_is_told_and_leaves_none(tmp_path, server, status, message):
    server.status = status
    with pytest.raises(DataError, match=message):
        download(server.url, tmp_path / "t.tsv", pause=0)
    assert len(server.ranges) == (1 if status == 404 else 3)
    assert files(tmp_path) == []


def test_offline_the_error_says_where_to_put_the_file(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = tmp_path / "t.tsv"
    with pytest.raises(DataError, match=rf"Connection refused; is this machine offline\?; run again .* at {place}"):
        download(f"http://127.0.0.1:{port}/t.tsv", place, pause=0)
    assert files(tmp_path) == []


def test_a_file_for_which_there_is_no_space_is_refused_before_it_is_fetched(tmp_path, server):
    class Endless(bytes):
        def __len__(self):
            return 1 << 62

        def __getitem__(self, _):
            return self

    server.content = Endless(b"x")
    with pytest.raises(OutputError, match=r"t\.tsv\.part: cannot be written: 4611686018427387904 bytes are needed"):
        download(server.url, tmp_path / "t.tsv", pause=0)
    assert files(tmp_path) == []


def test_a_disk_that_is_full_on_the_way_leaves_no_half_file(tmp_path, server):
    code = "import sys; from pathlib import Path; from flagmm.dataset.tsv.download import download; "
    code += "download(sys.argv[1], Path(sys.argv[2]))"
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "limited", sys.executable, "-c", code]
    done = subprocess.run([*limited, server.url, str(tmp_path / "t.tsv")], capture_output=True, text=True)
    assert "OutputError" in done.stderr
    assert "t.tsv.part: cannot be written: File too large" in done.stderr
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "ftp://example.org/t.tsv"}, "url: expected an http or https URL"),
        ({"url": "http://example.org/t.tsv", "data_root": "t.tsv"}, "data_root and url are both given"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        TsvDataset(name="t", **settings)


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(tmp_path, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    download(f"{server.url}/t.tsv", tmp_path / "t.tsv", md5=MD5)
    assert (tmp_path / "t.tsv").read_bytes() == TABLE


def test_the_error_of_a_download_through_a_proxy_names_it_without_its_password(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://me:geheim@127.0.0.1:9")
    with pytest.raises(DataError, match=r"through the proxy http://\*\*\*@127\.0\.0\.1:9 of http_proxy") as caught:
        download("http://tables.invalid/t.tsv", tmp_path / "t.tsv", pause=0)
    assert "geheim" not in str(caught.value)


def test_a_link_in_the_place_of_the_half_file_is_not_followed(tmp_path, server):
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "t.tsv.part").symlink_to("precious")
    with pytest.raises(OutputError, match="it is a symbolic link, which is not followed"):
        download(f"{server.url}/t.tsv", tmp_path / "t.tsv")
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.fixture
def raw_server():
    """Says the given bytes to each one who connects: a function from them to the URL."""
    with ExitStack() as opened:

        def serve(reply: bytes) -> str:
            listening = opened.enter_context(socket.create_server(("127.0.0.1", 0)))

            def answer():
                with suppress(OSError):  # it is closed
                    while True:
                        connection, _ = listening.accept()
                        with connection:
                            connection.recv(1 << 16)
                            connection.sendall(reply)

            thread = threading.Thread(target=answer)
            thread.start()
            opened.callback(thread.join)
            opened.callback(listening.shutdown, socket.SHUT_RDWR)
            return f"http://127.0.0.1:{listening.getsockname()[1]}/t.tsv"

        yield serve


@pytest.mark.parametrize("length", [b"abc", b"-5", b"9" * 400, b"\xb2", b""])
def test_a_length_that_is_no_number_is_not_counted_with(tmp_path, raw_server, length):
    url = raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n" + TABLE[:200])
    download(url, tmp_path / "t.tsv", pause=0)
    assert (tmp_path / "t.tsv").read_bytes() == TABLE[:200]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nindex\r\nzz\r\n", "broke off before its end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nindex\tq", "broke off before its end"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nindex", "after 5 of 50 bytes"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[bad\r\nContent-Length: 0\r\n\r\n", "cannot be downloaded: "),
        (b"hello\r\n\r\n", "broke off: hello"),
    ],
)
def test_what_is_no_whole_file_is_told_and_never_taken_for_one(tmp_path, raw_server, reply, message):
    with pytest.raises(DataError, match=message):
        download(raw_server(reply), tmp_path / "t.tsv", pause=0)
    assert not (tmp_path / "t.tsv").exists()
