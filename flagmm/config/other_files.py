"""What a file is that is given as a task and is none, and where such a file goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flagmm.errors import ConfigError
from flagmm.formats.table import SUFFIXES
from flagmm.jsonio import read_json

TASK_FILE = "a task file is a .py file that defines dataset=dict(type=…, name=…)"
_SETTINGS = "settings of an evaluation go to flagevalmm eval --config"
_OF_SHEETS = (".xlsx", ".xls")
_OF_SETTINGS = (".yaml", ".yml")


def refuse_other_files(path: Path) -> None:
    """Refuse what cannot be a task file by its name, or, of JSON, by what is in it.

    Raises:
        ConfigError: it says what to do with the file.
        DataError: no JSON is in a file of JSON.
    """
    if path.suffix in SUFFIXES:
        raise ConfigError(f"{path}: a table of questions, and no task file; {where_tables_go(path)}")
    if path.suffix in _OF_SHEETS:
        raise ConfigError(f"{path}: a sheet, and no task file; predictions go to flagevalmm score --predictions")
    if path.suffix in _OF_SETTINGS:
        raise ConfigError(f"{path}: no task file; {_SETTINGS}")
    if path.suffix == ".json":
        _refuse_json(path)
    elif path.suffix != ".py":
        raise ConfigError(f"{path}: no task file; {TASK_FILE}")


def where_tables_go(path: Path) -> str:
    """What to do with a table, or a folder of tables."""
    tsv = "; tsv for a table of VLMEvalKit's" if path.is_dir() or path.suffix == ".tsv" else ""
    return (
        f"give tables as the data of an installed task: --tasks general_vqa (or general_vmcq{tsv}) --data-root {path}"
    )


def _refuse_json(path: Path) -> None:
    values = read_json(path)
    if isinstance(values, Mapping) and "dataset" in values:
        return
    if isinstance(values, list):
        raise ConfigError(
            f"{path}: a list, and no task file; questions are named by one, as dataset=dict(type='VqaBaseDataset', "
            "name=…, data_root=…, anno_file=…)"
        )
    raise ConfigError(f"{path}: no task file; a model file goes to --cfg, {_SETTINGS}")
