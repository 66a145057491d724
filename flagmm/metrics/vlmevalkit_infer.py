"""How VLMEvalKit reads a choice or a yes/no without a judge model, its faults included.

Reference: VLMEvalKit e8e78f05, `vlmeval/utils/matching_util.py` and `vlmeval/dataset/utils/yorn.py`; the release
ms-vlmeval 0.0.20 lacks one rule. Kept to reproduce published numbers: a lone capital near the end of a reply counts as
the choice, be it an article, and negation is not seen. For scores of one's own read with `extraction`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from flagmm.metrics.vqa_punctuation import process_punctuation

REFUSED = "Z"
"""The label that stands for "none of the options"; no answer at all is None."""

_CALL_FAILED = "Failed to obtain answer via API"
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_BLANKED = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_LAST_WORDS = 4
# Neither a word boundary nor case: "the answer is a cat" is A. The reference does so.
_STATED = re.compile(r"answer\s+is\s+\**([A-D])", re.IGNORECASE)


def can_infer(answer: object, choices: Mapping[str, Any]) -> str | None:
    """Return the label that a reply names, else the label of the one option whose text it contains.

    `REFUSED` stands for a refusal, None for no answer. An empty reply has none, unless an option's text is empty too.

    >>> can_infer("It is a cat.", {"A": "Dog", "B": "Cat"})
    'B'
    """
    text = str(answer)
    return can_infer_option(text, choices) or can_infer_text(text, choices)


def ms_vlmeval_can_infer(answer: object, choices: Mapping[str, Any]) -> str | None:
    """Do as `can_infer`, but as ms-vlmeval 0.0.20 does: "answer is X" is no rule there."""
    text = str(answer)
    return can_infer_option(text, choices, stated=False) or can_infer_text(text, choices)


def can_infer_option(answer: str, choices: Mapping[str, Any], *, stated: bool = True) -> str | None:
    """Return the only label among the words of a reply, if its first place is among the last four words.

    Otherwise the letter A to D after the first "answer is", if it is a label and `stated` is set.

    >>> can_infer_option("The best answer is: B) Cat", {"A": "Dog", "B": "Cat"})
    'B'
    """
    if _CALL_FAILED in answer:
        return None
    if any(refusal in answer for refusal in _REFUSALS):
        return REFUSED
    words = answer.translate(_BLANKED).split()
    present = set(words)
    named = [label for label in choices if label in present]
    if len(named) == 1 and words.index(named[0]) >= len(words) - _LAST_WORDS:
        return named[0]
    if not named and REFUSED in present:
        return REFUSED
    found = _STATED.search(answer) if stated else None
    return found[1].upper() if found and found[1].upper() in choices else None


def can_infer_text(answer: str, choices: Mapping[str, Any]) -> str | None:
    """Return the label of the only option whose text occurs in the reply, case ignored, parts of words included.

    None for a reply of more than twice the length of all option texts together.

    >>> can_infer_text("catalogue", {"A": "Dog", "B": "Cat"})
    'B'
    """
    low = answer.lower()
    if len(low) > 2 * sum(len(str(text)) for text in choices.values()):
        return None
    found = [label for label, text in choices.items() if str(text).lower() in low]
    return found[0] if len(found) == 1 else None


def yes_or_no(answer: object) -> Literal["Yes", "No", "Unknown"]:
    """Return which of the words yes and no a reply holds; "Unknown" for both, none, and the empty reply.

    Words are apart by white space once `process_punctuation` is done, so "**Yes**" is unknown.
    """
    words = process_punctuation(str(answer).lower()).split()
    if ("yes" in words) == ("no" in words):
        return "Unknown"
    return "Yes" if "yes" in words else "No"
