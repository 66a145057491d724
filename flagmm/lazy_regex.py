"""Regular expressions that are compiled when first used.

Reading answers knows over a hundred expressions; most runs use a few, and compiling all of them would cost each start
a tenth of a second.
"""

from __future__ import annotations

import re
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
