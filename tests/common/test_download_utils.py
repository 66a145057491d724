"""Files that a task's process.py fetches."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from flagmm.common.download_utils import download_file_with_progress
from flagmm.errors import DataError

BYTES = bytes(range(256)) * 40


class Files(BaseHTTPRequestHandler):
    def do_GET(self):  # http.server's name
        self.server.asked += 1
        if self.path.startswith("/gone"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(BYTES)))
        self.end_headers()
        self.wfile.write(BYTES[:100] if self.path.startswith("/cut") else BYTES)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as found:
        found.asked, found.url = 0, f"http://127.0.0.1:{found.server_port}"
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.mark.parametrize("place", ["folder", "file", "below", "here"])
def test_a_file_is_fetched_to_the_place_that_was_asked_for(server, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    save_path = {"folder": tmp_path, "file": tmp_path / "a.zip", "below": tmp_path / "new/a.zip", "here": None}[place]
    found = download_file_with_progress(f"{server.url}/my%20data.zip?download=true", save_path, 1000, max_threads=2)
    name = "my data.zip" if place in ("folder", "here") else "a.zip"
    assert (tmp_path / found).read_bytes() == BYTES
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name]


def test_a_file_that_is_there_whole_stays_as_it_is(server, tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(bytes(len(BYTES)))
    assert download_file_with_progress(f"{server.url}/a.zip", str(path)) == str(path)
    assert path.read_bytes() == bytes(len(BYTES))
    path.write_bytes(b"half")
    download_file_with_progress(f"{server.url}/a.zip", path)
    assert path.read_bytes() == BYTES


@pytest.mark.parametrize("name", ["gone.zip", "cut.zip"])
def test_a_file_that_does_not_come_whole_is_one_line_and_leaves_nothing(server, tmp_path, name):
    url = f"{server.url}/{name}?token=sesame-open-123"
    with pytest.raises(DataError, match=rf"{name}.*cannot be fetched: .*check the address") as caught:
        download_file_with_progress(url, tmp_path)
    assert "sesame" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
