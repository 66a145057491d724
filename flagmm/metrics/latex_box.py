"""What stands in a LaTeX `\\boxed{…}`."""

from __future__ import annotations

import re

_OPENING = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(rf"(?P<box>{_OPENING.pattern})|\\[{{}}]|[{{}}]")


def last_box(text: str) -> str | None:
    """Return the content of the box that opens last among those that are closed; None where there is none.

    Braces inside are paired; `\\\\{` and `\\\\}` are no braces.

    >>> last_box("\\\\boxed{3}, no: \\\\boxed{\\\\frac{1}{2}}.")
    '\\\\frac{1}{2}'
    """
    open_braces: list[int | None] = []  # where the content of a box starts; None for other braces
    last: tuple[int, int] | None = None
    for brace in _BRACE.finditer(text):
        if brace["box"]:
            open_braces.append(brace.end())
        elif brace[0] == "{":
            open_braces.append(None)
        elif brace[0] == "}" and open_braces:
            start = open_braces.pop()
            if start is not None and (last is None or start > last[0]):
                last = (start, brace.start())
    return None if last is None else text[last[0] : last[1]]


def is_negated_box(text: str) -> bool:
    """Say whether a minus stands directly before the last box."""
    boxes = list(_OPENING.finditer(text))
    return bool(boxes) and text[: boxes[-1].start()].rstrip(" $").endswith(("-", "\u2212"))
