"""Reading a choice the way VLMEvalKit does before it asks a judge, mended by a careful reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from flagmm.extraction import extract_choice
from flagmm.metrics.vlmevalkit_infer import REFUSED, can_infer


def infer_choice(answer: str, choices: Mapping[str, str], *, compat: Literal["vlmevalkit"] | None = None) -> str | None:
    """The label that an answer gives; None leaves it to the judge, and "Z" is a refusal.

    VLMEvalKit's rules decide which answers can be read without a judge. What they read out of those is replaced by the
    careful reading, which knows articles, negations and word borders.

    Args:
        choices: option text by label.
        compat: "vlmevalkit" keeps what VLMEvalKit reads, faults included.
    """
    found = can_infer(answer, choices)
    if compat == "vlmevalkit" or found is None or found == REFUSED:
        return found
    label: str | None = extract_choice(answer, list(choices.values()), labels=list(choices)).value
    return label
