"""Sounds that a data set has decoded already, as HuggingFace's `Audio` feature does, put back into a WAV file."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flagmm.errors import DataError

if TYPE_CHECKING:
    import numpy

_LOUDEST = 32767
_MOST_CHANNELS = 32


def is_decoded_sound(value: Any) -> bool:
    """Whether this is a mapping with `array` and `sampling_rate`, or a decoder with `get_all_samples`."""
    if isinstance(value, Mapping):
        return value.get("array") is not None and value.get("sampling_rate") is not None
    return callable(getattr(value, "get_all_samples", None))


def sound_file(value: Any) -> bytes:
    """Return a decoded sound as a WAV file of 16 bits.

    Raises:
        DataError: there are no samples, or they are no numbers.
    """
    if isinstance(value, Mapping):
        return write_wav(value["array"], value["sampling_rate"])
    samples = value.get_all_samples()
    return write_wav(samples.data, samples.sample_rate)


def write_wav(samples: Any, rate: Any) -> bytes:
    """Return samples as a WAV file; a table of them has a row or a column for each channel, whichever are fewer.

    Raises:
        DataError: there are no samples, or they are no numbers.
    """
    import numpy

    if isinstance(rate, bool) or not isinstance(rate, int | float | numpy.number) or not 1 <= rate < 1 << 31:
        raise DataError(f"a decoded sound whose sampling_rate is {str(rate)[:40]!r}")
    try:
        table = numpy.atleast_2d(numpy.asarray(samples))
    except (TypeError, ValueError) as error:  # such as lists of different lengths
        raise DataError(f"a decoded sound whose samples are no numbers ({error})") from error
    if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "fiu":
        raise DataError(f"a decoded sound whose samples are no numbers (shape {table.shape}, {table.dtype})")
    frames = table.T if table.shape[0] <= table.shape[1] else table
    if frames.shape[1] > _MOST_CHANNELS:
        raise DataError(f"a decoded sound with {frames.shape[1]} channels")
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(frames.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(int(rate))
        sound.writeframes(_to_16_bits(frames).tobytes())
    return file.getvalue()


def _to_16_bits(samples: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    import numpy

    if samples.dtype.kind == "f":
        scaled = numpy.nan_to_num(numpy.clip(samples, -1, 1)) * _LOUDEST
        rounded: numpy.ndarray[Any, Any] = numpy.round(scaled).astype("<i2")
        return rounded
    if samples.dtype.kind == "i" and samples.dtype.itemsize == 2:
        return samples.astype("<i2")
    raise DataError(f"a decoded sound of {samples.dtype} samples; floats from -1 to 1 or 16-bit integers are expected")
