"""The punctuation rule of VQA accuracy, by which VLMEvalKit also reads yes and no.

References: VQA a013f004, `vqaEval.py:processPunctuation`, and VLMEvalKit e8e78f05, `smp/misc.py:process_punctuation`.
They differ in periods beside digits only: VQA turns "10." into "10", VLMEvalKit leaves it.
"""

from __future__ import annotations

import re

MARKS = ';/[]"{}()=+\\_-><@`,?!'
DIGIT_GROUPS = re.compile(r"\d,\d")
_PERIOD = re.compile(r"(?<!\d)\.(?!\d)")
PERIOD_OF_VQA = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32  # both references pass the flag `re.UNICODE`, which is 32, where the count belongs


def process_punctuation(text: str) -> str:
    """Return `text` without punctuation, as VLMEvalKit does it; periods that touch a digit stay.

    A mark is deleted everywhere if it touches a space anywhere, else it becomes a space; all are deleted where the
    text has a comma between digits. `* : ' %` and all that is not ASCII stay.

    >>> process_punctuation("1,000-yes"), process_punctuation("yes-no. 10."), process_punctuation("**Yes**.")
    ('1000yes', 'yes no 10.', '**Yes**')
    """
    return _PERIOD.sub("", _without_marks(text), count=_MOST_PERIODS)


def process_vqa_punctuation(text: str) -> str:
    """Return `text` without punctuation, as VQA does it: a period stays only before a digit.

    >>> process_vqa_punctuation("3.5 or 10."), process_vqa_punctuation("no.5")
    ('3.5 or 10', 'no.5')
    """
    return PERIOD_OF_VQA.sub("", _without_marks(text), count=_MOST_PERIODS)


def _without_marks(text: str) -> str:
    delete_all = DIGIT_GROUPS.search(text) is not None
    replacements = {
        ord(mark): "" if delete_all or f"{mark} " in text or f" {mark}" in text else " "
        for mark in MARKS
        if mark in text
    }
    return text.translate(replacements) if replacements else text
