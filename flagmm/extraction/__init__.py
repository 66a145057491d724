"""Read the answer out of a model's reply; where the reply does not commit to one, there is no answer, never a guess.

Start with `extract_choice`. Thinking is left out by every function, and each answer names the rule that found it.
The rules for choices are in `extraction.choice`, the others each in the module that is imported here.
"""

from __future__ import annotations

from flagmm.extraction.choice import extract_choice, extract_choices
from flagmm.extraction.number import extract_number
from flagmm.extraction.reply import Extraction, strip_thinking
from flagmm.extraction.text import extract_short_answer
from flagmm.extraction.yes_no import extract_yes_no
from flagmm.metrics.option_labels import option_labels

__all__ = [
    "Extraction",
    "extract_choice",
    "extract_choices",
    "extract_number",
    "extract_short_answer",
    "extract_yes_no",
    "option_labels",
    "strip_thinking",
]
