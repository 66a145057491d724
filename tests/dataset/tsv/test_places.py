"""Which table a name or a path means."""

from __future__ import annotations

import pytest

from flagmm.config.env import lmu_data_dir
from flagmm.dataset.tsv import TsvDataset
from flagmm.errors import DataError, OutputError
from tests.dataset.tsv.tables import mcq, write_table


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "custom_mcq"},
        {"name": "x", "dataset": "custom_mcq"},
        {"name": "x", "data_root": "custom_mcq"},
        {"name": "x", "data_root": "custom_mcq.tsv"},
        {"name": "custom_mcq", "data_root": "lmu"},
        {"name": "x", "data_root": "lmu/custom_mcq.tsv"},
        {"name": "x", "data_root": "lmu/custom_mcq"},
    ],
)
def test_a_table_is_found_by_its_name_in_lmudata_by_folder_and_by_path(lmu, settings):
    path = write_table(lmu / "custom_mcq.tsv", mcq())
    assert TsvDataset(**settings).path.resolve() == path


def test_without_the_variable_the_home_folder_has_lmudata_and_it_is_made(tmp_path, monkeypatch):
    monkeypatch.delenv("LMUData")
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write_table(tmp_path / "elsewhere" / "t.tsv", mcq())
    TsvDataset(name="t", data_root=str(path))
    assert lmu_data_dir() == tmp_path / "LMUData"
    assert lmu_data_dir().is_dir()


def test_a_table_that_is_nowhere_is_told_with_the_places_looked_in(lmu, tmp_path):
    with pytest.raises(DataError, match=rf"no table {lmu}/t\.tsv; put it there, or give --data-root TABLE\.tsv"):
        TsvDataset(name="t")
    with pytest.raises(DataError, match=rf"no table n\.tsv nor {lmu}/n\.tsv;"):
        TsvDataset(name="t", data_root="n")
    with pytest.raises(DataError, match=rf"no table {tmp_path}/n\.tsv;"):
        TsvDataset(name="t", data_root=str(tmp_path / "n"))


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text("{}")
    with pytest.raises(DataError, match=r"t\.jsonl: expected a table named \.tsv"):
        TsvDataset(name="t", data_root=str(tmp_path / "t.jsonl"))


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    path = write_table(tmp_path / "t.tsv", mcq())
    monkeypatch.setenv("LMUData", str(path / "below"))
    with pytest.raises(OutputError, match=r"LMUData: .*t\.tsv/below: Not a directory; set LMUData to a folder"):
        TsvDataset(name="t", data_root=str(path))
