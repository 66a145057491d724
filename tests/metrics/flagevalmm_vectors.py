"""Reading the vectors that were made by running FlagEvalMM; see `tests/data/vectors`."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "data" / "vectors"


def vectors(name):
    """One parameter per line of a file: the line as a dict, its id as the test's."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(vector, id=vector["id"]) for vector in map(json.loads, lines)]
