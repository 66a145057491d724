"""OCRBench v1: is the wanted text in the reply?

References: MultimodalOCR 794c36d6, `OCRBench/example.py`; the reports are those of VLMEvalKit e8e78f05,
`dataset/image_vqa.py:OCRBench`, and FlagEvalMM fef27ec6, `tasks/ocrbench/evaluate.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from flagmm.metrics.text_match import fold_width, is_other_number, join_digits
from flagmm.thinking import split_thinking

Rule = Literal["reference", "careful"]

FORMULA_DATASETS = ("HME100k", "HMER")
"""The sources whose answers are formulas."""
FORMULA_CATEGORY = "Handwritten Mathematical Expression Recognition"
RECOGNITION_CATEGORIES = (
    "Regular Text Recognition",
    "Irregular Text Recognition",
    "Artistic Text Recognition",
    "Handwriting Recognition",
    "Digit String Recognition",
    "Non-Semantic Text Recognition",
)
_OTHER_CATEGORIES = (
    "Scene Text-centric VQA",
    "Doc-oriented VQA",
    "Key Information Extraction",
    FORMULA_CATEGORY,
)

_NEGATION = re.compile(r"(?:\bnot|n't|不是|并非)[\s\"'“‘*]*\Z")
_NEGATION_REACH = 20
_WORD_JOINTS = "-_"
_DIGIT_JOINTS = ".,:/"
_FIRST_CJK = "\u2e80"  # the scripts from here on write words without spaces


def ocrbench_hit(
    prediction: str, answers: str | Sequence[str], *, formula: bool = False, rule: Rule = "reference"
) -> bool:
    """Say whether any answer stands in `prediction`; an empty answer always does, no answers never do.

    Args:
        formula: case counts and all spaces but tabs are ignored, as for HME100k; else case does not count.
        rule: "careful" leaves thinking out, wants whole words and numbers ("on" is not in "london", nor "3.5" in
            "13.5", "1" in "1 000", "42" in ">42") that no "not" precedes, and an empty answer never matches; formulas
            have no words.
    """
    if isinstance(answers, str):
        answers = (answers,)
    normalize = _formula_form if formula else _text_form
    wanted = [normalize(answer) for answer in answers]
    if rule == "reference":
        text = normalize(prediction)
        return any(answer in text for answer in wanted)
    text = normalize(split_thinking(prediction).answer)
    if formula:
        return any(answer in text for answer in wanted if answer)
    text = join_digits(fold_width(text))
    return any(_says(text, join_digits(fold_width(answer))) for answer in wanted if answer)


def ocrbench_report(hits: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Return VLMEvalKit's table from pairs of category and hit: numbers of hits, zeros where there are none.

    `Final Score` is the sum; `Final Score Norm` a tenth of it, which is the percentage only if all 1,000 questions
    were asked. Hits in an unknown category count in `Final Score` alone.
    """
    counts = Counter(category for category, hit in hits if hit)
    final = counts.total()
    return {
        "Text Recognition": sum(counts[category] for category in RECOGNITION_CATEGORIES),
        **{category: counts[category] for category in _OTHER_CATEGORIES},
        "Final Score": final,
        "Final Score Norm": final / 10,
    }


def ocrbench_type_counts(hits: Iterable[tuple[str, bool]]) -> dict[str, Any]:
    """Return FlagEvalMM's table from pairs of type and hit: `[hits, questions]` for all and for each type.

    `accuracy` is in percent with three decimals; None for no questions.
    """
    counts: dict[str, list[int]] = {}
    for kind, hit in hits:
        count = counts.setdefault(kind, [0, 0])
        count[0] += hit
        count[1] += 1
    right, total = (sum(count[place] for count in counts.values()) for place in (0, 1))
    accuracy = round(right / total * 100, 3) if total else None
    return {"final_score": [right, total], "accuracy": accuracy, **counts}


def _text_form(text: str) -> str:
    return text.lower().strip().replace("\n", " ")


def _formula_form(text: str) -> str:
    return text.strip().replace("\n", "").replace(" ", "")


def _says(text: str, answer: str) -> bool:
    """Whether `answer` stands in `text` as a whole and is not denied."""
    start = text.find(answer)
    while start >= 0:
        end = start + len(answer)
        before, after = text[max(0, start - _NEGATION_REACH) : start], text[end : end + 2]
        joined = _are_joined(before, answer) or _are_joined(answer, after)
        if not joined and not _NEGATION.search(before) and not is_other_number(text, start, end):
            return True
        start = text.find(answer, start + 1)
    return False


def _are_joined(left: str, right: str) -> bool:
    """Whether one word or number goes on from `left` to `right`, perhaps across a mark ("coca" and "-cola")."""
    if not left or not right:
        return False
    for mark, outer, inner in ((left[-1], left[-2:-1], right[0]), (right[0], left[-1], right[1:2])):
        if mark in _WORD_JOINTS and _is_word(outer) and _is_word(inner):
            return True
        if mark in _DIGIT_JOINTS and outer.isdigit() and inner.isdigit():
            return True
    return _is_word(left[-1]) and _is_word(right[0])


def _is_word(letter: str) -> bool:
    return letter.isalnum() and letter < _FIRST_CJK
