"""How sure a score is."""

from __future__ import annotations

import math
from typing import NamedTuple

_Z95 = 1.959963984540054  # the 97.5 % point of the standard normal distribution


class Interval(NamedTuple):
    low: float
    high: float


def wilson_interval(successes: float, count: int) -> Interval | None:
    """The 95 % interval of a share, as fractions; None for no observation.

    Wilson (1927), without continuity correction. `successes` need not be whole: means of repeats may come in.

    >>> wilson_interval(8, 10)
    Interval(low=0.4901..., high=0.9433...)
    """
    if count == 0:
        return None
    share, squared = successes / count, _Z95**2
    middle = share + squared / (2 * count)
    spread = _Z95 * math.sqrt(share * (1 - share) / count + squared / (4 * count**2))
    scale = 1 + squared / count
    return Interval(max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale))
