"""ExtractEvaluator: open answers that only a judge scores, and what subclasses call on it under FlagEvalMM's names.

Reference of the names: FlagEvalMM 04980542, `evaluator/extract_evaluator.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal, get_args

from flagmm.errors import ConfigError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.judge_prompts import judgement_prompt, judgement_template, value_prompt, value_template
from flagmm.evaluator.judge_replies import read_value
from flagmm.evaluator.judge_verdicts import read_verdict
from flagmm.evaluator.metrics_of_judge import JudgedAnswers, SimpleQaGrades
from flagmm.evaluator.task_methods import UNREADABLE
from flagmm.registry import EVALUATORS

logger = logging.getLogger(__name__)

JudgedMethod = Literal["extract_compare", "simpleqa"]

_METHODS = get_args(JudgedMethod)
_NONE = "null"
_JUDGEMENTS = {"correct": "1", "incorrect": "0"}

demo_prompt_extract = value_template("{answer}")
demo_prompt_score = judgement_template("{question}", "{answer}", "{extracted_answer}", same="1", other="0", bare=True)
"""Both for code that formats them and asks by itself."""


@EVALUATORS.register_module()
class ExtractEvaluator(BaseEvaluator):
    """Open answers that only a judge scores.

    Args:
        eval_method: "extract_compare": the judge reads the final answer out of a reply, and compares it with the
            reference where it is not that word for word. "simpleqa": the judge grades a reply as correct, incorrect or
            not attempted.
    """

    def __init__(self, *, eval_method: JudgedMethod = "extract_compare", **settings: Any) -> None:
        if eval_method not in _METHODS:
            raise ConfigError(f"eval_method: expected one of {', '.join(_METHODS)}, found {eval_method!r}")
        super().__init__(**settings)
        self.judge_method: JudgedMethod = eval_method
        self.metrics = [SimpleQaGrades() if eval_method == "simpleqa" else JudgedAnswers()]

    @property
    def needs_judge(self) -> bool:
        return True

    def extract_answer_by_llm(self, gt: Mapping[str, Any], pred: Mapping[str, Any]) -> str:
        """The final answer that the judge reads in `pred["answer"]`; "null" where that commits to none.

        "[FAILED]" stands for a judge's reply that says neither.

        Raises:
            ConfigError: there is no judge.
            ModelError: it did not answer.
        """
        prompt = value_prompt(str(gt.get("question", "")), str(pred["answer"]))
        reply = self.ask_judge(prompt, asking="extract_answer_by_llm")
        found = read_value(reply)
        if not found.is_said:
            logger.warning("no final answer in the judge's reply: %.200r", reply)
            return UNREADABLE
        return _NONE if found.value is None else str(found.value)

    def compare_answer(self, gt: Mapping[str, Any], extracted_answer: str) -> str:
        """Whether an answer says the same as `gt["answer"]`, as "1" or "0"; the judge is asked where they differ.

        "[FAILED]" stands for a judge's reply without a verdict. Raises as `extract_answer_by_llm`.
        """
        if str(gt["answer"]) == extracted_answer:
            return "1"
        prompt = judgement_prompt(str(gt.get("question", "")), str(gt["answer"]), extracted_answer, same="1", other="0")
        reply = self.ask_judge(prompt, asking="compare_answer")
        verdict = read_verdict(reply)
        if verdict is None:
            logger.warning("no judgement in the judge's reply: %.200r", reply)
        return _JUDGEMENTS.get(str(verdict), UNREADABLE)

    def process_single_prediction(self, pred: Mapping[str, Any], gt: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """A copy of a prediction with `extracted_answer`, `correct` (1 or 0) and `label`; and `correct`."""
        extracted = self.extract_answer_by_llm(gt, pred)
        correct = int(self.compare_answer(gt, extracted) == "1")
        return {**pred, "extracted_answer": extracted, "correct": correct, "label": gt["answer"]}, correct
