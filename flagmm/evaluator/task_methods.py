"""What evaluators of task folders call on themselves: FlagEvalMM's methods, under its names and with its rules.

Our own scoring uses none of them. Reference: FlagEvalMM fef27ec6, `evaluator/base_evaluator.py:BaseEvaluator`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from flagmm.errors import ConfigError
from flagmm.evaluator.common_types import compare_choice, compare_response
from flagmm.evaluator.judge_prompts import judgement_prompt, judgement_template
from flagmm.jsonio import write_json, write_records
from flagmm.metrics.flagevalmm_aggregate import is_rejected, reject_info
from flagmm.metrics.flagevalmm_judgement import read_judgement
from flagmm.metrics.flagevalmm_text import clean_choice, fill_blank_match
from flagmm.paths import TaskPaths, safe_name

logger = logging.getLogger(__name__)

Prediction = dict[str, Any]

PROMPT_TEMPLATE = judgement_template("{question}", "{gt_answer}", "{pred_answer}", same="Yes", other="No")
"""For code that formats it and asks by itself."""
UNREADABLE = "[FAILED]"
"""Given for a judge's reply that says nothing of what was asked."""
_TOKENS = {
    "average_tokens": "total_tokens",
    "average_prompt_tokens": "prompt_tokens",
    "average_completion_tokens": "completion_tokens",
}


@dataclass(frozen=True)
class QuestionMapping:
    """Where a reply of a repeated question belongs."""

    original_question_id: str
    is_multi_inference: bool
    inference_index: int
    total_inferences: int


class TaskMethods:
    """The methods; `BaseEvaluator` has them, and so have the classes that tasks derive from it."""

    is_clean: bool = True
    aggregation_fields: Sequence[str] = ()
    llm_evaluator: Any = None
    """The judge, while a task's own scoring runs."""

    def maybe_clean_answer(self, answer: str) -> str:
        """The letters of an answer by FlagEvalMM's rule; the answer itself where `is_clean` is False."""
        return clean_choice(answer) if self.is_clean else answer

    def evaluate_multiple_choice(self, gt: Mapping[str, Any], pred: MutableMapping[str, Any]) -> bool:
        """As `common_types.evaluate_multiple_choice`, with the letters that `maybe_clean_answer` gives."""
        return compare_choice(gt, pred, self.maybe_clean_answer(pred["answer"]))

    def evaluate_multiple_response(self, gt: Mapping[str, Any], pred: MutableMapping[str, Any]) -> tuple[bool, str]:
        """As `common_types.evaluate_multiple_response`, with the letters that `maybe_clean_answer` gives."""
        return compare_response(gt, pred, self.maybe_clean_answer(pred["answer"]))

    def evaluate_fill_blank_by_rule(
        self, gt: Mapping[str, Any], pred: MutableMapping[str, Any], simality_threshold: float = 0.7
    ) -> tuple[bool, str]:
        """Say whether a line of `pred["answer"]` is spelled like `gt["answer"]`, or one of a list; and that line.

        Where none is, all lines are given. `pred["raw_answer"]` keeps the reply, `pred["answer"]` becomes its
        normalised lines.

        Args:
            simality_threshold: how much alike, from 0 to 1, a line has to be more than.
        """
        reply = pred["answer"]
        accepted = gt["answer"] if isinstance(gt["answer"], list | tuple) else [gt["answer"]]
        matches = [fill_blank_match(reply, str(answer), threshold=simality_threshold) for answer in accepted]
        lines = fill_blank_match(reply, "", threshold=1.0).matched  # nothing is more alike than that
        pred["raw_answer"], pred["answer"] = reply, lines
        return next(((True, match.matched) for match in matches if match.correct), (False, lines))

    def evaluate_by_llm(self, gt: Mapping[str, Any], pred: Mapping[str, Any]) -> tuple[bool, str]:
        """Ask the judge whether `pred["answer"]` says the same as `gt["answer"]`; as `extract_judgement_result`.

        Raises:
            ConfigError: there is no judge.
            ModelError: it did not answer, which is no verdict.
        """
        question, reference, answer = str(gt.get("question", "")), str(gt["answer"]), str(pred["answer"])
        prompt = judgement_prompt(question, reference, answer, same="Yes", other="No")
        return self.extract_judgement_result(self.ask_judge(prompt, asking="evaluate_by_llm"))

    def ask_judge(self, prompt: str, *, asking: str) -> str:
        """The judge's reply to a text.

        Args:
            asking: the method that needs it, for the error message.

        Raises:
            ConfigError: there is no judge.
            ModelError: it did not answer, which is no verdict.
        """
        if self.llm_evaluator is None:
            raise ConfigError(f"{asking}: there is no judge; give judge=dict(model_name=…, url=…), or --judge")
        messages = self.llm_evaluator.build_message(query=prompt)
        reply = self.llm_evaluator.infer(chat_messages=messages, temperature=0, top_p=1, seed=42)
        return str(reply.content)

    def extract_judgement_result(self, response_text: str) -> tuple[bool, str]:
        """Whether the reply's last "Judgement:" is Yes, and the reply; (False, "[FAILED]") where it has none."""
        verdict = read_judgement(response_text)
        if verdict is None:
            logger.warning("no judgement in the judge's reply, which counts as a no: %.200r", response_text)
            return False, UNREADABLE
        return verdict == "yes", response_text.strip()

    def filter_rejected(
        self, predictions: Sequence[Prediction], results: MutableMapping[str, Any]
    ) -> tuple[list[Prediction], list[Prediction]]:
        """The predictions that are no message of an endpoint that refused, and those that are.

        The latter get `raw_answer`, and `results` gets `reject_info` where there are any. An answer that is empty is
        no such message, and stays.
        """
        rejected = [prediction for prediction in predictions if is_rejected(prediction["answer"], rule="careful")]
        kept = [prediction for prediction in predictions if not is_rejected(prediction["answer"], rule="careful")]
        for prediction in rejected:
            prediction["raw_answer"] = prediction["answer"]
        results.update(reject_info(len(rejected), len(predictions)))
        return kept, rejected

    def statistics_tokens(self, predictions: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
        """The means of all, prompt and completion tokens over the predictions that tell theirs; None where none do."""
        usages = [prediction.get("usage") or {} for prediction in predictions]
        told = {name: [usage[key] for usage in usages if usage.get(key) is not None] for name, key in _TOKENS.items()}
        return {name: fmean(counts) if counts else None for name, counts in told.items()}

    def has_multi_inference(self, predictions: Sequence[Mapping[str, Any]]) -> bool:
        """Whether any question was asked more than once."""
        return any(isinstance(prediction["answer"], Mapping) for prediction in predictions)

    def expand_multi_inference_predictions(
        self, predictions: Sequence[Prediction]
    ) -> tuple[list[Prediction], dict[int, QuestionMapping]]:
        """A prediction for each reply, and by its place where it belongs.

        Those of repeated questions are copies with the id `<question_id>_inference_<k>`.
        """
        expanded: list[Prediction] = []
        mapping: dict[int, QuestionMapping] = {}
        for prediction in predictions:
            question_id, answer = prediction["question_id"], prediction["answer"]
            if not isinstance(answer, Mapping):
                mapping[len(expanded)] = QuestionMapping(question_id, False, 0, 1)
                expanded.append(prediction)
                continue
            for name, text in answer.items():
                number = int(name.rpartition("_")[2])
                mapping[len(expanded)] = QuestionMapping(question_id, True, number, len(answer))
                expanded.append({**prediction, "question_id": f"{question_id}_inference_{number}", "answer": text})
        return expanded, mapping

    def aggregate_multi_inference_results(
        self, expanded_predictions: Sequence[Prediction], question_mapping: Mapping[int, QuestionMapping]
    ) -> tuple[list[Prediction], dict[str, int]]:
        """The scored predictions put together by question again, and how many questions of either kind there are.

        `correct` of a repeated question is the mean; `aggregation_fields` become lists.
        """
        questions: dict[str, list[tuple[int, Prediction]]] = {}
        repeated = set()
        for place, prediction in enumerate(expanded_predictions):
            where = question_mapping[place]
            questions.setdefault(where.original_question_id, []).append((where.inference_index, prediction))
            if where.is_multi_inference:
                repeated.add(where.original_question_id)
        joined = [
            self._joined(question_id, [each for _, each in sorted(replies, key=lambda reply: reply[0])])
            if question_id in repeated
            else {**replies[0][1], "question_id": question_id}
            for question_id, replies in questions.items()
        ]
        return joined, {
            "single_inference_count": len(questions) - len(repeated),
            "multi_inference_count": len(repeated),
            "total_questions": len(questions),
        }

    def _joined(self, question_id: str, replies: Sequence[Prediction]) -> Prediction:
        scores = [reply["correct"] for reply in replies]
        lists = {
            field: [reply[field] for reply in replies if field in reply]
            for field in self.aggregation_fields
            if field in replies[0]
        }
        return {
            **replies[0],
            "question_id": question_id,
            "answer": {f"inference_{number}": reply["answer"] for number, reply in enumerate(replies)},
            "correct": fmean(scores),
            "inference_scores": scores,
            "num_inferences": len(replies),
            **lists,
        }

    def save(
        self, results: Mapping[str, Any], answers: Sequence[Prediction], dataset_name: str, output_dir: str | Path
    ) -> None:
        """Write `_result.json` and `_evaluated.json` of a data set into a folder."""
        paths = TaskPaths(Path(output_dir), safe_name(dataset_name))
        write_json(paths.result, results)
        write_records(paths.evaluated, answers)
