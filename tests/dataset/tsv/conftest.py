from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def lmu(tmp_path, monkeypatch):
    """`$LMUData`, which is not there yet."""
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    return tmp_path / "lmu"
