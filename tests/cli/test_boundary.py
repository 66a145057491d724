"""What every command does with an error. Each case is a process of its own, with its own logging and signals."""

from __future__ import annotations

import subprocess
import sys

import pytest

_SETTING = """\
import logging, os, signal, sys
from flagmm.cli.boundary import run_guarded
from flagmm.errors import DataError, UserCodeError
"""


def guarded(body, **options):
    """Run a command whose work is `body`; its exit status, and the lines on stderr without their times."""
    work = "".join(f"    {line}\n" for line in body.splitlines())
    code = f"{_SETTING}def work(secrets):\n{work}sys.exit(run_guarded(work, **{options!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    return done.returncode, [line.partition(" ")[2] or line for line in done.stderr.splitlines()]


@pytest.mark.parametrize(
    ("body", "status", "lines"),
    [
        ("return 0", 0, []),
        ("return 1", 1, []),
        ("raise DataError('a.json: no\\n  such file')", 2, ["ERROR a.json: no such file"]),
        ("raise UserCodeError('evaluate.py: raised')", 1, ["ERROR evaluate.py: raised"]),
        ("open('/nowhere/x')", 2, ["ERROR /nowhere/x: No such file or directory"]),
        ("{}['key']", 1, ["ERROR unexpected KeyError: 'key'; --debug shows the traceback"]),
        ("raise KeyboardInterrupt", 130, ["WARNING interrupted"]),
        ("os.kill(os.getpid(), signal.SIGTERM)\nsignal.pause()", 130, ["WARNING interrupted"]),
    ],
    ids=["done", "some failed", "input", "user code", "file", "unexpected", "Ctrl-C", "SIGTERM"],
)
def test_an_error_becomes_one_line_and_a_status(body, status, lines):
    assert guarded(body) == (status, lines)


def test_a_command_says_itself_what_follows_an_interrupt():
    assert guarded("raise KeyboardInterrupt", interrupted="stopped; go on") == (130, ["WARNING stopped; go on"])


def test_debug_shows_the_traceback_too():
    status, lines = guarded("raise DataError('wrong')", debug=True)
    assert (status, lines[0]) == (2, "ERROR wrong")
    assert any("Traceback" in line or "most recent call last" in line for line in lines)


def test_secrets_that_the_work_names_are_left_out_of_errors():
    status, lines = guarded("secrets.append('sk-12345')\nraise DataError('key sk-12345 is refused')")
    assert (status, lines) == (2, ["ERROR key *** is refused"])


@pytest.mark.parametrize(("quiet", "lines"), [(False, ["INFO here"]), (True, [])])
def test_quiet_hides_what_is_not_a_warning(quiet, lines):
    assert guarded("logging.getLogger('flagmm.x').info('here')\nreturn 0", quiet=quiet) == (0, lines)


_INTERRUPTED_IMPORT = """\
import sys
from flagmm.cli import main

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.exit(main(["--tasks", "demo/ocr", "--model-type", "random", "--output-dir", "out"]))
"""


@pytest.mark.parametrize(
    "module", ["flagmm.cli.run", "flagmm.cli.boundary", "flagmm.cli.logs", "flagmm.assembly", "mmengine.config"]
)
def test_an_interrupt_while_modules_are_loaded_is_one_line(module):
    command = [sys.executable, "-c", _INTERRUPTED_IMPORT, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 130
    assert len(done.stderr.splitlines()) == 1
    assert "interrupted" in done.stderr
