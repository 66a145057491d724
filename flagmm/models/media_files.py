"""The parts of a message as VLMEvalKit's models take them: texts, and paths of files or URLs."""

from __future__ import annotations

import mimetypes
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from flagmm.config.model import ModelSpec
from flagmm.errors import DataError
from flagmm.media.image import EncodedMedia, ImageLimits
from flagmm.media.sniff import HEAD_BYTES, sniff_mime
from flagmm.media.video import sample_frames
from flagmm.models.openai_body import picked_by, refuse_part_of_file, span_of
from flagmm.types import AudioPart, ImagePart, MediaSource, Part, TextPart, VideoPart


class MediaFiles:
    """Writes the media of one question that are no files to some, which are gone when the block is left.

    Args:
        takes_videos: videos go as files unless the model's settings say otherwise, not as frames.
    """

    def __init__(self, spec: ModelSpec, *, takes_videos: bool) -> None:
        self._video_mode = spec.video_mode or ("file" if takes_videos else None)
        self._most_frames = spec.max_num_frames
        self._limits = ImageLimits(max_long_side=spec.max_long_side, min_short_side=spec.min_short_side)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def __enter__(self) -> MediaFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def listed(self, content: Sequence[Part]) -> list[dict[str, Any]]:
        """The parts in order, each `dict(type=…, value=…)`.

        Raises:
            DataError: a medium cannot be read, is a sound, or only a part of a file.
        """
        return [item for part in content for item in self._items(part)]

    def _items(self, part: Part) -> list[dict[str, Any]]:
        if isinstance(part, TextPart):
            return [{"type": "text", "value": part.text}]
        if isinstance(part, AudioPart):
            raise DataError(f"{part.source.label}: a class in VLMEvalKit's shape takes pictures and videos, no sounds")
        if isinstance(part, ImagePart) or (self._video_mode or part.mode) == "file":
            if isinstance(part, VideoPart):
                refuse_part_of_file(part)
            return [{"type": part.type, "value": self._place(part.source)}]
        return [{"type": "image", "value": self._written(frame.data, frame.mime)} for frame in self._frames(part)]

    def _frames(self, part: VideoPart) -> list[EncodedMedia]:
        if part.source.url is not None:
            raise DataError(f"{part.source.label}: frames cannot be taken from a URL; give the model fetch_media true")
        most = self._most_frames
        return sample_frames(part.source, most, self._limits, span=span_of(part), pick=picked_by(part, most))

    def _place(self, source: MediaSource) -> str:
        if source.data is None:
            return source.path or source.url or ""
        return self._written(source.data, sniff_mime(source.data[:HEAD_BYTES]) or "")

    def _written(self, data: bytes, mime: str) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="flagmm-")
        self._count += 1
        path = Path(self._folder.name) / f"{self._count}{mimetypes.guess_extension(mime) or ''}"
        path.write_bytes(data)
        return str(path)
