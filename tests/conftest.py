"""Fixtures for all tests: a clean environment, the real command, and a folder to run it in."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.end_to_end.command import Command, is_removed

if "PYTEST_XDIST_WORKER" in os.environ:  # its workers ignore Ctrl-C, and every process that a test starts would, too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_environment(tmp_path, monkeypatch):
    """Keys, proxies and caches of the person who runs the tests must not reach them, nor tests the person's files."""
    for name in filter(is_removed, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("FLAGEVALMM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("LMUData", str(tmp_path / "LMUData"))
    monkeypatch.chdir(tmp_path)
    for name in ("", "flagmm"):  # a command that a test ran in this process has set it
        logging.getLogger(name).setLevel(logging.WARNING if not name else logging.NOTSET)


@pytest.fixture
def run_command(tmp_path) -> Iterator[Command]:
    """The real command, run as a process of its own in `tmp_path`."""
    with closing(Command(tmp_path)) as command:
        yield command


@pytest.fixture(scope="module")
def module_command(tmp_path_factory) -> Iterator[Command]:
    """As `run_command`, in a folder that the tests of one file share, for runs that several tests look at."""
    with closing(Command(tmp_path_factory.mktemp("module"))) as command:
        yield command
