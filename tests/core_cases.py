"""Reading `data/vectors/bug_cases.jsonl`: small inputs behind fault reports, with what a careful evaluator does."""

import json
from pathlib import Path

import pytest

_FILE = Path(__file__).parent / "data" / "vectors" / "bug_cases.jsonl"


def core_cases(area):
    """One parameter pair (given, expected) per line of that area, the line's id as the test's."""
    lines = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
    chosen = [line for line in lines if line["area"] == area]
    assert chosen, f"no case of area {area}"
    return [pytest.param(line["input"], line["expected"], id=line["id"]) for line in chosen]
