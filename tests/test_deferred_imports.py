"""Modules that are loaded when first used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flagmm.deferred_imports import deferred


@pytest.fixture
def slow_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "slow_one.py").write_text("class Thing:\n    size = 3\n\n\ndef double(n):\n    return 2 * n\n")
    user = "import slow_one\nfrom slow_one import Thing, double\n\n\ndef make(thing: Thing) -> slow_one.Thing:\n"
    (tmp_path / "its_user.py").write_text(user + "    return double(slow_one.Thing.size)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("slow_one", "its_user"):
        sys.modules.pop(name, None)


def test_a_module_is_loaded_when_what_it_brings_is_used(slow_module: Path) -> None:
    with deferred("slow_one"):
        import its_user

    assert "slow_one" not in sys.modules
    assert its_user.make(its_user.Thing()) == 6
    assert "slow_one" in sys.modules


def test_outside_the_block_the_real_module_comes(slow_module: Path) -> None:
    with deferred("slow_one"):
        import its_user  # noqa: F401
    import slow_one

    assert slow_one.Thing.size == 3
    assert type(slow_one).__name__ == "module"


def test_a_module_that_is_there_stays(slow_module: Path) -> None:
    import slow_one

    with deferred("slow_one"):
        import its_user

    assert its_user.slow_one is slow_one


def test_an_unknown_attribute_is_an_attribute_error(slow_module: Path) -> None:
    with deferred("slow_one"):
        import its_user

    with pytest.raises(AttributeError, match="nothing"):
        _ = its_user.slow_one.nothing


def test_mmengine_brings_no_numpy_but_its_pretty_printing_and_logs_work() -> None:
    program = """
import sys
from flagmm.light_mmengine import Config
assert not {"numpy", "rich", "yapf"} & set(sys.modules), "loaded too early"
assert "a = 1" in Config({"a": 1}).pretty_text
from mmengine.logging import HistoryBuffer
from mmengine.registry import Registry
from mmengine.utils import track_progress_rich
assert HistoryBuffer([1.0, 3.0], [1, 1]).mean() == 2.0
assert "thing" in repr(Registry("thing"))
import numpy
assert numpy.arange(3).sum() == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
