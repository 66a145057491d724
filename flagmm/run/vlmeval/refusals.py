"""What VLMEvalKit can ask and flagmm cannot, told instead of asked in another form."""

from __future__ import annotations

import ast
from pathlib import Path

from flagmm.errors import ConfigError, DataError
from flagmm.formats.delimited_table import DelimitedTable

_CONVERSATIONS = frozenset({"ImageMTDataset", "MMDUDataset"})
_QUESTION = "question"
_PACK = "_pack"


def refuse_pack(pack: object, *, name: str, where: str) -> None:
    """Refuse to ask several questions about a video in one request.

    Raises:
        ConfigError: that is what `pack` asks for.
    """
    if not pack:
        return
    other = f"{name.removesuffix(_PACK)}_nopack" if name.endswith(_PACK) else "pack false"
    raise ConfigError(
        f"{where}: pack, several questions in one request, is not supported, and scores differ by it; "
        f"{other} asks one at a time"
    )


def refuse_conversations(kind: str | None, table: Path, *, where: str) -> None:
    """Refuse a table whose rows are conversations, which are answered turn by turn.

    Args:
        kind: the class that was said, if any.
        table: need not be there.

    Raises:
        ConfigError: the class is one of conversations, or the first question is a list of turns.
    """
    if kind in _CONVERSATIONS or _has_turns(table):
        raise ConfigError(
            f"{where}: a table of conversations (several turns in one row), which are not supported; "
            "each would be asked as one text that holds a Python list"
        )


def _has_turns(table: Path) -> bool:
    cell = _first_question(table) if table.is_file() else ""
    if not cell.lstrip().startswith("["):
        return False
    try:
        turns = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(turns, list) and len(turns) > 1 and all(isinstance(turn, str) for turn in turns)


def _first_question(path: Path) -> str:
    """The first row's question; "" where there is none, which is told when the table is asked."""
    try:
        table = DelimitedTable(path, b"\t", lazy=True)
    except DataError:
        return ""
    name = next((name for name in table.columns if name.lower() == _QUESTION), None)
    return "" if name is None else next(table.cells(name), None) or ""
