"""The arguments of the run command."""

from __future__ import annotations

import re

import pytest

from flagmm import __version__
from flagmm.cli.arguments import build_parser, foreign_flags, parse
from flagmm.errors import ConfigError


def parsed(*argv):
    return vars(parse(["--tasks", "t", *argv]))


VALUES = {
    "--data-root": ("data_root", "d", "d"),
    "--subset": ("subset", "a", ["a"]),
    "--allow-media-root": ("allow_media_root", "d", ["d"]),
    "--limit": ("limit", "5", 5),
    "--cfg": ("cfg", "m.json", "m.json"),
    "-c": ("cfg", "m.json", "m.json"),
    "--model": ("model_name", "m", "m"),
    "--model-type": ("model_type", "ocr", "ocr"),
    "--url": ("url", "http://h/v1", "http://h/v1"),
    "--api-key": ("api_key", "k", "k"),
    "--num-workers": ("num_workers", "3", 3),
    "--num-infers": ("num_infers", "3", 3),
    "--temperature": ("temperature", "0", 0.0),
    "--timeout": ("timeout", "1.5", 1.5),
    "--retries": ("retries", "0", 0),
    "--output-dir": ("output_dir", "o", "o"),
    "--judge": ("judge", "j.json", "j.json"),
    "--export": ("export", "vlmevalkit", "vlmevalkit"),
}
SWITCHES = {
    "--reprocess": "reprocess",
    "--try-run": "try_run",
    "--skip": "skip",
    "--strict": "strict",
    "--use-cache": "use_cache",
    "--without-infer": "without_infer",
    "-wi": "without_infer",
    "--overwrite": "overwrite",
    "--same-model": "same_model",
    "--keep-failed": "keep_failed",
    "--quiet": "quiet",
    "-q": "quiet",
    "--debug": "debug",
}
MODEL_FLAGS = {
    "model_name", "model_type", "url", "api_key", "num_workers", "num_infers", "temperature", "timeout", "retries",
    "use_cache",
}  # fmt: skip


@pytest.mark.parametrize("flag", VALUES)
def test_a_flag_with_a_value_is_read(flag):
    name, text, value = VALUES[flag]
    assert parsed(flag, text)[name] == value
    if flag.startswith("--"):
        assert parsed(f"{flag}={text}")[name] == value


@pytest.mark.parametrize("flag", SWITCHES)
def test_a_switch_is_read(flag):
    name = SWITCHES[flag]
    assert not parsed()[name]
    assert parsed(flag)[name] is True


def test_a_flag_of_the_model_that_is_not_given_differs_from_every_value():
    given = parsed()
    assert {name: given[name] for name in MODEL_FLAGS} == dict.fromkeys(MODEL_FLAGS)


def test_every_flag_is_tested_here():
    offered = {
        flag
        for action in build_parser()._actions
        for flag in action.option_strings
        if not action.dest.startswith("foreign ")
    }
    assert offered == {*VALUES, *SWITCHES, "--tasks", "--exec", "--help", "-h", "--version"}


@pytest.mark.parametrize(
    ("underscored", "name", "value"),
    [
        (["--num_workers", "4"], "num_workers", 4),
        (["--num_workers=4"], "num_workers", 4),
        (["--output_dir=a_b"], "output_dir", "a_b"),
        (["--output_dir", "a_b"], "output_dir", "a_b"),
        (["--try_run"], "try_run", True),
    ],
)
def test_underscore_spellings_work_and_values_keep_theirs(underscored, name, value):
    assert parsed(*underscored)[name] == value


def test_several_subsets_and_media_roots_may_be_given():
    given = parsed("--subset", "a", "b", "--allow-media-root", "c", "--allow-media-root", "d")
    assert (given["subset"], given["allow_media_root"]) == (["a", "b"], ["c", "d"])


@pytest.mark.parametrize(("text", "limit"), [("0.5", 0.5), ("1.0", 1.0), ("1", 1), ("1e-1", 0.1)])
def test_a_limit_is_a_number_of_questions_or_a_fraction(text, limit):
    found = parsed("--limit", text)["limit"]
    assert (found, type(found)) == (limit, type(limit))


def test_several_tasks_may_be_given():
    assert parse(["--tasks", "a", "b/*.py", "-q"]).tasks == ["a", "b/*.py"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        pytest.param([], "the following arguments are required: --tasks", id="no tasks"),
        pytest.param(["--tasks"], "--tasks: expected at least one argument", id="no task"),
        pytest.param(["--tasks", "t", "--limit", "0"], "--limit: must be 1 or more", id="limit"),
        pytest.param(["--tasks", "t", "--limit", "1.5"], "--limit: a fraction must be", id="more than all"),
        pytest.param(["--tasks", "t", "--limit", "nan"], "--limit: a fraction must be", id="no number"),
        pytest.param(["--tasks", "t", "--num-workers", "8x"], "--num-workers: invalid int value: '8x'", id="number"),
        pytest.param(["--tasks", "t", "--nothing"], "unrecognized arguments: --nothing", id="unknown"),
        pytest.param(["--tasks", "t", "--num-work", "8"], "unrecognized arguments: --num-work 8", id="shortened"),
    ],
)
def test_wrong_input_ends_with_2(argv, message, capsys):
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "foreign"),
    [
        pytest.param([], [], id="none"),
        pytest.param(["--no-local-mode"], ["--no-local-mode"], id="switch"),
        pytest.param(["--server-port", "5000", "--server-ip", "h"], ["--server-ip", "--server-port"], id="values"),
        pytest.param(
            ["--local-mode", "--disable-evaluation-server"], ["--disable-evaluation-server", "--local-mode"], id="two"
        ),
        pytest.param(["--local_mode", "true"], ["--local-mode"], id="underscore and a value"),
        pytest.param(["-ds"], ["-ds"], id="short"),
        pytest.param(["--extra-args", "--limit-mm-per-prompt image=8"], ["--extra-args"], id="arguments of a server"),
        pytest.param(["--exec", "model_zoo/vlm/api_model/model_adapter.py"], ["--exec"], id="the adapter of endpoints"),
        pytest.param(
            ["--no-local-mode", "--exec", "api_model/model_adapter.py"], ["--no-local-mode", "--exec"], id="both"
        ),
    ],
)
def test_flags_of_flagevalmm_that_mean_nothing_here_are_taken(argv, foreign):
    assert sorted(foreign_flags(parse(["--tasks", "t", *argv]))) == sorted(foreign)


@pytest.mark.parametrize("adapter", ["model_zoo/vlm/qwen/model_adapter.py", "my_api_model.py"])
def test_another_adapter_is_an_error_that_says_what_to_do(adapter):
    with pytest.raises(
        ConfigError, match=rf"^--exec {re.escape(adapter)}: model adapters are not run; .* give --url, or"
    ):
        foreign_flags(parse(["--tasks", "t", "--exec", adapter]))


def test_help_shows_an_example_and_no_foreign_flag(capsys):
    with pytest.raises(SystemExit) as caught:
        parse(["--help"])
    shown = capsys.readouterr().out
    assert caught.value.code == 0
    assert "flagevalmm --tasks demo/ocr --cfg ocr" in shown
    assert "--num-workers N" in shown
    assert not any(flag in shown for flag in ("--exec", "--no-local-mode", "--server-port"))


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as caught:
        parse(["--version"])
    assert (caught.value.code, capsys.readouterr().out) == (0, f"flagmm {__version__}\n")
