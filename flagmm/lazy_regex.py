"""Regular expressions that are compiled when first used, and looked for only where they can be found.

Reading answers knows over a hundred expressions; most runs use a few, and compiling all of them would cost each start
a tenth of a second. An expression that begins with alternatives is tried at every character of a long reply, which
takes ten to a hundred times as long as a look for its key words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled expression; after its first use its methods are those of the real one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._source)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use. The result cannot be given to functions of `re`; call its methods."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class KeyedPattern:
    """An expression of which every match holds one of its keys, so that a text without any need not be searched.

    Attributes:
        pattern: the expression itself.
        keys: texts in the spelling in which matches hold them.
    """

    def __init__(self, pattern: str, keys: Sequence[str]) -> None:
        self.pattern = lazy_compile(pattern)
        self.keys = tuple(keys)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """As of a compiled expression."""
        stop = len(text) if end is None else end
        part = text if start == 0 and stop >= len(text) else text[start:stop]
        return self.pattern.search(text, start, stop) if has_any(part, self.keys) else None


def has_any(text: str, keys: Sequence[str]) -> bool:
    """Say whether one of `keys` occurs in `text`."""
    for key in keys:  # noqa: SIM110  # a generator would take three times as long
        if key in text:
            return True
    return False


def finditer_at(pattern: re.Pattern[str], text: str, starts: Sequence[str], begin: int = 0) -> Iterator[re.Match[str]]:
    """As `pattern.finditer(text, begin)`, for an expression of which every match begins with one of `starts`."""
    places: set[int] = set()
    for start in starts:
        place = text.find(start, begin)
        while place >= 0:
            places.add(place)
            place = text.find(start, place + 1)
    end = 0
    for place in sorted(places):
        found = pattern.match(text, place) if place >= end else None
        if found:
            yield found
            end = found.end()
