"""OpenEvaluator: typed open answers, and the functions of FlagEvalMM's module of that name.

Reference of the names: FlagEvalMM fef27ec6, `evaluator/open_evaluator.py`. The rules are in
`flagmm.metrics.flagevalmm_open`; the functions read `pred["answer"]`, as it stands, by the reference's rule.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from flagmm.evaluator.judge_prompts import judgement_prompt, judgement_template
from flagmm.evaluator.judge_verdicts import read_verdict
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.metrics.flagevalmm_open import (
    extract_open_answer,
    has_number,
    has_numbers,
    has_text,
    has_truth_values,
    normalize_open_answer,
)
from flagmm.prompt.instructions import is_chinese
from flagmm.registry import EVALUATORS
from flagmm.types import Annotation

__all__ = [
    "OpenEvaluator",
    "demo_prompt_score",
    "extract_answer",
    "is_chinese",
    "normalize_string",
    "number_matching",
    "numbers_matching",
    "text_match",
    "tf_list_matching",
]

logger = logging.getLogger(__name__)

_OPEN_ENDED = "open_ended"

demo_prompt_score = judgement_template(
    "{{question}}", "{{answer}}", "{{extracted_answer}}", same="1", other="0", bare=True
)
"""For code that puts texts in the place of the names in braces, and asks by itself."""

normalize_string = normalize_open_answer


def extract_answer(pred: Mapping[str, Any]) -> str:
    """What the last box of `pred["answer"]` holds, else what follows its cue, else all of it."""
    return extract_open_answer(pred["answer"])


def number_matching(pred: Mapping[str, Any], value_to_match: float) -> int:
    """1 where the last number is within 10 % of a float, or 0.001 of an integer."""
    return int(has_number(pred["answer"], value_to_match, "float" if isinstance(value_to_match, float) else "integer"))


def numbers_matching(pred: Mapping[str, Any], values_to_match: Sequence[float]) -> int:
    """1 where the numbers are those, in order: within 8 % where one is no whole number, else within 0.001."""
    return int(has_numbers(pred["answer"], values_to_match))


def tf_list_matching(pred: Mapping[str, Any], values_to_match: Sequence[str | bool]) -> int:
    """1 where the words true and false are those, in order."""
    return int(has_truth_values(pred["answer"], values_to_match))


def text_match(pred: Mapping[str, Any], candidates: Sequence[str]) -> int:
    """1 where any of the texts is in the answer, in any case."""
    return int(any(has_text(pred["answer"], str(candidate)) for candidate in candidates))


@EVALUATORS.register_module()
class OpenEvaluator(MetricEvaluator):
    """Typed open answers by `answer_type`, reported by `tracker_type` and `tracker_subtype`; open_ended by a judge."""

    def __init__(
        self,
        *,
        tracker_type: str | None = None,
        tracker_subtype: str | None = None,
        rule: str = "careful",
        **settings: Any,
    ) -> None:
        trackers = {"tracker_type": tracker_type, "tracker_subtype": tracker_subtype}
        self.tracker_type, self.tracker_subtype = tracker_type, tracker_subtype
        super().__init__(metrics={"type": "typed_open", "rule": rule, **trackers}, **settings)

    def get_score(self, gt: Annotation, pred: dict[str, Any]) -> float:
        """The mark of `pred["answer"]`, from 0 to 1, by the item's `answer_type`.

        `raw_answer` keeps the reply; where a rule scores it, `answer` becomes what was read in it.

        Raises:
            ValueError: no rule scores the type.
            ConfigError: the type is "open_ended", and there is no judge.
            ModelError: the judge did not answer.
        """
        pred["raw_answer"] = pred["answer"]
        if gt.get("answer_type") == _OPEN_ENDED:
            return self.get_score_by_llm(gt, pred)[1]
        metric = self.metrics[0]
        if not metric.can_score(gt):
            raise ValueError(f"answer_type {gt.get('answer_type')!r}: no rule scores it")
        pred["answer"] = normalize_string(extract_answer(pred))
        return metric.score(pred["raw_answer"], gt).correct or 0.0

    def get_score_by_llm(self, gt: Annotation, pred: Mapping[str, Any]) -> tuple[str, int]:
        """The judge's reply on whether `pred["answer"]` says the same as `gt["answer"]`, and 1 if so, else 0.

        Raises:
            ConfigError: there is no judge.
            ModelError: it did not answer, which is no verdict.
        """
        question, reference = str(gt.get("question", "")), str(gt["answer"])
        prompt = judgement_prompt(question, reference, str(pred["answer"]), same="1", other="0")
        reply = self.ask_judge(prompt, asking="get_score_by_llm")
        verdict = read_verdict(reply)
        if verdict is None:
            logger.warning("no judgement in the judge's reply, which counts as a no: %.200r", reply)
        return reply, int(verdict == "correct")
