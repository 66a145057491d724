"""Writing without following links, locks that stay, and strays of killed processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

from flagmm.errors import OutputError
from flagmm.jsonio import AtomicFile, write_text
from flagmm.output_files import create_temporary, locked, open_plain, remove_strays, temporary_path


def test_a_lock_stays_where_it_is_and_is_the_same_file_for_the_next(tmp_path):
    path = tmp_path / ".lock"
    with locked(path):
        first = path.stat().st_ino
    with locked(path):
        assert path.stat().st_ino == first


def test_one_who_opened_the_file_before_it_was_given_back_gets_in_alone(tmp_path):
    # A lock that is removed when given back lets two in: one who holds the old file, and one who makes a new one.
    path = tmp_path / ".lock"
    with locked(path):
        waiting = os.open(path, os.O_RDWR)
    fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(BlockingIOError), locked(path, wait=False):
        pass
    os.close(waiting)


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    path, real = tmp_path / ".lock", fcntl.flock
    removals = iter([path])

    def flock(descriptor, operation):
        for gone in removals:
            gone.unlink()
            break
        return real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with locked(path):
        assert path.exists()
        with pytest.raises(BlockingIOError), locked(path, wait=False):
            pass


def test_a_lock_that_is_a_link_is_refused_and_its_target_left_alone(tmp_path):
    (tmp_path / "target").write_text("precious")
    (tmp_path / ".lock").symlink_to("target")
    message = r"\.lock: cannot be written: it is a symbolic link, which is not followed"
    with pytest.raises(OutputError, match=message), locked(tmp_path / ".lock"):
        pass
    assert (tmp_path / "target").read_text() == "precious"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
@pytest.mark.parametrize("flags", [os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_APPEND])
def test_what_is_no_file_is_refused_at_once(tmp_path, make, flags):
    make(tmp_path / "x")
    with pytest.raises(OSError, match=r"something that is no file has its name|Is a directory"):
        open_plain(tmp_path / "x", flags)


def test_a_temporary_file_that_is_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "target").write_text("precious")
    temporary_path(tmp_path / "x.txt").symlink_to(tmp_path / "target")
    write_text(tmp_path / "x.txt", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"target": "precious", "x.txt": "new"}


def test_a_file_that_is_a_link_is_replaced_and_its_target_left_alone(tmp_path):
    (tmp_path / "target").write_text("precious")
    (tmp_path / "x.txt").symlink_to("target")
    write_text(tmp_path / "x.txt", "new")
    assert (tmp_path / "target").read_text() == "precious"
    assert not (tmp_path / "x.txt").is_symlink()


def test_strays_of_killed_processes_go_and_all_else_stays(tmp_path):
    code = "import sys, os; from flagmm.jsonio import AtomicFile; from pathlib import Path\n"
    code += "with AtomicFile(Path(sys.argv[1])) as file: file.write('half'); file.flush(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.json"], check=False)
    (tmp_path / ".b.json.123.tmp").write_text("of an earlier version")
    (tmp_path / ".c.xlsx.1.tmp").symlink_to("nowhere")
    os.utime(tmp_path / ".c.xlsx.1.tmp", (1, 1), follow_symlinks=False)
    (tmp_path / ".d.xlsx.1.tmp").symlink_to("nowhere")
    others = {"notes.tmp", ".hidden.tmp", ".b.json.tmp", ".d.xlsx.1.tmp", "a.1.tmp"}
    for name in others - {".d.xlsx.1.tmp"}:
        (tmp_path / name).touch()
    assert len(list(tmp_path.iterdir())) == len(others) + 3
    with AtomicFile(tmp_path / "used.json") as file:
        file.write("whole")
        remove_strays(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*others, "used.json"}
    assert (tmp_path / "used.json").read_text() == "whole"


def test_strays_in_a_folder_that_is_not_there_are_none(tmp_path):
    remove_strays(tmp_path / "nowhere")


def test_a_temporary_file_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    path, real, times = tmp_path / ".x.1.tmp", fcntl.flock, []

    def flock(descriptor, operation):
        times.append(descriptor)
        if len(times) == 1:
            path.unlink()
        return real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    os.close(create_temporary(path))
    assert (len(times), path.exists()) == (2, True)
