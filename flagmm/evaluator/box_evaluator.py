"""BoxEvaluator: answers in a LaTeX box that have to be the reference answer word for word.

Reference of the names: FlagEvalMM e6ecab1e, `evaluator/box_evaluator.py`, which takes the first box, up to its first
closing brace. Here the last box counts, braces inside it paired.
"""

from __future__ import annotations

from typing import Any

from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric import BuiltAs, Metric, references
from flagmm.evaluator.verdict import Verdict
from flagmm.lazy_regex import lazy_compile
from flagmm.metrics.latex_box import last_box
from flagmm.registry import EVALUATORS
from flagmm.types import Annotation

_STATED = lazy_compile(r"(?i:\banswer)(?:\s+is\b|\s*[:：])[\s:：]*([^\n]+)|答案(?:为|是)?\s*[:：]?\s*([^\n]+)")
_END_MARKS = ".,;:!?。"


def extract_answer(answer: str) -> str:
    """What the last box holds; else what follows the last "answer is" or "Answer:", without an end mark; else all.

    >>> extract_answer("So \\\\boxed{\\\\frac{1}{2}}."), extract_answer("The answer is 42."), extract_answer(" 42 ")
    ('\\\\frac{1}{2}', '42', '42')
    """
    box = last_box(answer)
    if box is not None:
        return box.strip()
    stated = list(_STATED.finditer(answer))
    if not stated:
        return answer.strip()
    return str(stated[-1][1] or stated[-1][2]).strip().rstrip(_END_MARKS)


class BoxedText(Metric):
    """Whether the boxed, or else the stated, answer is one of the references word for word."""

    built_as = BuiltAs("boxed_text", {})

    def score(self, text: str, annotation: Annotation) -> Verdict:
        found = extract_answer(text)
        return Verdict(correct=float(found in references(annotation)), extracted=found, rule="box_or_statement")


@EVALUATORS.register_module()
class BoxEvaluator(BaseEvaluator):
    """The share of answers whose box holds the reference answer."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.metrics = [BoxedText()]
