"""Every file of reference vectors agrees with its references, but for the lines named here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VECTORS = sorted((ROOT / "tests/data/vectors").glob("*.jsonl"))
KNOWN = {
    # A bare "I" of nine labels without option texts: the vectors want no answer here and an answer among ten.
    "general_vmcq": {"general_vmcq-0067", "general_vmcq-0178"},  # 0178: "A, E" where there is no E
    "vlmevalkit_can_infer": {"vlmevalkit_can_infer-0118"},  # "reddish" is not the option "red"
}
"""Lines on which a careful reading stands by another result, by file."""


@pytest.fixture(scope="module")
def check_vectors():
    spec = importlib.util.spec_from_file_location("check_vectors", ROOT / "tools/check_vectors.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.mark.parametrize("path", VECTORS, ids=[path.stem for path in VECTORS])
def test_the_file_agrees_with_its_reference(check_vectors, path):
    scorers = check_vectors.load_scorers()
    agreed, differences = check_vectors.check(path, scorers)
    assert {difference.id for difference in differences} == KNOWN.get(path.stem, set())
    assert agreed


def test_a_wrong_result_is_a_difference(check_vectors, tmp_path):
    path = tmp_path / "anls.jsonl"
    path.write_text('{"id": "x", "input": {"prediction": "cat", "answers": ["cat"]}, "expected": {"score": 0.5}}\n')
    assert [difference.id for difference in check_vectors.check(path, check_vectors.load_scorers())[1]] == ["x"]
