"""ImageBaseDataset: a table in memory, whose rows become messages."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flagmm.config.env import lmu_data_dir
from flagmm.dataset.tsv.image_cell import ImageCell
from flagmm.dataset.tsv.media import RowPictures
from flagmm.dataset.tsv.pictures import PictureFiles
from flagmm.dataset.tsv.places import TablePlaces, pictures_folder
from flagmm.dataset.tsv.rows import TsvRow
from flagmm.errors import DataError
from flagmm.types import MediaSource
from flagmm.vlmeval.smp import load

if TYPE_CHECKING:
    import pandas as pd

MessageList = list[dict[str, Any]]


class ImageBaseDataset:
    """A table called `<dataset>.tsv` in `$LMUData`, with the methods that scripts override.

    Attributes:
        dataset_name: the table's name.
        data: the table, as `load_data` gave it; `index` whole numbers where all are.
        img_root: folder of the pictures.
        allow_media_roots: folders that the table's relative paths may lead into by `..` or a link.
    """

    MODALITY = "IMAGE"
    TYPE = "VQA"
    allow_media_roots: Sequence[str] = ()

    def __init__(self, dataset: str, skip_noimg: bool = True) -> None:
        self.dataset_name = dataset
        self._table = lmu_data_dir() / f"{dataset}.tsv"
        self.img_root = str(pictures_folder(self._table))
        data = self.load_data(dataset)
        for name in ("index", "question"):
            if name not in data:
                raise DataError(f"{dataset}: load_data gave a table without the column {name!r}")
        if skip_noimg and "image" in data:
            data = data[data["image"].notna()].reset_index(drop=True)
        if data["index"].duplicated().any():
            twice = data["index"][data["index"].duplicated()].iloc[0]
            raise DataError(f"{dataset}: two rows with the index {str(twice)!r}")
        self.data: pd.DataFrame = data
        self.meta_only = "image" not in data
        self._pictures: RowPictures | None = None

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        return dict(self.data.iloc[idx])

    def load_data(self, dataset: str) -> pd.DataFrame:
        """The table of a data set."""
        data: pd.DataFrame = load(lmu_data_dir() / f"{dataset}.tsv")
        return data

    def dump_image(self, line: Any) -> list[str]:
        """The row's pictures: paths of files, decoded if they are not yet, or URLs.

        Raises:
            DataError: one is broken or missing.
        """
        if self._pictures is None:
            folder = Path(self.img_root)
            folder.mkdir(parents=True, exist_ok=True)
            table = self._table if self._table.is_file() else folder
            files = PictureFiles(folder, table)
            rows: Any = _FrameRows(self.data)  # `named` is all that pictures need of a table
            self._pictures = RowPictures(rows, files, TablePlaces(self._table, folder, allowed=self.allow_media_roots))
        return [_value(source) for source in self._pictures.of(_table_row(line))]

    def build_prompt(self, line: Any) -> MessageList:
        """The row's message: its pictures, then its question.

        Args:
            line: a row of `data`, or its number.
        """
        line = self.data.iloc[line] if isinstance(line, int) else line
        messages: MessageList = [{"type": "image", "value": path} for path in self.dump_image(line)]
        return [*messages, {"type": "text", "value": str(line["question"])}]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> Any:
        """Score a file of predictions; for scripts to write."""
        raise DataError(f"{type(self).__name__}: evaluate is not written; patch it, or leave scoring to flagmm")


class _FrameRows:
    """The rows of a DataFrame by their index."""

    def __init__(self, data: pd.DataFrame) -> None:
        self._data = data
        self._numbers: dict[str, int] | None = None

    def named(self, index: str) -> TsvRow:
        """The row with this index; `KeyError` where there is none."""
        if self._numbers is None:
            self._numbers = {str(each): number for number, each in enumerate(self._data["index"])}
        return _table_row(self._data.iloc[self._numbers[index]])


def _table_row(line: Any) -> TsvRow:
    cells = filled_cells(line)
    image = cells.pop("image", None)
    return TsvRow(cells, None if image is None else ImageCell.of_text(image))


def filled_cells(line: Any) -> dict[str, str]:
    """The filled cells as texts; lists as Python writes them."""
    items: Mapping[str, Any] = dict(line)
    return {str(name): str(value) for name, value in items.items() if not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or value == ""


def _value(source: MediaSource) -> str:
    if source.path is not None:
        return source.path
    return source.url or "data:image/png;base64," + base64.b64encode(source.data or b"").decode()
