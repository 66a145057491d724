"""Measure a table of base64 pictures that is larger than memory: its start, its memory, and a second run.

    python tools/bench_tsv.py                    # a table of 1 GB, a minute
    python tools/bench_tsv.py --gigabytes 5      # what the targets are for; needs twice that on disk

Before each run the table is dropped from the system's file cache, where that is possible. Where VLMEvalKit can be
imported (PyPI: ms-vlmeval), the pictures of one table are also decoded to files both ways, in turn. The table goes to
stdout, progress to stderr. The exit status is 0 when every target is met, 1 when not.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import itertools
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.make_data import BASES, numbered, photo
from bench.measure import CommandError, measure
from bench.scenarios import Row
from bench.workbench import MockServer, check_answers, command_env
from bench_client import cells, data_folder, tell_of_load
from tabulate import tabulate

from flagmm.formats.lmu import LONGEST_REFERENCE

logger = logging.getLogger(__name__)

DISTINCT = 200
"""Pictures that differ; the rows of a table take them in turn."""
HEADER = "index\timage\tquestion\tA\tB\tC\tD\tanswer\n"
QUESTION = "Which of these is the largest thing in picture number {}?\ta red ring\ta blue star\ta cross\tan arrow\tA\n"
NAMES_ANOTHER = 10
"""Each tenth row has no picture of its own, but the index of the row before it."""
DECODED, DECODED_ROWS = "decoded", 40
"""Name and rows of the table that is decoded both ways."""


def main() -> int:
    args = parse_arguments()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    load_before = os.getloadavg()[0]
    with data_folder(args.data_dir) as place:
        folder = place.resolve()
        try:
            rows = []
            for row in itertools.chain(run_rows(folder, args.gigabytes), decoding_rows(folder, args.repeat)):
                logger.info("  %s: %.2f %s", row.scenario, row.ours, row.unit)
                rows.append(row)
        except CommandError as error:
            logger.error("%s", error)
            return 1
    headers = ["what", "ours", "VLMEvalKit", "ratio", "target", "ok"]
    print(tabulate(map(cells, rows), headers=headers, tablefmt="github", disable_numparse=True))
    tell_of_load(load_before)
    return int(any(row.ok is False for row in rows))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1, metavar="N", help="size of the table (default: 1)")
    parser.add_argument("--repeat", type=int, default=3, metavar="K", help="decode so many times (default: 3)")
    parser.add_argument("--data-dir", type=Path, help="keep the table and runs here (default: a temporary folder)")
    return parser.parse_args()


def write_table(path: Path, *, size: float, most: int | None = None) -> int:
    """Write a table of so many bytes or rows, whichever is reached first; returns the number of rows."""
    bases = [photo(seed) for seed in range(BASES)]
    pictures = [base64.b64encode(numbered(bases[n % BASES], n)).decode() for n in range(DISTINCT)]
    written = 0
    with open(path, "w", encoding="ascii") as file:
        written += file.write(HEADER)
        for number in itertools.count(1):
            image = str(number - 1) if number % NAMES_ANOTHER == 0 else pictures[number % DISTINCT]
            written += file.write(f"{number}\t{image}\t{QUESTION.format(number)}")
            if written >= size or number == most:
                return number
    raise AssertionError  # numbers do not end


def run_rows(folder: Path, gigabytes: float) -> Iterator[Row]:
    """The real command on the table: all of it asked, and once more when all answers are there."""
    table = folder / f"pictures_{gigabytes:g}.tsv"
    logger.info("making a table of %g GB", gigabytes)
    count = write_table(table, size=gigabytes * 1e9)
    env = {**command_env(folder), "LMUData": str(folder / "lmu")}
    out = folder / "run"
    for left_over in (out, folder / "lmu"):
        shutil.rmtree(left_over, ignore_errors=True)
    with MockServer() as server:
        command = [sys.executable, "-m", "flagmm", "--tasks", "tsv", "--data-root", str(table), "--model", "mock"]
        command += ["--url", server.url, "--api-key", "none", "--output-dir", str(out), "--quiet"]
        drop_from_cache(table)
        started = time.time()
        first = measure(command, log=folder / "log.txt", env=env)
        drop_from_cache(table)
        second = measure(command, log=folder / "log.txt", env=env)
    check_answers(server, count)
    what = f"{gigabytes:g} GB, {count:,} rows"
    yield Row(scenario=f"{what}: first request", ours=server.counts["first_request_at"] - started, unit="s", limit=60)
    yield Row(scenario=f"{what}: peak memory", ours=max(first.rss, second.rss) / 1e6, unit="MB", limit=500)
    yield Row(scenario=f"{what}: all asked", ours=first.wall, unit="s")
    yield Row(scenario=f"{what}: all asked, CPU", ours=first.cpu, unit="s")
    yield Row(scenario=f"{what}: second run", ours=second.wall, unit="s", limit=10)
    yield Row(scenario=f"{what}: second run, CPU", ours=second.cpu, unit="s")


def drop_from_cache(path: Path) -> None:
    """Make the next reading of a file come from the disk, where the system can be asked to."""
    if not hasattr(os, "posix_fadvise"):
        logger.info("the file cache cannot be emptied here: times are those of a file just read")
        return
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def decoding_rows(folder: Path, repeat: int) -> Iterator[Row]:
    """The same pictures to files: by each side's own code from cell to file, and from the table to prompts."""
    if importlib.util.find_spec("vlmeval") is None:
        logger.info("VLMEvalKit is not installed here; decoding is not compared")
        return
    import pandas as pd

    lmu = folder / "lmu_both"
    lmu.mkdir(exist_ok=True)
    os.environ["LMUData"] = str(lmu)  # noqa: SIM112  # VLMEvalKit's spelling
    table = lmu / f"{DECODED}.tsv"
    write_table(table, size=float("inf"), most=DECODED_ROWS)
    lines = [line for _, line in pd.read_csv(table, sep="\t").iterrows() if len(line["image"]) > LONGEST_REFERENCE]
    out = lmu / "images" / DECODED
    sides: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
        "cells to files": (lambda: our_cells(lines, table, out), lambda: their_cells(lines, out)),
        "table to prompts": (our_table, their_table),
    }
    for name, (ours, theirs) in sides.items():
        rounds = [(cpu_of(ours, out), cpu_of(theirs, out)) for _ in range(repeat)]
        our_best, their_best = (min(times) for times in zip(*rounds, strict=True))
        ratios = ", ".join(f"{other / own:.1f}" for own, other in rounds)
        logger.info("%s, CPU: VLMEvalKit takes %s times as long", name, ratios)
        yield Row(scenario=f"{name}, CPU", ours=our_best, unit="s", reference=their_best, max_ratio=1)


def cpu_of(work: Callable[[], None], out: Path) -> float:
    """Seconds of CPU that `work` takes when no picture is decoded yet."""
    shutil.rmtree(out, ignore_errors=True)
    started = time.process_time()
    work()
    return time.process_time() - started


def our_cells(lines: list[Any], table: Path, out: Path) -> None:
    from flagmm.dataset.tsv.image_cell import ImageCell
    from flagmm.dataset.tsv.pictures import PictureFiles

    files = PictureFiles(out, table)
    for line in lines:
        files.source(ImageCell.of_text(line["image"]), stem=str(line["index"]))


def their_cells(lines: list[Any], out: Path) -> None:
    from vlmeval.dataset.image_base import ImageBaseDataset

    for line in lines:
        ImageBaseDataset.dump_image(SimpleNamespace(img_root=str(out)), line)


def our_table() -> None:
    from flagmm.dataset.tsv import TsvDataset

    dataset = TsvDataset(name=DECODED)
    for number in range(len(dataset)):
        dataset.build_sample(number)


def their_table() -> None:
    from vlmeval.dataset.image_mcq import CustomMCQDataset

    dataset = CustomMCQDataset(DECODED)
    for number in range(len(dataset)):
        dataset.build_prompt(number)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
