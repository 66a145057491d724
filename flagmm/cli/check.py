"""`flagevalmm check TASK…`: check task files without a model: data, prompts, media, and scores of gold answers."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flagmm.cli.boundary import CommandParser, run_guarded, write_result
from flagmm.printable import printable

if TYPE_CHECKING:
    from flagmm.checking import CheckReport
    from flagmm.config.task import TaskSpec

logger = logging.getLogger(__name__)

_EXAMPLE = """\
examples:
  flagevalmm check demo/ocr
  flagevalmm check tasks/my_task/my_task.py --data-root my_folder
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of `flagevalmm check`."""
    parser = CommandParser(
        prog="flagevalmm check",
        description="Load each task's data, build its prompts, open its media, and score its own reference answers.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="task files, folders, globs, or installed names")
    parser.add_argument("--tasks", nargs="+", dest="more", default=[], metavar="TASK", help="the same, as of a run")
    parser.add_argument("--data-root", metavar="DIR", help="folder of annotations and media, instead of the tasks' own")
    parser.add_argument(
        "--allow-media-root", action="append", metavar="DIR", help="a further folder that data may name media in"
    )
    parser.add_argument("--reprocess", action="store_true", help="run the tasks' process.py again")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def main(argv: Sequence[str]) -> int:
    """Check, print; returns 0 where nothing is wrong, else 1."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    arguments.tasks += arguments.more
    if not arguments.tasks:
        parser.error("name at least one task")
    return run_guarded(lambda _: _check(arguments), debug=arguments.debug)


def _check(arguments: argparse.Namespace) -> int:
    from flagmm.checking import check_task
    from flagmm.cli.logs import one_line
    from flagmm.errors import FlagMMError
    from flagmm.plugin import kept_streams

    with kept_streams():
        tasks = _load_tasks(arguments)
    status = 0
    for task in tasks:
        try:
            with kept_streams():
                report = check_task(
                    task,
                    data_root=arguments.data_root,
                    settings=_settings(arguments),
                    reprocess=arguments.reprocess,
                )
        except FlagMMError as error:
            logger.error("%s: %s", task.name, one_line(error), exc_info=arguments.debug)
            status = max(status, error.exit_status)
            continue
        write_result(draw(report))
        status = max(status, int(bool(report.problems)))
    return status


def _load_tasks(arguments: argparse.Namespace) -> list[TaskSpec]:
    from flagmm.assembly import check_tasks
    from flagmm.config.env import load_dotenv_file
    from flagmm.config.locate import find_tasks
    from flagmm.config.task import load_task

    load_dotenv_file()
    tasks = [load_task(path) for path in find_tasks(arguments.tasks)]
    check_tasks(tasks, data_root=arguments.data_root, settings=_settings(arguments))
    return tasks


def _settings(arguments: argparse.Namespace) -> dict[str, list[str]]:
    return {"allow_media_roots": arguments.allow_media_root} if arguments.allow_media_root else {}


def draw(report: CheckReport) -> str:
    """The report as text: prompts, then what is wrong, then one line that sums up."""
    lines, name = [], printable(report.task)
    for number, prompt in enumerate(report.prompts, start=1):
        lines += [f"--- prompt {number} of {name} ---", prompt]
    lines += [f"{name}: WRONG: {printable(problem)}" for problem in report.problems]
    verdict = f"{len(report.problems)} wrong" if report.problems else "sound"
    lines.append(f"{name}: {verdict}; {report.questions} questions, {report.media} media, gold answers: {report.gold}")
    return "\n".join(lines)
