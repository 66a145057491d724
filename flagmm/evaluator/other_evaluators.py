"""Evaluators of open answers, captions and retrieval, and the one that joins several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.jsonio import read_json, write_json, write_records
from flagmm.metrics.retrieval import score_retrieval
from flagmm.paths import TaskPaths, safe_name
from flagmm.registry import EVALUATORS, build

_METHODS = ("extract_compare", "simpleqa")


@EVALUATORS.register_module()
class OpenEvaluator(MetricEvaluator):
    """Typed open answers by `answer_type`, reported by `tracker_type` and `tracker_subtype`; open_ended by a judge."""

    def __init__(self, *, tracker_type: str | None = None, tracker_subtype: str | None = None, **settings: Any) -> None:
        metric = {"type": "typed_open", "tracker_type": tracker_type, "tracker_subtype": tracker_subtype}
        super().__init__(metrics=metric, **settings)


@EVALUATORS.register_module()
class CocoEvaluator(MetricEvaluator):
    """BLEU, ROUGE-L and CIDEr of captions."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(metrics="coco_caption", **settings)


@EVALUATORS.register_module()
class ExtractEvaluator(BaseEvaluator):
    """Open answers that a judge compares with the reference.

    Args:
        eval_method: "extract_compare", or "simpleqa", which also tells answers that do not try from wrong ones.
    """

    needs_judge = True

    def __init__(self, *, eval_method: str = "extract_compare", **settings: Any) -> None:
        if eval_method not in _METHODS:
            raise ConfigError(f"eval_method: expected one of {', '.join(_METHODS)}, found {eval_method!r}")
        super().__init__(**settings)
        self.eval_method = eval_method


@EVALUATORS.register_module()
class RetrievalEvaluator(BaseEvaluator):
    """Recall at 1, 5 and 10 from the similarity matrix `<task>.npy` (images × captions) in the task's folder."""

    def __init__(self, *, captions_per_image: int = 1, **settings: Any) -> None:
        super().__init__(**settings)
        self._captions_per_image = captions_per_image

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """Score the matrix.

        Raises:
            DataError: it is missing, or of another shape.
        """
        import numpy as np

        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        matrix = paths.folder / f"{paths.name}.npy"
        if not matrix.is_file():
            raise DataError(f"{matrix}: no such file; it holds the similarity of each image to each caption")
        per_image = int(getattr(dataset, "caption_per_image", self._captions_per_image))
        similarity = np.load(matrix, allow_pickle=False)
        result: dict[str, Any] = {"mean_recall": None, **score_retrieval(similarity, captions_per_image=per_image)}
        result["evaluator"] = type(self).__name__
        write_json(paths.result, result)
        return result


@EVALUATORS.register_module()
class AggregationEvaluator(BaseEvaluator):
    """Runs several evaluators on the same answers and joins what they find.

    Args:
        evaluators: their configs; the first gives the headline. Metrics of the same name are told apart by the
            evaluator's name.
    """

    def __init__(self, *, evaluators: Sequence[Mapping[str, Any]], **settings: Any) -> None:
        super().__init__(**settings)
        if not evaluators:
            raise ConfigError("evaluators: name at least one evaluator")
        self._evaluators = [
            build(EVALUATORS, {"base_dir": self.base_dir, **config}, where="evaluators") for config in evaluators
        ]

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """The joined result; `_evaluated.json` holds the fields that each evaluator added."""
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        result: dict[str, Any] = {}
        merged: dict[str, dict[str, Any]] = {}
        for evaluator in self._evaluators:
            found = evaluator.process(dataset, output_dir, **kwargs)
            for key, value in found.items():
                result[key if key not in result else f"{type(evaluator).__name__}.{key}"] = value
            for entry in read_json(paths.evaluated) if paths.evaluated.exists() else []:
                known = merged.setdefault(str(entry["question_id"]), {})
                known |= {key: value for key, value in entry.items() if key not in known}
        result["evaluator"] = type(self).__name__
        write_records(paths.evaluated, merged.values())
        write_json(paths.result, result)
        return result
