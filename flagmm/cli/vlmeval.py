"""`flagevalmm vlmeval --data … --model …`: evaluate with the names, flags and files of VLMEvalKit."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flagmm.cli.boundary import CommandParser, run_guarded, write_result

if TYPE_CHECKING:
    from flagmm.config.vlmeval import VlmevalConfig
    from flagmm.run.vlmeval.api import ModelRun
    from flagmm.run.vlmeval.plan import VlmevalPlan

logger = logging.getLogger(__name__)

_EXAMPLE = """\
examples:
  flagevalmm vlmeval --data custom_mcq --model GPT4o --verbose
  flagevalmm vlmeval --data custom_mcq --model my-model --base-url http://localhost:8000/v1 --mode infer
  flagevalmm vlmeval --config config.json --work-dir outputs --judge exact_matching
  flagevalmm vlmeval check GPT4o
"""
_SOURCE = "command line"
_OBJECTS = ("judge_args", "extra_body", "data_config")
_FOREIGN: dict[str, Any] = {
    "--reuse-aux": {}, "--use-vllm": {"action": "store_true"}, "--use-verifier": {"action": "store_true"},
    "--ignore": {"action": "store_true"}, "--custom-prompt": {}, "--local-media": {"action": "store_true"},
    "--thinker": {"action": "store_true"}, "--api-mode": {"action": "store_true"}, "--monitor-interval": {},
}  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    """The parser of `flagevalmm vlmeval`; a flag that is not given is None."""
    parser = CommandParser(
        prog="flagevalmm vlmeval",
        description="Evaluate models on VLMEvalKit's tables ($LMUData/NAME.tsv) or installed tasks, with its flags and "
        "files. `check MODEL` sends one picture and one text question.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--data", nargs="+", metavar="NAME", help="tables in $LMUData, paths of tables, or tasks")
    parser.add_argument(
        "--model", nargs="+", metavar="NAME", help="model files, VLMEvalKit's names of API models, or file.py:Class"
    )
    parser.add_argument("--config", metavar="FILE", help="JSON with `model` and `data`, each an object by name")
    parser.add_argument("--data-config", metavar="JSON", help="as `data` of a config: an object, or a file")
    parser.add_argument("--work-dir", metavar="DIR", help="folder of results; default: $MMEVAL_ROOT, else outputs")
    parser.add_argument(
        "--mode", choices=["all", "infer", "eval"], help="ask and score (default), only ask, only score"
    )
    parser.add_argument("--limit", type=float, metavar="N", help="the first N questions of each table")
    _add_data(parser)
    parser.add_argument("--reuse", action="store_true", default=None, help="go on with the newest run of each model")
    parser.add_argument(
        "--same-model", action="store_true", default=None,
        help="with --reuse: go on at another url, which serves the model that answered before",
    )  # fmt: skip
    parser.add_argument("--keep-failed", action="store_true", default=None, help="do not ask failed items again")
    parser.add_argument("--verbose", action="store_true", default=None, help="show details of each item")
    parser.add_argument("--debug", action="store_true", default=None, help="show tracebacks and details")
    _add_endpoint(parser)
    _add_judge(parser)
    for flag, settings in _FOREIGN.items():
        parser.add_argument(flag, help=argparse.SUPPRESS, default=None, **settings)
    return parser


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nframe", type=int, metavar="N", help="frames of each video")
    parser.add_argument("--fps", type=float, metavar="N", help="frames of each second of a video")
    parser.add_argument("--use-subtitle", action="store_true", default=None, help="put subtitles before the question")
    parser.add_argument(
        "--allow-media-root", dest="allow_media_roots", action="append", metavar="DIR",
        help="a further folder that tables may name media in",
    )  # fmt: skip
    parser.add_argument(
        "--rule", choices=["careful", "reference"], help="reference: read replies as VLMEvalKit does, faults included"
    )


def _add_endpoint(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--api-nproc", "--nproc", type=int, metavar="N", help="calls at once; default: 4")
    group.add_argument("--retry", type=int, metavar="N", help="further attempts after one that may pass")
    group.add_argument("--base-url", metavar="URL", help="endpoint of all models, as in http://localhost:8000/v1")
    group.add_argument("--key", metavar="KEY", help="better given as OPENAI_API_KEY in the environment or in .env")
    group.add_argument("--max-tokens", type=int, metavar="N")
    group.add_argument("--temperature", type=float, metavar="T")
    group.add_argument("--top-k", type=int, metavar="N")
    group.add_argument("--top-p", type=float, metavar="P")
    group.add_argument("--repetition-penalty", type=float, metavar="P")
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="for one attempt")
    group.add_argument("--stream", action="store_true", default=None, help="let the endpoint stream its replies")
    group.add_argument("--video-llm", action="store_true", default=None, help="send videos as files")
    group.add_argument("--extra-body", metavar="JSON", help="further keys of each request")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judge")
    group.add_argument("--judge", metavar="NAME", help="model that reads what rules cannot, or exact_matching for none")
    group.add_argument("--judge-args", metavar="JSON", help="keywords of the judge's model")
    group.add_argument("--judge-base-url", metavar="URL", help="default: $OPENAI_API_BASE, else OpenAI")
    group.add_argument("--judge-key", metavar="KEY", help="default: $OPENAI_API_KEY")
    group.add_argument("--judge-api-nproc", type=int, metavar="N")
    group.add_argument("--judge-retry", type=int, metavar="N")
    group.add_argument("--judge-timeout", type=float, metavar="SECONDS")


def main(argv: Sequence[str]) -> int:
    """Parse, run, print; returns the exit status."""
    arguments = list(argv)
    checks = arguments[:1] == ["check"]
    parser = build_parser()
    if checks:
        parser.add_argument("names", nargs="+", metavar="MODEL")
    parsed = parser.parse_args(arguments[1:] if checks else arguments)
    debug = bool(parsed.debug or parsed.verbose)
    if checks:
        return run_guarded(lambda secrets: _check(parsed, secrets), debug=debug)
    if not (parsed.config or parsed.data or parsed.data_config):
        parser.error("name data sets with --data, or give --config")
    return run_guarded(lambda secrets: _run(parsed, arguments, secrets), debug=debug)


def _config(parsed: argparse.Namespace, secrets: list[str]) -> VlmevalConfig:
    """The configuration, whose secrets are known before anything is said of it."""
    from pathlib import Path

    from flagmm.config.secrets import secrets_in
    from flagmm.config.settings_text import parse_settings_text
    from flagmm.config.task_config import check_keys, read_config_file
    from flagmm.config.vlmeval import parse_vlmeval

    given = {name: value for name, value in vars(parsed).items() if name not in ("config", "names")}
    given = {name: value for name, value in given.items() if value is not None}
    for name in _OBJECTS:
        if name in given:
            given[name] = parse_settings_text(given[name], flag=f"--{name.replace('_', '-')}", pairs=False)
    source = _SOURCE
    if parsed.config is not None:
        source = parsed.config
        values = read_config_file(Path(parsed.config))
        check_keys(values, ("model", "data"), where=source)
        given = {**values, **given}
    if "data_config" in given:
        given["data"] = {**{name: {} for name in given.get("data", ())}, **given.pop("data_config")}
    if getattr(parsed, "names", None):
        given |= {"model": parsed.names, "data": ["(none)"]}
    secrets += secrets_in(given)
    return parse_vlmeval(given, source=source)


def _run(parsed: argparse.Namespace, argv: Sequence[str], secrets: list[str]) -> int:
    from flagmm.config.env import load_dotenv_file, other_rank
    from flagmm.inference.progress import make_progress
    from flagmm.plugin import kept_streams
    from flagmm.run.vlmeval.api import VlmevalRun, exit_status, run_vlmeval
    from flagmm.run.vlmeval.plan import make_plan

    if rank := other_rank():
        logger.info("%s: rank 0 asks and scores everything; unset RANK and WORLD_SIZE to run here", rank)
        return 0
    load_dotenv_file()
    with kept_streams():
        plan = make_plan(_config(parsed, secrets), source=parsed.config or _SOURCE)
        secrets += plan.secrets()
        progress = make_progress(quiet=False)
        runs = run_vlmeval(VlmevalRun(plan=plan, progress=progress, command=["vlmeval", *argv]))
    for run in runs:
        _report(run, plan, debug=bool(parsed.debug))
    return exit_status(runs)


def _report(run: ModelRun, plan: VlmevalPlan, *, debug: bool) -> None:
    from flagmm.cli.logs import one_line
    from flagmm.report.general_table import draw_report
    from flagmm.report.vlmeval_table import draw_scores, draw_summary

    outcome, texts = run.outcome, [f"{run.model}"]
    for result in outcome.results:
        table = draw_scores(result)
        texts += [f"{run.model}_{result.task}:\n{table}"] if table else []
    names = [task.name for task in plan.tasks]
    texts.append(draw_summary(names, outcome.results, outcome.errors, outcome.missing))
    if outcome.rows and plan.config.mode != "infer":
        texts.append(draw_report(outcome.rows, run.output))
    files = "\n".join(f"  {path}" for path in run.files)
    texts.append(f"Results: {run.output.folder}" + (f"\n{files}" if files else ""))
    write_result("\n\n".join(texts) + "\n")
    for name, error in outcome.errors:
        logger.error("%s: %s: %s", run.model, name, one_line(error), exc_info=error if debug else None)
    if outcome.interrupted:
        again = shlex.quote(str(run.output.folder))
        logger.warning("interrupted; the same command with --reuse goes on with %s", again)


def _check(parsed: argparse.Namespace, secrets: list[str]) -> int:
    from flagmm.config.env import load_dotenv_file
    from flagmm.run.vlmeval.check import check_model
    from flagmm.run.vlmeval.plan import model_specs

    load_dotenv_file()
    specs = model_specs(_config(parsed, secrets), source=_SOURCE)
    status = 0
    for name, spec in specs.items():
        secrets += spec.secrets()
        write_result(f"Model: {name}")
        for number, tried in enumerate(check_model(spec), start=1):
            write_result(f"Test {number}: {tried.question} -> {tried.answer or tried.error or '(empty)'}")
            status = max(status, int(not tried.answer))
    return status
