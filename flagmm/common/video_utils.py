"""Frames of a video as arrays, by the names under which code made for FlagEvalMM imports them."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from flagmm.errors import DataError
from flagmm.media.video import sample_frame_indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


def read_video_pyav(video_path: str | os.PathLike[str], max_num_frames: int, return_tensors: bool = False) -> Any:
    """At most `max_num_frames` frames, evenly spread, as an array of shape (frames, height, width, 3) of bytes.

    Args:
        return_tensors: give a float tensor of shape (frames, 3, height, width) instead, which takes torch.

    Raises:
        DataError: no frame can be read.
    """
    import av
    import numpy as np

    with av.open(os.fspath(video_path)) as container:
        total = sum(1 for _ in container.decode(video=0))
    if not total:
        raise DataError(f"{video_path}: no frame in it")
    wanted = set(sample_frame_indices(total, max_num_frames))
    with av.open(os.fspath(video_path)) as container:
        frames = [
            frame.to_ndarray(format="rgb24")
            for number, frame in enumerate(container.decode(video=0))
            if number in wanted
        ]
    return _given(np.stack(frames), return_tensors)


def load_image_or_video(image_or_video_path: str | os.PathLike[str], max_num_frames: int, return_tensors: bool) -> Any:
    """As `read_video_pyav`; of a picture its only frame."""
    path = os.fspath(image_or_video_path)
    if not path.lower().endswith(_PICTURES):
        return read_video_pyav(path, max_num_frames, return_tensors)
    import numpy as np
    from PIL import Image

    with Image.open(path) as picture:
        return _given(np.array([np.array(picture.convert("RGB"))]), return_tensors)


def _given(frames: NDArray[Any], return_tensors: bool) -> Any:
    if not return_tensors:
        return frames
    torch = importlib.import_module("torch")  # which flagmm itself does without
    return torch.from_numpy(frames).float().permute(0, 3, 1, 2)
