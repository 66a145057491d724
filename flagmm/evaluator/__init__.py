"""Scoring: saved answers and annotations in, scores out; nothing is drawn at random.

`base_evaluator.py` is the flow that every evaluator shares: `answers.py` joins answers to questions, a `Metric` scores
replies (`rules.py` by question type with `extraction.py`, the `metrics_of_*.py` as benchmarks do), `aggregate.py` makes
numbers, `entries.py` the record of each answer, `user_code.py` runs a task's own scoring.
A run's answers and verdicts are gone through as they are read; `judged_questions.py` keeps them in little memory, and
`tallies.py` counts them.
`judge.py` lets a model judge: `judge_cases.py` says which answers and how, `judge_prompts.py` and `judge_replies.py`
what is asked and read.
"""

from typing import Any

from flagmm import generation
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.coco_evaluator import CocoEvaluator
from flagmm.evaluator.extract_evaluator import ExtractEvaluator
from flagmm.evaluator.metric import Metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator, VqaEvaluator, YesNoEvaluator
from flagmm.evaluator.mmmu_dataset_evaluator import MmmuEvaluator
from flagmm.evaluator.open_evaluator import OpenEvaluator
from flagmm.evaluator.other_evaluators import AggregationEvaluator, MultiInferenceEvaluator, RetrievalEvaluator
from flagmm.evaluator.tsv_evaluator import TsvEvaluator
from flagmm.registry import EVALUATORS, METRICS

for _name in generation.EVALUATORS:
    EVALUATORS.register_module(name=_name, module=generation.class_named(_name, "evaluator"))

EVALUATORS.register_lazily(
    {
        "BoxEvaluator": "flagmm.evaluator.box_evaluator",
        "VLMEvalKitEvaluator": "flagmm.vlmeval.bridge.evaluator",
    }
)

METRICS.register_lazily(
    {
        "vqa_accuracy": "flagmm.evaluator.metrics_of_text",
        "anls": "flagmm.evaluator.metrics_of_text",
        "relaxed_accuracy": "flagmm.evaluator.metrics_of_text",
        "ocrbench": "flagmm.evaluator.metrics_of_text",
        "fill_blank": "flagmm.evaluator.metrics_of_text",
        "yes_no": "flagmm.evaluator.metrics_of_yes_no",
        "pope": "flagmm.evaluator.metrics_of_yes_no",
        "mme": "flagmm.evaluator.metrics_of_yes_no",
        "hallusionbench": "flagmm.evaluator.metrics_of_yes_no",
        "mmmu": "flagmm.evaluator.metrics_of_choice",
        "mmmu_pro": "flagmm.evaluator.metrics_of_choice",
        "mmmu_subjects": "flagmm.evaluator.metrics_of_choice",
        "multiple_response": "flagmm.evaluator.metrics_of_choice",
        "vlmevalkit_choice": "flagmm.evaluator.metrics_of_vlmevalkit",
        "vlmevalkit_mcq": "flagmm.evaluator.metrics_of_vlmevalkit",
        "vlmevalkit_yes_no": "flagmm.evaluator.metrics_of_vlmevalkit",
        "vlmevalkit_vqa": "flagmm.evaluator.metrics_of_vlmevalkit",
        "vlmevalkit": "flagmm.evaluator.metrics_of_vlmevalkit",
        "iou": "flagmm.evaluator.metrics_of_boxes",
        "point_in_mask": "flagmm.evaluator.metrics_of_grounding",
        "mean_relative_accuracy": "flagmm.evaluator.metrics_of_grounding",
        "math_equal": "flagmm.evaluator.metrics_of_text",
        "typed_open": "flagmm.evaluator.metrics_of_open",
        "general_vqa": "flagmm.evaluator.metrics_of_general",
        "general_vmcq": "flagmm.evaluator.metrics_of_general",
        "coco_caption": "flagmm.evaluator.metrics_of_open",
        "mathvista": "flagmm.evaluator.metrics_of_maths",
        "mathvision": "flagmm.evaluator.metrics_of_maths",
    }
)

__all__ = [
    "AggregationEvaluator",
    "BaseEvaluator",
    "CocoEvaluator",
    "ExtractEvaluator",
    "Metric",
    "MetricEvaluator",
    "MmmuEvaluator",
    "MultiInferenceEvaluator",
    "OpenEvaluator",
    "RetrievalEvaluator",
    "TsvEvaluator",
    "VqaEvaluator",
    "YesNoEvaluator",
]


def __getattr__(name: str) -> Any:
    return generation.class_named(name, "evaluator")
