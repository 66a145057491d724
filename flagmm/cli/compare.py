"""`flagevalmm compare RUN_A RUN_B`: compare two scored runs on the items that both have."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flagmm.cli.boundary import CommandParser, run_guarded, write_result

IDS_SHOWN = 10

_EXAMPLE = """\
examples:
  flagevalmm compare results/base results/tuned
  flagevalmm compare results/base/mmmu_val results/base/mmmu_val_cot --ids 0 --json flips.json
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of `flagevalmm compare`."""
    parser = CommandParser(
        prog="flagevalmm compare",
        description="Compare two scored runs, task by task, on the items that both have a score for.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("run_a", metavar="RUN_A", type=Path, help="results directory, or the folder of a task in one")
    parser.add_argument("run_b", metavar="RUN_B", type=Path, help="the same for the run that should be better")
    parser.add_argument(
        "--ids",
        type=_count,
        default=IDS_SHOWN,
        metavar="N",
        help=f"show N ids of items that got better, and N that got worse; 0 for all (default: {IDS_SHOWN})",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything, all ids included, to this file")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected 0 or a number of ids, found {text!r}")
    return int(text)


def main(argv: Sequence[str]) -> int:
    """Compare, print; returns the exit status."""
    arguments = build_parser().parse_args(argv)
    return run_guarded(lambda _: _compare(arguments), debug=arguments.debug)


def _compare(arguments: argparse.Namespace) -> int:
    from flagmm.jsonio import write_json
    from flagmm.report.comparison import compare_runs
    from flagmm.report.comparison_table import comparison_values, draw_comparison

    comparison = compare_runs(arguments.run_a.expanduser(), arguments.run_b.expanduser())
    write_result(draw_comparison(comparison, ids=arguments.ids or None))
    if arguments.json is not None:
        write_json(arguments.json.expanduser(), comparison_values(comparison))
    return 0
