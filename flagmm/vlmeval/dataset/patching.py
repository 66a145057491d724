"""Which of the classes were patched by a script, and which class a table is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagmm.formats.table import open_table

_METHODS = ("load_data", "build_prompt", "dump_image", "evaluate")
_MCQ, _TEXT_MCQ, _VQA = "CustomMCQDataset", "CustomTextMCQDataset", "CustomVQADataset"


class DatasetClasses:
    """Classes by name, as they were when they were defined."""

    def __init__(self, *classes: type[Any]) -> None:
        self._classes = {each.__name__: each for each in classes}
        self._original = {name: _methods(each) for name, each in self._classes.items()}

    def __getitem__(self, name: str) -> type[Any]:
        return self._classes[name]

    def patched(self) -> frozenset[str]:
        """The names of the classes of which a method is another than it was."""
        return frozenset(name for name, each in self._classes.items() if _methods(each) != self._original[name])

    def patched_class(self, kind: str | None, table: Path) -> str | None:
        """The patched class that a table is of, if any.

        Args:
            kind: its class where that was said; else its columns tell, if it is there.
        """
        patched = self.patched()
        if not patched:
            return None
        name = kind or (_class_of(table) if table.is_file() else _VQA)
        return name if name in patched else None


def _methods(kind: type[Any]) -> dict[str, Any]:
    return {name: getattr(kind, name, None) for name in _METHODS}


def _class_of(table: Path) -> str:
    """The class that VLMEvalKit takes an unknown table for."""
    columns = set(open_table(table).columns)
    if not {"A", "B"} <= columns:
        return _VQA
    return _MCQ if columns & {"image", "image_path"} else _TEXT_MCQ
