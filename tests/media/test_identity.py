import hashlib
import os

import pytest

from flagmm.errors import DataError
from flagmm.media.identity import identify, identify_bytes
from flagmm.types import MediaIdentity


@pytest.mark.parametrize("length", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_a_file_is_known_by_size_time_and_digest(tmp_path, length):
    path = tmp_path / "x.bin"
    content = bytes(range(256)) * (length // 256 + 1)
    path.write_bytes(content[:length])
    found = identify(str(path))
    assert (found.size, found.mtime_ns) == (length, path.stat().st_mtime_ns)
    assert found.digest == hashlib.sha256(content[:length]).hexdigest() == identify_bytes(content[:length]).digest


def test_a_file_of_the_same_size_and_time_is_not_read_again(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    known = MediaIdentity(size=3, mtime_ns=path.stat().st_mtime_ns, digest="never computed")
    assert identify(str(path), known) is known


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_changed_file_is_read_again(tmp_path, change):
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    known = identify(str(path))
    if change == "content":
        path.write_bytes(b"abcd")
    os.utime(path, ns=(1, known.mtime_ns + 1))
    found = identify(str(path), known)
    assert found.mtime_ns == known.mtime_ns + 1
    assert (found.digest == known.digest) == (change == "time")


def test_bytes_have_no_time():
    assert identify_bytes(b"abc") == MediaIdentity(size=3, mtime_ns=0, digest=hashlib.sha256(b"abc").hexdigest())


@pytest.mark.parametrize("name", ["missing.png", "folder", "pipe", "nul\0.png"])
def test_what_is_no_file_is_an_error_of_one_line_that_names_it(tmp_path, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError) as caught:
        identify(f"{tmp_path}/{name}")
    assert name.replace("\0", "\\x00") in str(caught.value)
    assert "\n" not in str(caught.value)
