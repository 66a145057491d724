"""TsvEvaluator: VLMEvalKit's scores for its tables, whatever kind of questions they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagmm.dataset.sample import Dataset
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.registry import EVALUATORS

_GROUP_COLUMN = "g_index"


@EVALUATORS.register_module()
class TsvEvaluator(MetricEvaluator):
    """Rules first; with a judge it reads the choices that they cannot, and weighs free answers; see `vlmevalkit`.

    Args:
        circular: a question is right only if all its copies with rolled options are; None leaves it to the data,
            which have copies where they have the column `g_index`.
        match: "exact" or "inclusion", for free answers.
        rule: "careful", or "reference" for VLMEvalKit's own reading, faults included.
        settings: keywords of `BaseEvaluator`.
    """

    judge_strategy = "auto"
    """What a judge does where the task does not say."""

    def __init__(
        self, *, circular: bool | None = None, match: str = "exact", rule: str = "careful", **settings: Any
    ) -> None:
        metric = {"type": "vlmevalkit", "circular": bool(circular), "match": match, "rule": rule}
        super().__init__(metrics=metric, **settings)
        self._circular = circular
        self._metric: Any = self.metrics[0]  # which a judge wraps

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        if self._circular is None:
            self._metric.use_circular(_GROUP_COLUMN in getattr(dataset, "columns", ()))
        return super().process(dataset, output_dir, **kwargs)
