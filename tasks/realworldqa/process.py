"""RealWorldQA: neither ids, types nor options; a question with a line "A. …" is a choice, whose options stay in it."""

import re
from pathlib import Path

from flagmm.dataset.conversion import Conversion

_FIRST_OPTION = re.compile(r"^\s*A\.", re.MULTILINE)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def process(cfg):
    with Conversion(cfg) as out:
        for number, row in enumerate(out.rows()):
            is_choice = _FIRST_OPTION.search(row["question"])
            out.add(
                question_id=number,
                question=row["question"],
                question_type="multiple-choice" if is_choice else "fill-in-the-blank",
                answer=row["answer"] if is_choice else spellings(row["answer"]),
                img_path=out.image(row["image"], Path(row["image_path"]).stem),
            )


def spellings(answer):
    """A small number in digits and as a word, the published form first; other answers as they are."""
    text = answer.strip().lower()
    if text in _NUMBERS:
        return [answer, str(_NUMBERS.index(text))]
    if text.isdecimal() and int(text) < len(_NUMBERS):
        return [answer, _NUMBERS[int(text)]]
    return answer
