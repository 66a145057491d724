"""Scoring: saved answers and annotations in, scores out; no model is asked and nothing is drawn at random.

`base_evaluator.py` is the flow that every evaluator shares: `answers.py` joins answers to questions, `rules.py` reads
and compares one answer (with `extraction.py`), `aggregate.py` makes the numbers, `user_code.py` runs a task's own.
"""

from flagmm.evaluator.base_evaluator import BaseEvaluator

__all__ = ["BaseEvaluator"]
