"""`flagevalmm --tasks …`: evaluate a model on task files."""

from __future__ import annotations

import argparse
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagmm.cli.arguments import TRY_RUN_ITEMS, foreign_flags, parse
from flagmm.cli.boundary import run_guarded, write_result
from flagmm.errors import ConfigError

if TYPE_CHECKING:
    from flagmm.config.model import ModelSpec
    from flagmm.paths import RunPaths
    from flagmm.pipeline import Export, Options, Outcome

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
    from flagmm.plugin import kept_streams

    with kept_streams():
        outcome, output = _evaluate(arguments, argv, secrets)
    return _report(outcome, output, arguments)


def _evaluate(arguments: argparse.Namespace, argv: list[str], secrets: list[str]) -> tuple[Outcome, RunPaths]:
    from flagmm.assembly import check_tasks, find_judges
    from flagmm.config.env import load_dotenv_file
    from flagmm.config.locate import find_tasks
    from flagmm.config.task import load_task
    from flagmm.manifest import Manifest

    foreign = foreign_flags(arguments)
    if foreign:
        logger.warning("%s: no meaning here, left out", ", ".join(foreign))
    load_dotenv_file()
    tasks = [load_task(path) for path in find_tasks(arguments.tasks)]
    secrets += [text for task in tasks for text in task.secrets()]
    spec = None if arguments.without_infer else _model_spec(arguments, secrets)
    if spec is not None:
        secrets += spec.secrets()
    options = replace(_options(arguments), secrets=secrets)
    check_tasks(tasks, data_root=options.data_root, settings=options.dataset_settings)
    for judge in find_judges(tasks, given=options.judge):
        secrets += judge.secrets()
    output = _output(arguments, spec, secrets)
    names = [task.name for task in tasks]
    if arguments.export is not None:
        options = replace(options, export=_export(arguments, spec, output, names))
    with Manifest(output.manifest, argv=argv, spec=spec, tasks=names, secrets=secrets) as manifest:
        outcome = _run_pipeline(tasks, spec, output, options)
        manifest.state = "interrupted" if outcome.interrupted else "ended"
    return outcome, output


def _model_spec(arguments: argparse.Namespace, secrets: list[str]) -> ModelSpec:
    """The model, whose secrets are known before anything is said of its settings."""
    from flagmm.config.locate import read_model_file
    from flagmm.config.model import parse_model
    from flagmm.config.secrets import secrets_in
    from flagmm.models.build import own_keys

    flags = {name: getattr(arguments, name) for name in _MODEL_FLAGS if getattr(arguments, name) is not None}
    if arguments.cfg is None:
        if not flags.keys() & {"model_name", "model_type"}:
            raise ConfigError(
                "no model: give --cfg with a model file, or --model and --url (or score with --without-infer)"
            )
        return parse_model({}, flags, source="command line", own_keys=own_keys)
    values = read_model_file(arguments.cfg)
    secrets += secrets_in({**values, **flags}, of_request=True)
    return parse_model(values, flags, source=arguments.cfg, own_keys=own_keys)


def _output(arguments: argparse.Namespace, spec: ModelSpec | None, secrets: list[str]) -> RunPaths:
    """The results directory: the flag, else the model file's, else one named after the model."""
    from flagmm.paths import RunPaths, default_output_dir

    if arguments.output_dir:
        return RunPaths(_folder(arguments.output_dir, "--output-dir"))
    if spec is None:
        if arguments.cfg is None and arguments.model_name is None:
            raise ConfigError("--without-infer: say with --output-dir (or --cfg) where the answers are")
        spec = _model_spec(arguments, secrets)
    if spec.output_dir:
        return RunPaths(_folder(spec.output_dir, "output_dir"))
    return RunPaths(default_output_dir(spec.model_name))


def _export(arguments: argparse.Namespace, spec: ModelSpec | None, output: RunPaths, tasks: list[str]) -> Export:
    """What writes VLMEvalKit's files, named after the model: of saved answers the one that the folder tells of."""
    from flagmm.manifest import saved_model_name
    from flagmm.report.vlmevalkit_files import VlmevalkitExport

    given = spec.shown_name if spec is not None else arguments.model_name or saved_model_name(output.manifest, tasks)
    return VlmevalkitExport(output.folder, given or output.folder.resolve().name)


def _folder(name: str, where: str) -> Path:
    folder = Path(name).expanduser()
    for path in (folder, *folder.parents):
        if path.exists() and not path.is_dir():
            raise ConfigError(f"{where}: {path} is a file, and results need a folder; give another name")
    return folder


def _options(arguments: argparse.Namespace) -> Options:
    from flagmm.config.locate import read_model_file
    from flagmm.inference.plan import Scope
    from flagmm.inference.progress import make_progress
    from flagmm.inference.resume import Resume
    from flagmm.pipeline import Options

    limit, label = arguments.limit, f"limit {arguments.limit}" if arguments.limit else ""
    if arguments.try_run and isinstance(limit, float):
        raise ConfigError("--try-run asks a fixed number of questions; it does not go with a fraction as --limit")
    if arguments.try_run and (limit is None or limit > TRY_RUN_ITEMS):
        limit, label = TRY_RUN_ITEMS, "try run"
    return Options(
        scope=Scope(limit=limit, label=label, keep_failed=arguments.keep_failed),
        data_root=arguments.data_root,
        dataset_settings=_dataset_settings(arguments),
        skip_finished=arguments.skip,
        resume=Resume(overwrite=arguments.overwrite, same_model=arguments.same_model),
        reprocess=arguments.reprocess,
        judge=read_model_file(arguments.judge) if arguments.judge else None,
        progress=make_progress(quiet=arguments.quiet),
    )


def _dataset_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {
        "subset_list": arguments.subset,
        "strict": arguments.strict or None,
        "allow_media_roots": arguments.allow_media_root,
    }
    return {keyword: value for keyword, value in given.items() if value is not None}


def _run_pipeline(tasks: list[Any], spec: ModelSpec | None, output: RunPaths, options: Options) -> Outcome:
    from flagmm.inference.session import ModelSession
    from flagmm.pipeline import run

    if spec is None:
        return run(tasks, None, output, options)
    with ModelSession(spec) as session:
        return run(tasks, session, output, options)


def _report(outcome: Outcome, output: RunPaths, arguments: argparse.Namespace) -> int:
    from flagmm.cli.logs import one_line
    from flagmm.report.general_table import draw_report

    if outcome.rows:
        tasks = " ".join(arguments.tasks)
        data = f" --data-root {arguments.data_root}" if arguments.data_root else ""
        data += f" --subset {' '.join(arguments.subset)}" if arguments.subset else ""
        judge = f" --judge {arguments.judge}" if arguments.judge else ""
        again = f"flagevalmm --tasks {tasks}{data} --without-infer --output-dir {output.folder}{judge}"
        table = f"{draw_report(outcome.rows, output)}\n\nResults: {output.folder}"
        has_answers = any(result.counts.asked or not result.missing for result in outcome.rows)
        write_result(f"{table}\nScore again: {again}" if has_answers else table)
    for name, error in outcome.errors:
        logger.error("%s: %s", name, one_line(error), exc_info=error if arguments.debug else None)
    if outcome.interrupted:
        logger.warning(_GO_ON)
    return outcome.exit_status
