"""The pictures of a row, or its video."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flagmm.dataset.general.parts import located
from flagmm.dataset.tsv.image_cell import ImageCell
from flagmm.dataset.tsv.pictures import PictureFiles
from flagmm.dataset.tsv.places import TablePlaces
from flagmm.dataset.tsv.rows import Record, TsvRow, TsvRows
from flagmm.errors import ConfigError, DataError
from flagmm.formats.lmu import find_image, parse_list_cell
from flagmm.types import MediaSource, VideoMode, VideoPart

_VIDEO_ENDINGS = ("", ".mp4", ".mkv", ".webm", ".avi", ".mov")


@dataclass(frozen=True)
class RowPictures:
    """Finds the pictures of rows."""

    rows: TsvRows
    files: PictureFiles
    places: TablePlaces
    """Where the files are that rows name."""

    def of(self, row: TsvRow) -> list[MediaSource]:
        """The pictures of a row, in order; none where it has neither `image` nor `image_path`.

        Raises:
            DataError: a cell is broken, a file is missing, or a row that is named has no pictures itself.
        """
        if row.image is not None:
            owner = self._owner(row)
            with located("image"):
                return self._decoded(owner)
        with located("image_path"):
            paths = parse_list_cell(row.cells["image_path"]) if "image_path" in row.cells else []
            return [self.places.locate(path) for path in paths]

    def _owner(self, row: TsvRow) -> TsvRow:
        """The row whose pictures are meant: itself, or the one that its short cell names."""
        rows: dict[str, TsvRow] = {row.cells["index"]: row}

        def image_of(index: str) -> str | None:
            if index not in rows:
                rows[index] = self.rows.named(index)
            image = rows[index].image
            return image.head if image is not None else None

        found = find_image(row.cells["index"], image_of)
        return row if found is None else rows[found.owner]

    def _decoded(self, owner: TsvRow) -> list[MediaSource]:
        index, cell = owner.cells.get("index", ""), owner.image
        if cell is None:
            return []
        if not cell.is_list:
            name = _given_names(owner.cells, 1)[0]
            return [self.files.source(cell, stem=index, given_name=name)]
        texts = parse_list_cell(cell.text)
        names = _given_names(owner.cells, len(texts))
        stems = [index] if len(texts) == 1 else [f"{index}_{number}" for number in range(len(texts))]
        return [
            self.files.source(ImageCell.of_text(text), stem=stem, given_name=name)
            for text, stem, name in zip(texts, stems, names, strict=True)
        ]


def _given_names(owner: Record, count: int) -> Sequence[str | None]:
    """The names that `image_path` gives the pictures of `image`, where it gives each one."""
    names = parse_list_cell(owner["image_path"]) if "image_path" in owner else []
    return names if len(names) == count else [None] * count


@dataclass(frozen=True, kw_only=True)
class VideoSettings:
    """How the videos of a table are sent."""

    nframe: int | None = None
    """Frames of each video, evenly spread."""
    fps: float | None = None
    """Frames of each second."""

    @classmethod
    def of(cls, nframe: int | None, fps: float | None) -> VideoSettings:
        """The settings in VLMEvalKit's spelling, where 0 and below (`nframe` 0, `fps` -1) mean "not set".

        Raises:
            ConfigError: both are set, or one is no number.
        """
        for name, value in (("nframe", nframe), ("fps", fps)):
            if value is not None and not math.isfinite(value):
                raise ConfigError(f"dataset: {name} is {value}; give a number above 0, or leave it out to send files")
        if is_set(nframe) and is_set(fps):
            raise ConfigError(f"dataset: nframe is {nframe} and fps {fps}; give one of them")
        return cls(nframe=nframe if is_set(nframe) else None, fps=fps if is_set(fps) else None)

    @property
    def mode(self) -> VideoMode:
        """The file itself is sent where no number of frames is given."""
        return "file" if self.nframe is None and self.fps is None else "frames"

    @property
    def extra(self) -> Mapping[str, float]:
        given = {"nframe": self.nframe, "frame_rate": self.fps}
        return {name: value for name, value in given.items() if value is not None}


def is_set(value: Any) -> bool:
    """Whether a value of `nframe` or `fps` asks for frames; VLMEvalKit's defaults, 0 and -1, ask for none."""
    return value is not None and not (isinstance(value, int | float) and value <= 0)


def video_part(record: Record, places: TablePlaces, settings: VideoSettings) -> VideoPart:
    """The video of a row, by `video_path`, else by the name in `video`, whose ending may be left out.

    Raises:
        DataError: the row names none, or it is not there, or bounds no part of it.
    """
    column = "video_path" if "video_path" in record else "video"
    with located(column):
        if column not in record:
            raise DataError("is empty")
        source = places.locate(record[column], endings=_VIDEO_ENDINGS)
    return VideoPart(source=source, mode=settings.mode, extra={**settings.extra, **_span_of(record)})


def _span_of(record: Record) -> Mapping[str, float]:
    """The part of the video that the columns `video_start` and `video_end` bound, in seconds."""
    span: dict[str, float] = {}
    for name in ("start", "end"):
        column = f"video_{name}"
        if column not in record:
            continue
        try:
            span[name] = float(record[column])
        except ValueError:
            span[name] = math.nan
        if not 0 <= span[name] < math.inf:
            raise DataError(f"{column}: expected seconds, found {record[column]!r:.60}")
    if span.get("end", math.inf) < span.get("start", 0):
        raise DataError(f"video_end {span['end']:g} is before video_start {span['start']:g}")
    return span
