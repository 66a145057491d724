#!/usr/bin/env python3
"""Run files of reference vectors through flagmm's public scoring functions.

    python tools/check_vectors.py FILE…

A file's stem names the scorer (`anls.jsonl`); `stem@variant` names a scorer on request (`general_vmcq@evalscope`). Each
line has `id`, `input` and `expected`; a line marked `suspect` has `sensible`, what a careful reader says. Prints the
ids that differ, and `N agree, M differ` per file; exits with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import vector_scorers

Scorer = Callable[[Mapping[str, Any]], Any]

TOLERANCE = 1e-6
# Reading an answer is careful unless asked otherwise; everything else follows its reference, odd as it may be.
CAREFUL = {
    "bug_cases", "general_vmcq", "vlmevalkit_can_infer", "yes_no_extraction", "flagevalmm_multiple_response",
    "flagevalmm_judgement", "flagevalmm_open", "flagevalmm_open_aggregate", "flagevalmm_fill_blank",
}  # fmt: skip
# Rules of functions that lack what a careful reading needs: lines with a plain fault are not compared.
UNSUSPECTED_ONLY = {
    "flagevalmm_normalize_string", "flagevalmm_extract_answer", "flagevalmm_extract_numbers", "flagevalmm_reject",
    "flagevalmm_base_process", "flagevalmm_mmmu", "flagevalmm_multiple_choice",
}  # fmt: skip
# Scorers that need more of a line than its input.
WHOLE_LINES = {"bug_cases"}


class Difference(NamedTuple):
    id: str
    expected: Any
    actual: Any


def load_scorers() -> dict[str, Scorer]:
    """Every scorer by stem."""
    scorers: dict[str, Scorer] = {}
    for module in pkgutil.iter_modules(vector_scorers.__path__):
        scorers |= importlib.import_module(f"vector_scorers.{module.name}").SCORERS
    return scorers


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def wanted(line: Mapping[str, Any], stem: str) -> Any:
    """What the scorer should give: `expected`, with the fields that `sensible` corrects where reading is careful."""
    expected = line["expected"]
    if stem not in CAREFUL or not line.get("suspect") or "sensible" not in line:
        return expected
    sensible = line["sensible"]
    if isinstance(expected, Mapping) and isinstance(sensible, Mapping):
        return {**expected, **sensible}
    return sensible


def is_compared(line: Mapping[str, Any], stem: str) -> bool:
    return not (line.get("suspect") and stem in UNSUSPECTED_ONLY)


def agree(actual: Any, expected: Any) -> bool:
    """Whether two values are the same: numbers within 1e-6, null and NaN alike, an expected error met by no answer."""
    if isinstance(expected, Mapping) and set(expected) == {"error"}:
        return actual is None or (isinstance(actual, Mapping) and set(actual) == {"error"}) or _is_defined(actual)
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(agree(actual.get(key), item) for key, item in expected.items())
    if isinstance(expected, list):
        if not isinstance(actual, list | tuple) or len(actual) != len(expected):
            return False
        return all(agree(one, other) for one, other in zip(_by_split(actual), _by_split(expected), strict=True))
    if _is_number(expected) and _is_number(actual):
        return abs(actual - expected) <= TOLERANCE or (math.isnan(actual) and math.isnan(expected))
    if expected is None:
        return actual is None or (_is_number(actual) and math.isnan(actual))
    return type(actual) is type(expected) and bool(actual == expected)


def _by_split(items: Sequence[Any]) -> Sequence[Any]:
    """The lines of a table by their name: VLMEvalKit takes the names out of a set, so that theirs is no order."""
    if all(isinstance(item, Mapping) and "split" in item for item in items):
        return sorted(items, key=lambda item: str(item["split"]))
    return items


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_defined(value: Any) -> bool:
    """Where the reference crashes ours must give a defined value, whichever."""
    return not (_is_number(value) and not math.isfinite(value))


def check(path: Path, scorers: Mapping[str, Scorer]) -> tuple[int, list[Difference]]:
    """How many lines agree, and those that differ."""
    stem = path.stem
    scorer = scorers[stem]
    agreed, differences = 0, []
    for line in read_lines(path):
        if not is_compared(line, stem):
            continue
        actual, expected = scorer(line if stem in WHOLE_LINES else line["input"]), wanted(line, stem)
        if agree(actual, expected):
            agreed += 1
        else:
            differences.append(Difference(str(line["id"]), expected, actual))
    return agreed, differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--verbose", action="store_true", help="show what was expected and what came")
    arguments = parser.parse_args()
    scorers = load_scorers()
    failed = False
    for path in arguments.files:
        if path.stem not in scorers:
            print(f"{path}: no scorer for {path.stem!r}; known: {', '.join(sorted(scorers))}", file=sys.stderr)
            return 2
        agreed, differences = check(path, scorers)
        for difference in differences:
            detail = f": expected {difference.expected!r}, got {difference.actual!r}" if arguments.verbose else ""
            print(f"{difference.id}{detail}")
        print(f"{path.name}: {agreed} agree, {len(differences)} differ")
        failed = failed or bool(differences)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
