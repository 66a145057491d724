"""Whether a text holds one of several others as whole words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flagmm.metrics.text_match import is_other_number, join_digits, normalize_text

_IN_A_WORD = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # of scripts that put spaces between words


def includes(text: str, references: Sequence[str]) -> bool:
    """Say whether any reference stands in `text`, both normalised; an empty one stands in none.

    A number does not stand in another one ("1 000"), nor in a bound (">42").

    >>> includes("It is a dog.", ["Dog"]), includes("Dogma", ["dog"]), includes("一只猫", ["猫"])
    (True, False, True)
    """
    folded = join_digits(normalize_text(text))
    return any(_stands_in(folded, join_digits(normalize_text(reference))) for reference in references)


def _stands_in(text: str, wanted: str) -> bool:
    if not wanted:
        return False
    before = rf"(?<!{_IN_A_WORD})" if re.match(_IN_A_WORD, wanted[0]) else ""
    after = rf"(?!{_IN_A_WORD})" if re.match(_IN_A_WORD, wanted[-1]) else ""
    found = re.finditer(f"{before}{re.escape(wanted)}{after}", text)
    return any(not is_other_number(text, *each.span()) for each in found)
