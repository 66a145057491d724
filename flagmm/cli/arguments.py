"""The arguments of `flagevalmm --tasks …`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import PurePath
from typing import Any

from flagmm import __version__
from flagmm.cli import COMMANDS
from flagmm.cli.boundary import CommandParser
from flagmm.errors import ConfigError

TRY_RUN_ITEMS = 32

_EXAMPLE = """\
examples:
  flagevalmm --tasks demo/ocr --cfg ocr
  flagevalmm --tasks tasks/my_task/my_task.py --model my-model --url http://localhost:8000/v1
  flagevalmm --tasks tasks/my_task/my_task.py --without-infer --output-dir results/my-model
"""

# Flags of FlagEvalMM's command that have no meaning here, and how many values they take.
_FOREIGN = {
    "--local-mode": "?", "--no-local-mode": 0, "--disable-evaluation-server": 0, "-ds": 0, "--server-ip": 1,
    "--server-port": 1, "--extra-args": 1,
}  # fmt: skip


class _Parser(CommandParser):
    """Looks at the other commands only when help is asked for."""

    def format_help(self) -> str:
        self.epilog = f"{_EXAMPLE}\nother commands, each with a --help of its own:\n{_other_commands()}"
        return super().format_help()


def _other_commands() -> str:
    docstrings = [(import_module(module).__doc__ or module).splitlines()[0] for module in COMMANDS.values()]
    return "".join(f"  {line.replace('`', '')}\n" for line in docstrings)


def build_parser() -> argparse.ArgumentParser:
    """The parser; a flag that is not given is None, which differs from every value."""
    parser = _Parser(
        prog="flagevalmm",
        description="Evaluate a multimodal model on task files.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"flagmm {__version__}")
    _add_tasks(parser)
    _add_model(parser)
    _add_run(parser)
    for flag, count in _FOREIGN.items():
        settings: dict[str, Any] = {"action": "store_true"} if count == 0 else {"nargs": count} if count == "?" else {}
        parser.add_argument(flag, dest=f"foreign {flag}", default=argparse.SUPPRESS, help=argparse.SUPPRESS, **settings)
    parser.add_argument("--exec", dest="adapter", help=argparse.SUPPRESS)
    return parser


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tasks")
    group.add_argument(
        "--tasks", nargs="+", required=True, metavar="TASK", help="task files, folders, globs, or installed names"
    )
    group.add_argument("--data-root", metavar="DIR", help="folder of annotations and media, instead of the tasks' own")
    group.add_argument("--reprocess", action="store_true", help="run the tasks' process.py again")
    group.add_argument(
        "--subset", nargs="+", metavar="NAME", help="tables of the data folder, named without ending; default: all"
    )
    group.add_argument(
        "--allow-media-root", action="append", metavar="DIR", help="a further folder that data may name media in"
    )
    group.add_argument("--strict", action="store_true", help="a faulty row of the data ends the run at once")
    group.add_argument(
        "--limit",
        type=_limit,
        metavar="N",
        help="ask the first N questions of each task (of each subset, where it has some), or with 0.1 a tenth of them",
    )
    group.add_argument("--try-run", action="store_true", help=f"ask the first {TRY_RUN_ITEMS} questions of each task")
    group.add_argument("--skip", action="store_true", help="leave out tasks that are finished")


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model (flags go before the model file)")
    group.add_argument("--cfg", "-c", metavar="FILE", help="model file (JSON), or the name of one that is installed")
    group.add_argument("--model", dest="model_name", metavar="NAME", help="name that the endpoint knows the model by")
    group.add_argument("--model-type", metavar="TYPE", help="http (the default), ocr, random, scripted")
    group.add_argument("--url", help="chat-completions URL, or the API root that ends in /v1")
    group.add_argument("--api-key", metavar="KEY", help="better given as FLAGEVAL_API_KEY in the environment")
    group.add_argument("--num-workers", type=int, metavar="N", help="calls at once")
    group.add_argument("--num-infers", type=int, metavar="N", help="repetitions of each question")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="for one attempt")
    group.add_argument("--retries", type=int, metavar="N", help="further attempts after one that may pass")
    group.add_argument(
        "--use-cache", action="store_true", default=None, help="keep replies for other runs, and use them"
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--output-dir", metavar="DIR", help="results directory; default: results/<model name>")
    group.add_argument("--without-infer", "-wi", action="store_true", help="score saved answers; asks no model")
    group.add_argument(
        "--judge", metavar="FILE", help="model file of a judge; may name a strategy and a prompt (docs/judge.md)"
    )
    group.add_argument(
        "--export", choices=["vlmevalkit"], help="write predictions and scores in that tool's files, too"
    )
    group.add_argument("--overwrite", action="store_true", help="forget saved answers of these tasks and ask again")
    group.add_argument(
        "--same-model", action="store_true", help="go on at another url, which serves the model that answered before"
    )
    group.add_argument(
        "--keep-failed", action="store_true", help="leave failed, refused and empty items; ask on where all are refused"
    )
    group.add_argument("--quiet", "-q", action="store_true", help="warnings and results only")
    group.add_argument("--debug", action="store_true", help="show tracebacks and details")


def _limit(text: str) -> int | float:
    number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    if isinstance(number, float) and not 0 < number <= 1:
        raise argparse.ArgumentTypeError("a fraction must be above 0 and at most 1.0")
    if number <= 0:
        raise argparse.ArgumentTypeError("must be 1 or more, or a fraction such as 0.1")
    return number


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; `--num_workers` is taken for `--num-workers`."""
    return build_parser().parse_args([_dashed(argument) for argument in argv])


def _dashed(argument: str) -> str:
    if not argument.startswith("--"):
        return argument
    flag, equals, value = argument.partition("=")
    return flag.replace("_", "-") + equals + value


def foreign_flags(arguments: argparse.Namespace) -> list[str]:
    """The given flags of FlagEvalMM's command that mean nothing here.

    Raises:
        ConfigError: `--exec` names an adapter, which would have to be run.
    """
    given = [name.removeprefix("foreign ") for name in vars(arguments) if name.startswith("foreign ")]
    if arguments.adapter is None:
        return given
    if "api_model" not in PurePath(arguments.adapter).parts:
        raise ConfigError(
            f"--exec {arguments.adapter}: model adapters are not run; serve the model behind an OpenAI-compatible "
            "endpoint and give --url, or write a client class and give --model-type file.py:Class"
        )
    return [*given, "--exec"]
