"""The verdict in a judge's reply.

Reference: FlagEvalMM fef27ec6, `evaluator/base_evaluator.py:extract_judgement_result`, which takes the first
`Judgement:` with Yes or No directly behind it, even as the start of a longer word.
"""

from __future__ import annotations

import re
from typing import Literal

Verdict = Literal["yes", "no"]
Rule = Literal["reference", "careful"]

_REFERENCE = re.compile(r"Judgement:\s*(Yes|No)", re.IGNORECASE)
_CAREFUL = re.compile(r"judge?ment[\s*_\"'`]*[:：][\s*_\"'`]*(yes|no)\b", re.IGNORECASE)


def read_judgement(response: str, *, rule: Rule = "careful") -> Verdict | None:
    """Return the verdict, or None where the reply gives none.

    The careful rule takes the last one, through bold marks and quotes, and wants the whole word.

    >>> read_judgement("Judgement: No. Or rather, **Judgement:** Yes")
    'yes'
    """
    found = list((_CAREFUL if rule == "careful" else _REFERENCE).finditer(response))
    if not found:
        return None
    word = found[-1 if rule == "careful" else 0][1]
    return "yes" if word.lower() == "yes" else "no"
