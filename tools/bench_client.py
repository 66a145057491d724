"""Measure our command against the least that any client must do, and print the ratios.

    python tools/bench_client.py                      # everything, about half an hour
    python tools/bench_client.py images text --quick  # two scenarios, a tenth of the size

The table goes to stdout, progress to stderr. The exit status is 0 when every target is met, 1 when not.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measure import CommandError
from bench.scenarios import SCENARIOS, Row
from bench.workbench import Workbench
from tabulate import tabulate

logger = logging.getLogger(__name__)

BUSY = 0.5  # load average from which on other work disturbs the figures


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse_arguments(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    load_before = os.getloadavg()[0]
    with data_folder(args.data_dir) as folder:
        bench = Workbench(folder, repetitions=args.repeat, quick=args.quick)
        rows, failed = run_scenarios(bench, args.scenarios)
    headers = ["scenario", "ours", "reference", "ratio", "target", "ok"]
    print(tabulate(map(cells, rows), headers=headers, tablefmt="github", disable_numparse=True))
    if failed:
        print(f"\nFailed, see above: {', '.join(failed)}")
    tell_of_load(load_before)
    if args.quick:
        print("\nQuick: start-up weighs more than in the runs that the targets are for.")
    return 1 if failed or any(row.ok is False for row in rows) else 0


def tell_of_load(before: float) -> None:
    if before > BUSY:
        print(f"\nThe machine was busy (load {before:.1f} before the start): wall times say little.")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure our command against an ideal client.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--repeat", type=int, default=2, metavar="K", help="best of so many runs (default: 2)")
    parser.add_argument("--data-dir", type=Path, help="keep data and runs here (default: a temporary folder)")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.scenarios if name not in SCENARIOS]
    if unknown or args.repeat < 1:
        parser.error(f"unknown scenario {unknown[0]!r}" if unknown else "--repeat must be at least 1")
    args.scenarios = args.scenarios or list(SCENARIOS)
    return args


@contextlib.contextmanager
def data_folder(wanted: Path | None) -> Iterator[Path]:
    """Give the wanted folder, or a temporary one that is removed at the end."""
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix="bench_client_") as folder:
        yield Path(folder)


def run_scenarios(bench: Workbench, names: Sequence[str]) -> tuple[list[Row], list[str]]:
    """Return the rows of the scenarios that ran, and the names of those that failed."""
    rows: list[Row] = []
    failed: list[str] = []
    for name in names:
        logger.info("%s", name)
        try:
            rows += SCENARIOS[name](bench)
        except CommandError as error:
            logger.error("%s failed: %s", name, error)
            failed.append(name)
    return rows, failed


def cells(row: Row) -> list[str]:
    """Return a row as the table shows it."""
    targets = [f"<= {row.limit:g} {row.unit}"] if row.limit is not None else []
    targets += [f"ratio <= {row.max_ratio:g}"] if row.max_ratio is not None else []
    return [
        row.scenario,
        f"{row.ours:.2f} {row.unit}",
        "" if row.reference is None else f"{row.reference:.2f} {row.unit}",
        "" if row.ratio is None else f"{row.ratio:.2f}",
        ", ".join(targets),
        {True: "yes", False: "NO", None: ""}[row.ok],
    ]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
