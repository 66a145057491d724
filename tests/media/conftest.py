"""Feeds the recorded fault reports to the tests that ask for them by `@pytest.mark.bug_cases(area)`."""

import json
from pathlib import Path

CASES = Path(__file__).parents[1] / "data" / "vectors" / "bug_cases.jsonl"


def pytest_generate_tests(metafunc):
    marker = metafunc.definition.get_closest_marker("bug_cases")
    if marker is None:
        return
    lines = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    chosen = [line for line in lines if line["area"] == marker.args[0]]
    assert chosen, f"no case of area {marker.args[0]}"
    metafunc.parametrize(
        ("given", "expected"),
        [(case["input"], case["expected"]) for case in chosen],
        ids=[case["id"] for case in chosen],
    )
