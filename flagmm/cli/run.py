"""`flagevalmm --tasks …`: evaluate a model on task files."""

from __future__ import annotations

import argparse
import logging
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagmm.cli.arguments import TRY_RUN_ITEMS, foreign_flags, parse
from flagmm.cli.boundary import run_guarded, write_result
from flagmm.errors import ConfigError

if TYPE_CHECKING:
    from flagmm.config.model import ModelSpec
    from flagmm.paths import RunPaths
    from flagmm.pipeline import Options, Outcome

logger = logging.getLogger(__name__)

_MODEL_FLAGS = (
    "model_name", "model_type", "url", "api_key", "num_workers", "num_infers", "temperature", "timeout", "retries",
    "use_cache",
)  # fmt: skip
_GO_ON = "interrupted; the same command goes on where this one stopped"


def main(argv: list[str]) -> int:
    """Parse, run, print; returns the exit status."""
    arguments = parse(argv)
    return run_guarded(
        lambda secrets: _run(arguments, argv, secrets),
        quiet=arguments.quiet,
        debug=arguments.debug,
        interrupted=_GO_ON,
    )


def _run(arguments: argparse.Namespace, argv: list[str], secrets: list[str]) -> int:
    with redirect_stdout(sys.stderr):  # whatever a task's own code prints; stdout is for results
        outcome, output = _evaluate(arguments, argv, secrets)
    return _report(outcome, output, arguments)


def _evaluate(arguments: argparse.Namespace, argv: list[str], secrets: list[str]) -> tuple[Outcome, RunPaths]:
    from flagmm.assembly import check_tasks
    from flagmm.config.env import load_dotenv_file
    from flagmm.config.locate import find_tasks
    from flagmm.config.task import load_task
    from flagmm.manifest import Manifest

    foreign = foreign_flags(arguments)
    if foreign:
        logger.warning("%s: no meaning here, left out", ", ".join(foreign))
    load_dotenv_file()
    tasks = [load_task(path) for path in find_tasks(arguments.tasks)]
    spec = None if arguments.without_infer else _model_spec(arguments)
    if spec is not None:
        secrets += spec.secrets()
    check_tasks(tasks, data_root=arguments.data_root)
    output = _output(arguments, spec)
    options = _options(arguments)
    with Manifest(output.manifest, argv=argv, spec=spec, tasks=[task.name for task in tasks]) as manifest:
        outcome = _run_pipeline(tasks, spec, output, options)
        manifest.state = "interrupted" if outcome.interrupted else "ended"
    return outcome, output


def _model_spec(arguments: argparse.Namespace) -> ModelSpec:
    from flagmm.config.model import parse_model
    from flagmm.models.build import own_keys

    flags = {name: getattr(arguments, name) for name in _MODEL_FLAGS if getattr(arguments, name) is not None}
    if arguments.cfg is None:
        if not flags.keys() & {"model_name", "model_type"}:
            raise ConfigError(
                "no model: give --cfg with a model file, or --model and --url (or score with --without-infer)"
            )
        return parse_model({}, flags, source="command line", own_keys=own_keys)
    values = _read_model_file(arguments.cfg)
    return parse_model(values, flags, source=arguments.cfg, own_keys=own_keys)


def _read_model_file(name: str) -> dict[str, Any]:
    from flagmm.config.locate import find_model_file
    from flagmm.jsonio import read_json

    path = find_model_file(name)
    values = read_json(path)
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected an object")
    return values


def _output(arguments: argparse.Namespace, spec: ModelSpec | None) -> RunPaths:
    """The results directory: the flag, else the model file's, else one named after the model."""
    from flagmm.paths import RunPaths, default_output_dir

    if arguments.output_dir:
        return RunPaths(Path(arguments.output_dir).expanduser())
    if spec is None:
        if arguments.cfg is None and arguments.model_name is None:
            raise ConfigError("--without-infer: say with --output-dir (or --cfg) where the answers are")
        spec = _model_spec(arguments)
    return RunPaths(Path(spec.output_dir).expanduser() if spec.output_dir else default_output_dir(spec.model_name))


def _options(arguments: argparse.Namespace) -> Options:
    from flagmm.inference.plan import Scope
    from flagmm.inference.progress import make_progress
    from flagmm.pipeline import Options

    limit, label = arguments.limit, f"limit {arguments.limit}" if arguments.limit else ""
    if arguments.try_run and (limit is None or limit > TRY_RUN_ITEMS):
        limit, label = TRY_RUN_ITEMS, "try run"
    return Options(
        scope=Scope(limit=limit, label=label, keep_failed=arguments.keep_failed),
        data_root=arguments.data_root,
        skip_finished=arguments.skip,
        overwrite=arguments.overwrite,
        reprocess=arguments.reprocess,
        judge=_read_model_file(arguments.judge) if arguments.judge else None,
        progress=make_progress(quiet=arguments.quiet),
    )


def _run_pipeline(tasks: list[Any], spec: ModelSpec | None, output: RunPaths, options: Options) -> Outcome:
    from flagmm.inference.session import ModelSession
    from flagmm.pipeline import run

    if spec is None:
        return run(tasks, None, output, options)
    with ModelSession(spec) as session:
        return run(tasks, session, output, options)


def _report(outcome: Outcome, output: RunPaths, arguments: argparse.Namespace) -> int:
    from flagmm.cli.logs import one_line
    from flagmm.report.table import draw_table

    if outcome.results:
        tasks = " ".join(arguments.tasks)
        judge = f" --judge {arguments.judge}" if arguments.judge else ""
        again = f"flagevalmm --tasks {tasks} --without-infer --output-dir {output.folder}{judge}"
        write_result(f"{draw_table(outcome.results)}\n\nResults: {output.folder}\nScore again: {again}")
    for name, error in outcome.errors:
        logger.error("%s: %s", name, one_line(error), exc_info=error if arguments.debug else None)
    if outcome.interrupted:
        logger.warning(_GO_ON)
    return outcome.exit_status
