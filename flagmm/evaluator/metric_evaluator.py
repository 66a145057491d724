"""MetricEvaluator: a benchmark whose rule is a known one needs no code; and the classes that fix one rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagmm.errors import ConfigError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric import build_metric
from flagmm.registry import EVALUATORS

MetricConfig = str | Mapping[str, Any]


@EVALUATORS.register_module()
class MetricEvaluator(BaseEvaluator):
    """Scores by metrics of the METRICS registry.

    Args:
        metrics: names, or dicts with a `type` and keywords; the first is the headline, and reads the answers that
            `_evaluated.json` shows.
        group_by: annotation fields; each of their values gets the headline's numbers.
    """

    def __init__(
        self, *, metrics: Sequence[MetricConfig] | MetricConfig, group_by: Sequence[str] | None = None, **settings: Any
    ) -> None:
        super().__init__(**{"detailed_keys": group_by, **settings})
        listed = [metrics] if isinstance(metrics, str | Mapping) else list(metrics)
        if not listed:
            raise ConfigError("metrics: name at least one metric")
        self.metrics = [build_metric(metric, where="evaluator: metrics") for metric in listed]


@EVALUATORS.register_module()
class VqaEvaluator(MetricEvaluator):
    """VQA accuracy; `variant="textvqa"` takes TextVQA's normaliser, `rule="careful"` normalises always."""

    def __init__(self, *, variant: str = "vqa", rule: str = "reference", **settings: Any) -> None:
        super().__init__(metrics={"type": "vqa_accuracy", "variant": variant, "rule": rule}, **settings)


@EVALUATORS.register_module()
class YesNoEvaluator(MetricEvaluator):
    """Accuracy, precision, recall, F1 and the share of "yes"; `reading` as of the metric `yes_no`."""

    def __init__(self, *, reading: str = "careful", **settings: Any) -> None:
        super().__init__(metrics={"type": "yes_no", "reading": reading}, **settings)
