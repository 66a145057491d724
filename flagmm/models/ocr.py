"""The embedded model: a text reader that answers without a server, a key or a GPU.

It reads the pictures of a question with PP-OCR, whose weights come inside the package `rapidocr`, and answers by the
rules of `ocr_answer`. It is a baseline that shows a whole run on any machine, not a model to be proud of.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from flagmm.errors import DataError, MissingExtraError, ModelError
from flagmm.media.pixels import flatten, open_lazily
from flagmm.media.reading import blaming, read_source
from flagmm.models.client import BaseClient
from flagmm.models.ocr_answer import TextBox, answer, order_lines
from flagmm.models.prompt_options import offered_options
from flagmm.registry import MODELS
from flagmm.types import CallSettings, ImagePart, MediaSource, Message, ModelOutput, TextPart

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flagmm.config.model import ModelSpec

    Pixels = NDArray[np.uint8]

MAX_THREADS = 2
"""Pictures read at a time; more would only share the same cores and hold more pictures in memory."""
MAX_SIDE = 2000
"""Pixels of the longer side above which a picture is shrunk; smaller ones are read at their own size."""
_PACKAGES = ("onnxruntime", "cv2", "rapidocr")


@MODELS.register_module("ocr")
class OcrClient(BaseClient):
    """Reads the pictures of the last user message and answers from their text."""

    def __init__(self, spec: ModelSpec) -> None:
        threads = max(1, min(spec.num_workers, MAX_THREADS))
        self._reader = Reader()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="ocr")

    async def generate(self, messages: Sequence[Message], settings: CallSettings) -> ModelOutput:
        """Answer from what the pictures say; "" when they say nothing.

        Raises:
            ModelError: a picture cannot be read, or is no file at hand (kind "media").
            MissingExtraError: rapidocr or what it runs on is not installed.
        """
        asked = next((message for message in reversed(messages) if message.role == "user"), None)
        content = asked.content if asked else ()
        loop = asyncio.get_running_loop()
        pages = []
        for part in content:
            if isinstance(part, ImagePart):
                pages.append(await loop.run_in_executor(self._pool, self._reader.read, part.source))
            elif not isinstance(part, TextPart):
                raise ModelError(f"the embedded model reads pictures, not {part.type}", kind="media")
        options = offered_options(messages, settings)
        text = answer(asked.text if asked else "", pages, question_type=settings.question_type, options=options)
        return ModelOutput(text=text, finish_reason="stop")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)


class Reader:
    """PP-OCR, loaded with the first picture and then shared by all threads."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._loading = threading.Lock()
        """Keeps two first pictures from loading the weights twice; reading itself keeps no state."""

    def read(self, source: MediaSource) -> str:
        """The text of one picture, in reading order."""
        with self._loading:
            if self._engine is None:
                self._engine = load_engine()
        pixels = load_pixels(source)
        try:
            found = self._engine(pixels)
        except Exception as error:  # the boundary of one picture; the libraries share no error class
            raise ModelError(f"reading {source.label} failed: {error}", kind="model") from error
        if found.boxes is None:
            return ""
        return order_lines(
            [
                TextBox(text=text, corners=tuple((float(x), float(y)) for x, y in corners))
                for text, corners in zip(found.txts, found.boxes, strict=True)
            ]
        )


def load_engine(packages: Sequence[str] = _PACKAGES) -> Any:
    """Start PP-OCR on the weights inside the rapidocr package, never on the network.

    Args:
        packages: what has to be importable first.

    Raises:
        MissingExtraError: one of `packages` is not there, or rapidocr came without weights.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(package, "ocr", "the embedded model") from error
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    weights = {stage: next(iter(sorted(models.glob(f"*_{stage.lower()}_*.onnx"))), None) for stage in ("Det", "Rec")}
    if None in weights.values():
        raise MissingExtraError("rapidocr>=3.10", "ocr", "the embedded model")
    return rapidocr.RapidOCR(
        params={
            # a path, for without one rapidocr checks its copy and may download another
            **{f"{stage}.model_path": str(path) for stage, path in weights.items()},
            # its warnings say that a picture has no text, which is an answer here
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.max_side_len": MAX_SIDE,
            "Det.limit_type": "max",
            "Det.limit_side_len": 1280,
            # one line at a time, none padded to the width of another: three times as fast, and no less right
            "Rec.rec_batch_num": 1,
            "Rec.rec_img_shape": [3, 48, 64],
            # a second thread inside a picture doubles the CPU time and saves none; pictures are read side by side
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def load_pixels(source: MediaSource) -> Pixels:
    """Decode a picture to blue-green-red rows: upright, on white, at most `MAX_SIDE` pixels long.

    Raises:
        ModelError: there is no file at hand, or it is no picture (kind "media").
    """
    import numpy as np
    from PIL.Image import Resampling

    if source.url is not None:
        raise ModelError(f"the embedded model reads files only, not {source.url}", kind="media")
    try:
        data = read_source(source)
        with blaming(source.label, "is a broken picture"):
            image = open_lazily(data)
            image.draft("RGB", (MAX_SIDE, MAX_SIDE))
            upright = flatten(image)
            upright.thumbnail((MAX_SIDE, MAX_SIDE), Resampling.LANCZOS)
    except DataError as error:
        raise ModelError(str(error), kind="media") from error
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])
