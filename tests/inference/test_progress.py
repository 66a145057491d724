"""How far the asking is, shown where it fits."""

from __future__ import annotations

import logging
import re

import pytest

from flagmm.inference.progress import BarProgress, LineProgress, SilentProgress, make_progress
from flagmm.types import Prediction

OK = Prediction(question_id="1", question="", answer="A", status="ok")
FAILED = Prediction(question_id="1", question="", answer="", status="failed")


@pytest.fixture(autouse=True)
def info(caplog):
    caplog.set_level(logging.INFO)


def run(progress, *, total=4, done=1, outcomes=(OK, FAILED)):
    progress.start("my_task", total, done=done)
    for outcome in outcomes:
        progress.advance(outcome)
    progress.finish()


def test_a_line_says_what_is_done_and_what_is_left(caplog):
    run(LineProgress())
    (line,) = caplog.messages
    assert re.fullmatch(r"my_task: 3/4 done \(1 from before\), 1 failed, \d+\.\d/s, \d+ s left", line)


def test_a_finished_task_has_no_time_left(caplog):
    run(LineProgress(), total=2, done=0)
    assert re.fullmatch(r"my_task: 2/2 done, 1 failed, \d+\.\d/s", caplog.messages[0])


def test_a_task_without_calls_divides_by_nothing(caplog):
    run(LineProgress(), total=0, done=0, outcomes=())
    assert caplog.messages == ["my_task: 0/0 done, 0 failed, 0.0/s"]


def test_many_quick_calls_make_one_line(caplog):
    run(LineProgress(), total=1000, done=0, outcomes=[OK] * 1000)
    assert len(caplog.messages) == 1


def test_a_second_task_starts_from_nothing(caplog):
    progress = LineProgress()
    run(progress)
    run(progress, total=1, done=0, outcomes=[OK])
    assert caplog.messages[1].startswith("my_task: 1/1 done, 0 failed")


def test_a_bar_is_drawn_on_stderr(capsys):
    run(BarProgress())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "my_task" in captured.err
    assert "3/4" in captured.err
    assert "failed=1" in captured.err


def test_silence_shows_nothing(capsys, caplog):
    run(SilentProgress())
    captured = capsys.readouterr()
    assert (captured.out, captured.err, caplog.messages) == ("", "", [])


class Stderr:
    """Stands for where stderr goes."""

    def __init__(self, is_terminal):
        self.isatty = lambda: is_terminal

    def write(self, text): ...

    def flush(self): ...


@pytest.mark.parametrize(
    ("quiet", "is_terminal", "kind"),
    [
        (True, True, SilentProgress),
        (True, False, SilentProgress),
        (False, True, BarProgress),
        (False, False, LineProgress),
    ],
)
def test_the_display_fits_where_stderr_goes(monkeypatch, quiet, is_terminal, kind):
    monkeypatch.setattr("sys.stderr", Stderr(is_terminal))
    assert type(make_progress(quiet=quiet)) is kind
