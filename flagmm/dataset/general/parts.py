"""Cells of a record -> parts of a message; errors name the column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flagmm.errors import DataError
from flagmm.media.places import MediaPlaces
from flagmm.media.values import check_value, media_part
from flagmm.prompt.media_columns import MEDIA, MediaCell, Piece, collect_media
from flagmm.types import Medium, Part, TextPart, VideoMode

DETAIL = "auto"
"""What is asked of a picture whose record does not say, as EvalScope does."""
MOST_MEDIA = 1000
"""A record that asks for more is a mistake, not a question."""


@dataclass(frozen=True, kw_only=True)
class PartMaker:
    """Makes the media of one table's records; paths are resolved, nothing is opened."""

    places: MediaPlaces
    video_mode: VideoMode

    def of_value(
        self, value: Any, medium: Medium, *, where: str, hint: str | None = None, detail: str | None = None
    ) -> Part:
        """The part of one value.

        Args:
            where: the column, as errors begin.

        Raises:
            DataError: the value is no medium of this kind, or a path outside of what may be read.
        """
        detail = detail or DETAIL if medium == "image" else None
        with located(where):
            return media_part(value, medium, places=self.places, hint=hint, detail=detail, video_mode=self.video_mode)

    def of_cell(self, cell: MediaCell, medium: Medium) -> Part:
        """The part of one cell; raises as `of_value`."""
        return self.of_value(cell.value, medium, where=cell.column, hint=cell.format)

    def of_pieces(self, pieces: Iterable[Piece]) -> tuple[Part, ...]:
        """The parts of a text that was cut at its placeholders; raises as `of_value`."""
        return tuple(
            TextPart(text=piece.value) if piece.type == "text" else self.of_cell(piece.value, piece.type)
            for piece in pieces
        )


def check_unused(record: Mapping[str, Any], pieces: Iterable[Piece]) -> None:
    """Check every filled media column of a record that none of the pieces shows; no file is looked for.

    Raises:
        DataError: a cell holds no medium of its kind.
    """
    used = {piece.value.column for piece in pieces if piece.type != "text"}
    for medium in MEDIA:
        for cell in collect_media(record, medium).values():
            if cell.column not in used:
                with located(cell.column):
                    check_value(cell.value, medium, hint=cell.format)


def check_count(parts: Iterable[Part]) -> None:
    """Refuse a record with a senseless number of media.

    Raises:
        DataError: there are too many.
    """
    count = sum(not isinstance(part, TextPart) for part in parts)
    if count > MOST_MEDIA:
        raise DataError(f"asks for {count} media; at most {MOST_MEDIA} are sent")


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put `where` in front of the message of a `DataError` raised inside."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
