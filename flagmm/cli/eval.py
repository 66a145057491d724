"""`flagevalmm eval --datasets …`: evaluate a model on your own data, with the flags of EvalScope's command."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagmm.cli.boundary import CommandParser, run_guarded, write_result

if TYPE_CHECKING:
    from flagmm.config.task_config import TaskConfig
    from flagmm.pipeline import Outcome
    from flagmm.run.plan import RunPlan

logger = logging.getLogger(__name__)

_EXAMPLE = """\
examples:
  flagevalmm eval --model my-model --api-url http://localhost:8000/v1 --datasets general_vqa \\
      --dataset-args '{"general_vqa": {"local_path": "my_folder", "subset_list": ["my_table"]}}' --dry-run
  flagevalmm eval --config evaluation.yaml --limit 5
"""
_OBJECTS = ("dataset_args", "judge", "judge_model_args", "sandbox", "sandbox_manager_config", "agent_config")
_PAIRS = ("generation_config", "model_args")
_SOURCE = "command line"
# Flags of EvalScope's command that mean nothing here, or are old names; a flag with None takes no value.
_FOREIGN: dict[str, Any] = {
    "--model-task": str, "--chat-template": str, "--dataset-dir": str, "--dataset-hub": str, "--eval-backend": str,
    "--eval-config": str, "--enable-progress-tracker": None, "--analysis-report": None, "--sandbox": str,
    "--use-sandbox": None, "--sandbox-type": str, "--sandbox-manager-config": str, "--agent-config": str,
    "--judge-strategy": str, "--judge-model-args": str,
}  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    """The parser of `flagevalmm eval`; a flag that is not given is None."""
    parser = CommandParser(
        prog="flagevalmm eval",
        description="Evaluate a model on your own tables of questions, or on installed tasks.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--config", metavar="FILE", help="YAML or JSON file with these settings; flags go before it")
    _add_model(parser)
    _add_data(parser)
    _add_run(parser)
    for flag, kind in _FOREIGN.items():
        settings: dict[str, Any] = {"action": "store_true", "default": None} if kind is None else {}
        parser.add_argument(flag, help=argparse.SUPPRESS, **settings)
    parser.add_argument("--collect-perf", action=argparse.BooleanOptionalAction, help=argparse.SUPPRESS)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--model", metavar="NAME", help="name that the endpoint knows the model by")
    group.add_argument("--model-id", metavar="NAME", help="name to show instead")
    group.add_argument("--model-args", metavar="SETTINGS", help="further keys of a model file: JSON, or a=1,b=2")
    group.add_argument("--api-url", metavar="URL", help="chat-completions URL, or the API root that ends in /v1")
    group.add_argument("--api-key", metavar="KEY", help="the key, or '$NAME' for an environment variable")
    group.add_argument(
        "--eval-type", metavar="TYPE", help="openai_api (the default), or mock_llm for a guess by chance"
    )
    group.add_argument("--generation-config", metavar="SETTINGS", help="temperature, max_tokens, …: JSON, or a=1,b=2")
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="for one attempt")
    group.add_argument("--stream", action="store_true", default=None, help="let the endpoint stream its replies")
    group.add_argument("--eval-batch-size", type=int, metavar="N", help="calls at once")


def _add_data(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("data")
    group.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="general_vqa, general_vmcq, or installed tasks such as mmmu"
    )
    group.add_argument("--dataset-args", metavar="JSON", help="settings by name of data set: an object, or a file")
    limit = "the first N questions of each subset, or a fraction; 0 is all"
    group.add_argument("--limit", type=float, metavar="N", help=limit)
    group.add_argument("--repeats", type=int, metavar="N", help="times that each question is asked")
    group.add_argument("--seed", type=int, metavar="N", help="of shuffling, where dataset-args ask for it")
    group.add_argument(
        "--allow-media-root", dest="allow_media_roots", nargs="+", action="extend", metavar="DIR",
        help="further folders that data files may name media in",
    )  # fmt: skip
    group.add_argument(
        "--fetch-media", action="store_true", default=None, help="fetch media from URLs instead of passing URLs on"
    )
    group.add_argument("--strict", action="store_true", default=None, help="let a bad row end the run")


def _add_run(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--judge", metavar="JSON", help="strategy, models and contract of a judge: an object, or a file")
    group.add_argument("--work-dir", metavar="DIR", help="folder of results folders; default: outputs")
    group.add_argument("--no-timestamp", action="store_true", default=None, help="put results into the work dir itself")
    group.add_argument("--use-cache", metavar="DIR", help="go on with the results folder of an earlier run")
    group.add_argument(
        "--same-model", action="store_true", default=None,
        help="go on at another url, which serves the model that answered before",
    )  # fmt: skip
    group.add_argument(
        "--rerun-review", action="store_true", default=None, help="score the answers there again; asks no model"
    )
    group.add_argument(
        "--ignore-errors", action="store_true", default=None, help="failed items leave the exit status at 0"
    )
    group.add_argument(
        "--dry-run", action="store_true", default=None, help="read everything, show the first request, ask nothing"
    )
    group.add_argument("--debug", action="store_true", default=None, help="show tracebacks and details")


def main(argv: Sequence[str]) -> int:
    """Parse, run, print; returns the exit status."""
    arguments = build_parser().parse_args(argv)
    return run_guarded(lambda secrets: _run(arguments, argv, secrets), debug=bool(arguments.debug))


def _run(arguments: argparse.Namespace, argv: Sequence[str], secrets: list[str]) -> int:
    from flagmm.config.env import load_dotenv_file
    from flagmm.config.secrets import secrets_in
    from flagmm.plugin import kept_streams
    from flagmm.run.plan import make_plan

    load_dotenv_file()
    with kept_streams():
        config = _config(arguments)
        secrets += secrets_in(vars(config))
        plan = make_plan(config, source=arguments.config or _SOURCE)
        secrets += plan.secrets()
    return _dry_run(plan) if config.dry_run else _real_run(plan, argv)


def _config(arguments: argparse.Namespace) -> TaskConfig:
    """The file's settings with the flags put over them."""
    from pathlib import Path

    from flagmm.config.task_config import make_task_config, read_config_file

    values: dict[str, Any] = {}
    if arguments.config is not None:
        values |= read_config_file(Path(arguments.config))
    given = {name: value for name, value in vars(arguments).items() if name != "config" and value is not None}
    for name in (*_OBJECTS, *_PAIRS):
        if name in given:
            given[name] = _settings(given[name], flag=name, pairs=name in _PAIRS)
    if given.get("api_key") == "":  # an unset variable of the shell
        del given["api_key"]
    return make_task_config({**values, **given}, source=arguments.config or _SOURCE)


def _settings(text: str, *, flag: str, pairs: bool) -> dict[str, Any]:
    from flagmm.config.settings_text import parse_settings_text

    return parse_settings_text(text, flag=f"--{flag.replace('_', '-')}", pairs=pairs)


def _dry_run(plan: RunPlan) -> int:
    from flagmm.plugin import kept_streams
    from flagmm.run.dry import look

    with kept_streams():
        found = look(plan)
    write_result(found.text())
    return int(not found.is_sound)


def _real_run(plan: RunPlan, argv: Sequence[str]) -> int:
    from flagmm.inference.progress import make_progress
    from flagmm.inference.session import ModelSession
    from flagmm.plugin import kept_streams
    from flagmm.run.api import execute

    with kept_streams():
        session = ModelSession(plan.spec) if plan.spec is not None else None
        outcome = execute(plan, session, progress=make_progress(quiet=False), command=["eval", *argv])
    return _report(outcome, plan)


def _report(outcome: Outcome, plan: RunPlan) -> int:
    from flagmm.cli.logs import one_line
    from flagmm.report.general_table import draw_report

    folder = shlex.quote(str(plan.output.folder))
    if outcome.rows:
        again = f"flagevalmm eval --config {shlex.quote(str(plan.output.config))} --use-cache {folder} --rerun-review"
        table = f"{draw_report(outcome.rows, plan.output)}\n\nResults: {plan.output.folder}"
        has_answers = any(result.counts.asked or not result.missing for result in outcome.rows)
        write_result(f"{table}\nScore again: {again}" if has_answers else table)
    for name, error in outcome.errors:
        logger.error("%s: %s", name, one_line(error), exc_info=error if plan.config.debug else None)
    if outcome.interrupted:
        logger.warning("interrupted; the same command with --use-cache %s goes on where this one stopped", folder)
    is_clean = not outcome.errors and not outcome.interrupted
    return 0 if is_clean and plan.config.ignore_errors else outcome.exit_status
