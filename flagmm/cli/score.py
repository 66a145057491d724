"""`flagevalmm score --predictions FILE --data NAME`: score a file of predictions that VLMEvalKit wrote."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flagmm.cli.boundary import CommandParser, run_guarded, write_result

if TYPE_CHECKING:
    from flagmm.paths import RunPaths
    from flagmm.pipeline import Outcome

logger = logging.getLogger(__name__)

_EXAMPLE = """\
examples:
  flagevalmm score --predictions GPT4o_custom_mcq.xlsx --data custom_mcq
  flagevalmm score --predictions my_vqa.tsv --data tables/my_vqa.tsv --output-dir scored --judge judge.json
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of `flagevalmm score`."""
    parser = CommandParser(
        prog="flagevalmm score",
        description="Score a file of predictions (xlsx, TSV or JSON with `index` and `prediction`); asks no model.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--predictions", required=True, metavar="FILE", help="xlsx, TSV or JSON")
    parser.add_argument(
        "--data", required=True, metavar="NAME", help="table in $LMUData, path of a table, or installed task"
    )
    parser.add_argument(
        "--rule", choices=["careful", "reference"], help="reference: read replies as VLMEvalKit does, faults included"
    )
    parser.add_argument("--output-dir", metavar="DIR", help="results directory; default: results/<name of the file>")
    parser.add_argument("--judge", metavar="FILE", help="model file of a judge (docs/judge.md)")
    parser.add_argument("--debug", action="store_true", help="show tracebacks and details")
    return parser


def main(argv: Sequence[str]) -> int:
    """Parse, score, print; returns the exit status."""
    arguments = build_parser().parse_args(argv)
    return run_guarded(lambda secrets: _score(arguments, argv, secrets), debug=arguments.debug)


def _score(arguments: argparse.Namespace, argv: Sequence[str], secrets: list[str]) -> int:
    from flagmm.plugin import kept_streams

    with kept_streams():
        outcome, output = _evaluate(arguments, argv, secrets)
    return _report(outcome, output, debug=arguments.debug)


def _evaluate(arguments: argparse.Namespace, argv: Sequence[str], secrets: list[str]) -> tuple[Outcome, RunPaths]:
    from pathlib import Path

    from flagmm.assembly import check_tasks, find_judges
    from flagmm.config.env import load_dotenv_file
    from flagmm.config.locate import read_model_file
    from flagmm.config.secrets import secrets_in
    from flagmm.manifest import Manifest
    from flagmm.paths import RunPaths, default_output_dir
    from flagmm.pipeline import Options, run
    from flagmm.report.vlmevalkit_files import VlmevalkitScores
    from flagmm.run.saved_predictions import take_predictions
    from flagmm.run.vlmeval.plan import make_task

    load_dotenv_file()
    predictions = Path(arguments.predictions).expanduser()
    task = make_task(arguments.data, {"rule": arguments.rule} if arguments.rule else {}, source="--data")
    judge = read_model_file(arguments.judge) if arguments.judge else None
    secrets += [*task.secrets(), *secrets_in(judge)]
    check_tasks([task])
    for spec in find_judges([task], given=judge):
        secrets += spec.secrets()
    output = RunPaths(
        Path(arguments.output_dir).expanduser() if arguments.output_dir else default_output_dir(predictions.stem)
    )
    take_predictions(predictions, task, output.task(task.name))
    with Manifest(output.manifest, argv=["score", *argv], spec=None, tasks=[task.name], secrets=secrets):
        options = Options(judge=judge, secrets=secrets, export=VlmevalkitScores(output.folder / predictions.stem))
        return run([task], None, output, options), output


def _report(outcome: Outcome, output: RunPaths, *, debug: bool) -> int:
    from flagmm.cli.logs import one_line
    from flagmm.report.general_table import draw_report
    from flagmm.report.vlmeval_table import draw_scores

    if outcome.rows:
        texts = [table for result in outcome.results if (table := draw_scores(result))]
        write_result("\n\n".join([*texts, draw_report(outcome.rows, output), f"Results: {output.folder}"]))
    for name, error in outcome.errors:
        logger.error("%s: %s", name, one_line(error), exc_info=error if debug else None)
    return outcome.exit_status
