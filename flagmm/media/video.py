"""Frames of a video, evenly spread, as pictures that an API takes; needs the extra `video` (PyAV)."""

from __future__ import annotations

import io
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from flagmm.errors import ConfigError, DataError, MissingExtraError
from flagmm.media.image import EncodedMedia, ImageLimits, encode_pixels
from flagmm.media.pixels import refuse_bomb
from flagmm.media.reading import blaming, stat_file, unusable
from flagmm.types import MediaSource

if TYPE_CHECKING:
    from PIL import Image

_FRAMES_WORTH_A_SEEK = 8
"""A seek costs about as much as decoding so many frames."""
_LIKELY = 1_000_000
"""The largest denominator of the fractions that seconds given as a float are taken for."""
_FRAMES_TO_CHECK = 3
_SIDE_TO_CHECK = 64  # pixels
_ROUNDING = 1e-6
"""How far seconds as floats may miss a time that they mean, in units of the stream."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of a video, in seconds after its first frame; None where it is not bounded."""

    start: float | None = None
    end: float | None = None

    def __str__(self) -> str:
        return f"{self.start or 0:g} s to {'the end' if self.end is None else f'{self.end:g} s'}"


WHOLE = Span()


@dataclass(frozen=True, kw_only=True)
class Pick:
    """Which frames of a video are taken."""

    choose: Callable[[int, Fraction | float], list[int]]
    """How many frames there are, and how many seconds they last -> the numbers of those to take, ascending.

    Seconds as a fraction are exact; a float is taken for the simplest fraction that it may mean.
    """
    needs_times: bool = False


class _Frame(Protocol):
    """What is used of PyAV's `VideoFrame`."""

    width: int
    height: int
    pts: int | None
    rotation: int
    """Degrees to turn the frame counterclockwise."""

    def to_image(self) -> Image.Image: ...


@dataclass(frozen=True, kw_only=True)
class _Timeline:
    """When the frames of a video are shown, and where decoding may start; times in the stream's own unit."""

    times: list[int]
    """One per frame, ascending."""
    second: float
    """How many units of time are a second."""
    key_numbers: list[int]
    """Which frames are keyframes, ascending."""
    key_seeks: list[int]
    """The time to seek to for each of these."""
    rate: Fraction | None = None
    """Frames of a second on average, where the file says."""


def sample_frame_indices(total_frames: int, max_frames: int) -> list[int]:
    """Return which frames to show: all, or `max_frames` evenly spread from the first to the last.

    A single frame is the middle one.

    Raises:
        DataError: the video has no frames.
        ConfigError: `max_frames` is below 1.
    """
    if max_frames < 1:
        raise ConfigError(f"max_num_frames is {max_frames}; it must be at least 1")
    if total_frames < 1:
        raise DataError("has no frames")
    if total_frames <= max_frames:
        return list(range(total_frames))
    if max_frames == 1:
        return [(total_frames - 1) // 2]
    return [number * (total_frames - 1) // (max_frames - 1) for number in range(max_frames)]


def evenly_spread(most: int) -> Pick:
    """Take what `sample_frame_indices` says."""
    return Pick(choose=lambda total, _: sample_frame_indices(total, most))


def inner_frames(count: int) -> Pick:
    """Take `count` frames that cut a video into equal parts, as VLMEvalKit's `nframe` does; all where it has fewer.

    >>> inner_frames(3).choose(8, 1.0)
    [2, 4, 6]
    """

    def choose(total: int, seconds: Fraction | float) -> list[int]:
        return list(dict.fromkeys(number * total // (count + 1) for number in range(1, count + 1)))

    return Pick(choose=choose)


def frames_per_second(rate: float, most: int | None = None) -> Pick:
    """Take so many frames of each second, from the first on, as VLMEvalKit's `fps` does; at least one, none twice.

    Of a video with `v` frames a second these are the frames `floor(i * v / rate)`, for each `i` below
    `floor(seconds * rate)`, in exact arithmetic (`VideoBaseDataset.save_video_frames` has the same in floats).

    Args:
        rate: frames of a second; a decimal such as 0.1 is taken as it is written.
        most: where there would be more, so many of them are taken, evenly spread from the first to the last.

    >>> frames_per_second(2).choose(30, 1.5)
    [0, 10, 20]
    >>> frames_per_second(1).choose(300, 12)[:3]
    [0, 25, 50]
    """
    wanted_rate = Fraction(repr(float(rate)))

    def choose(total: int, seconds: Fraction | float) -> list[int]:
        lasting = seconds if isinstance(seconds, Fraction) else Fraction(seconds).limit_denominator(_LIKELY)
        frames = lasting * wanted_rate  # wanted of this video, not yet a whole number
        wanted = max(1, min(math.floor(frames), total))
        step = max(Fraction(1), total / frames) if frames else Fraction(1)
        found = [math.floor(number * step) for number in range(wanted)]
        return found if most is None else [found[index] for index in sample_frame_indices(len(found), most)]

    return Pick(choose=choose, needs_times=True)


def sample_frames(
    source: MediaSource, max_frames: int, limits: ImageLimits, *, span: Span = WHOLE, pick: Pick | None = None
) -> list[EncodedMedia]:
    """Return up to `max_frames` frames in order, upright, as JPEG within `limits`.

    Args:
        source: a file or bytes.
        max_frames: the most frames to return; they are spread evenly.
        limits: what each of them must hold to.
        span: the part of the video to take them from.
        pick: which frames to return instead, however many.

    Raises:
        DataError: the file is missing, no video, or broken, or has no frames in `span`.
        MissingExtraError: PyAV is not installed.
        ValueError: the source is a URL.
    """
    try:
        from av.error import FFmpegError
    except ImportError as error:
        raise MissingExtraError("av", "video", "reading a video") from error
    if source.path is None and source.data is None:
        raise ValueError(f"only a file or bytes can be read, not {source.label}")
    if source.path is not None and stat_file(source.path).st_size == 0:
        raise unusable(source.path, "is empty")
    pick = pick or evenly_spread(max_frames)
    with blaming(source.label, "is a broken video"):
        timeline = _read_timeline(source)
        if timeline is not None:
            wanted = _choose(timeline, span, pick)
            try:
                frames = [_encode_frame(frame, limits) for frame in _frames_by_time(source, timeline, wanted)]
            except FFmpegError:
                frames = []  # a format that cannot seek; if the file itself is broken, counting will tell
            if len(frames) == len(wanted):
                return frames
        wanted = _choose(_decode_timeline(source, needs_times=span != WHOLE or pick.needs_times), span, pick)
        return [_encode_frame(frame, limits) for frame in _frames_by_number(source, wanted)]


def check_video(source: MediaSource, *, span: Span = WHOLE) -> None:
    """Decode the first, the middle and the last frame of a part.

    Raises:
        DataError: one cannot be had; the message names the file.
        MissingExtraError: PyAV is not installed.
    """
    sample_frames(source, _FRAMES_TO_CHECK, ImageLimits(max_long_side=_SIDE_TO_CHECK), span=span)


def _choose(timeline: _Timeline, span: Span, pick: Pick) -> list[int]:
    """Return the numbers of the wanted frames."""
    if not timeline.times:
        raise DataError("has no frames")
    low, high = _within(timeline, span)
    return [low + index for index in pick.choose(high - low, _seconds(timeline, low, high))]


def _within(timeline: _Timeline, span: Span) -> tuple[int, int]:
    """The first frame that is shown in a span, and the one after its last.

    A span in which no frame begins has the one that is on the screen meanwhile.

    Raises:
        DataError: it begins after the end of the video.
    """
    times = timeline.times
    if span == WHOLE:
        return 0, len(times)
    start, end = (times[0] + (seconds or 0) * timeline.second for seconds in (span.start, span.end))
    low = bisect_left(times, math.ceil(start - _ROUNDING))
    high = len(times) if span.end is None else bisect_right(times, math.floor(end + _ROUNDING))
    if high > low:
        return low, high
    shown = float(_seconds(timeline, 0, len(times))) * timeline.second
    if low == len(times) and start >= max(times[-1] + 1, times[0] + shown) - _ROUNDING:
        raise DataError(f"has no frames from {span}")
    return low - 1, low


def _seconds(timeline: _Timeline, low: int, high: int) -> Fraction:
    """How long the frames from `low` to before `high` are shown, each as long as the others on average."""
    count = high - low
    if timeline.rate:
        return count / timeline.rate
    between = timeline.times[high - 1] - timeline.times[low]
    return between / Fraction(timeline.second) * Fraction(count, count - 1) if count > 1 else Fraction(0)


@contextmanager
def _opened(source: MediaSource) -> Iterator[tuple[Any, Any]]:
    """Open a video; yields PyAV's container and its video stream."""
    import av
    from av.stream import Disposition

    # "file:" keeps a name such as "concat:a" from being taken for a protocol, and playlists from the network.
    place = f"file:{source.path}" if source.path is not None else io.BytesIO(source.data or b"")
    with av.open(place) as container:
        stream = container.streams.best("video")
        if stream is None or stream.disposition & Disposition.attached_pic:  # the cover of a song
            raise DataError("has no video in it")
        yield container, stream


def _read_timeline(source: MediaSource) -> _Timeline | None:
    """Read the times of all frames, decoding none; None where the format does not tell them."""
    shown: list[int] = []
    keys: list[tuple[int, int]] = []
    with _opened(source) as (container, stream):
        second, rate = _second_of(stream), stream.average_rate
        for packet in container.demux(stream):
            if packet.size == 0 or packet.is_discard:
                continue
            if packet.pts is None:
                return None
            shown.append(packet.pts)
            if packet.is_keyframe:
                keys.append((packet.pts, packet.pts if packet.dts is None else packet.dts))
    times = sorted(shown)
    if not times or len(set(times)) < len(times):
        return None
    numbers = {time: number for number, time in enumerate(times)}
    keys.sort()
    return _Timeline(
        times=times,
        second=second,
        key_numbers=[numbers[time] for time, _ in keys],
        key_seeks=[seek for _, seek in keys],
        rate=rate,
    )


def _decode_timeline(source: MediaSource, *, needs_times: bool) -> _Timeline:
    """Count the frames, and read their times, by decoding all of them.

    Raises:
        DataError: times are needed, and a frame has none.
    """
    with _opened(source) as (container, stream):
        second, rate = _second_of(stream), stream.average_rate
        shown = [frame.pts for frame in container.decode(stream)]
    times = [time for time in shown if time is not None]
    if len(times) == len(shown):
        return _Timeline(times=times, second=second, key_numbers=[], key_seeks=[], rate=rate)
    if needs_times:
        raise DataError("does not tell when its frames are shown, so no part of it can be taken")
    return _Timeline(times=list(range(len(shown))), second=second, key_numbers=[], key_seeks=[])


def _second_of(stream: Any) -> float:
    return float(1 / stream.time_base) if stream.time_base else 1.0


def _frames_by_time(source: MediaSource, timeline: _Timeline, wanted: Sequence[int]) -> Iterator[_Frame]:
    """Yield the wanted frames, skipping from keyframe to keyframe; stops at the first that does not turn up."""
    with _opened(source) as (container, stream):
        frames = container.decode(stream)
        following = 0
        for number in wanted:
            key = bisect_right(timeline.key_numbers, number) - 1
            if key >= 0 and timeline.key_numbers[key] - following > _FRAMES_WORTH_A_SEEK:
                container.seek(timeline.key_seeks[key], stream=stream, backward=True)
                frames = container.decode(stream)
            time = timeline.times[number]
            frame = next((frame for frame in frames if frame.pts is None or frame.pts >= time), None)
            if frame is None or frame.pts != time:
                return
            following = number + 1
            yield frame


def _frames_by_number(source: MediaSource, wanted: Sequence[int]) -> Iterator[_Frame]:
    numbers = set(wanted)
    with _opened(source) as (container, stream):
        for number, frame in enumerate(container.decode(stream)):
            if number in numbers:
                yield frame


def _encode_frame(frame: _Frame, limits: ImageLimits) -> EncodedMedia:
    """Encode one frame, turned as the file asks."""
    from PIL.Image import Transpose

    refuse_bomb((frame.width, frame.height))
    turns = {90: Transpose.ROTATE_90, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_270}
    turn = turns.get(frame.rotation % 360)
    image = frame.to_image()
    return encode_pixels(image if turn is None else image.transpose(turn), limits, lossless=False)
