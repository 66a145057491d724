"""Evaluators of retrieval, and the one that joins several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flagmm import __version__
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.jsonio import AtomicFile, read_json, write_json
from flagmm.metrics.retrieval import score_retrieval
from flagmm.paths import TaskPaths, safe_name
from flagmm.registry import EVALUATORS, build
from flagmm.types import Annotation


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
        result |= {"headline": "mean_recall", "evaluator": type(self).__name__, "flagmm": __version__}
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
        shared = {"base_dir": self.base_dir} | ({"cluster_by": self.cluster_by} if self.cluster_by else {})
        self.evaluators = list(evaluators)
        self.parts: list[tuple[Any, Mapping[str, Any]]] = [
            (build(EVALUATORS, {**shared, **config}, where="evaluator: evaluators"), config) for config in evaluators
        ]
        """The evaluators with their configs."""

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """The joined result; `_evaluated.json` holds the fields that each evaluator added.

        Raises:
            FlagMMError: one of them failed; the files are as they were.
        """
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        with _all_or_nothing(paths.result, paths.evaluated):
            return self._join(dataset, paths, kwargs)

    def gold_reply(self, annotation: Annotation) -> str | None:
        first = self.parts[0][0]
        reply: str | None = first.gold_reply(annotation) if hasattr(first, "gold_reply") else None
        return reply

    def _join(self, dataset: Dataset, paths: TaskPaths, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, dict[str, Any]] = {}
        for evaluator, _ in self.parts:
            found, entries = self._part(evaluator, dataset, paths, kwargs)
            for key, value in found.items():
                result[key if key not in result else f"{type(evaluator).__name__}.{key}"] = value
            for entry in entries:
                known = merged.setdefault(str(entry["question_id"]), {})
                if "judge" in known.keys() & entry.keys():
                    known[f"{type(evaluator).__name__}.judge"] = entry["judge"]
                known |= {key: value for key, value in entry.items() if key not in known}
        result["evaluator"] = type(self).__name__
        self.save_results(dataset.name, list(merged.values()), result, paths.folder)
        return result

    @staticmethod
    def _part(evaluator: Any, dataset: Dataset, paths: TaskPaths, kwargs: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """What one evaluator found, and its entries; one of FlagEvalMM's kind writes into the answers instead."""
        if hasattr(evaluator, "process"):
            found = evaluator.process(dataset, paths.folder, **kwargs)
            return found, read_json(paths.evaluated) if paths.evaluated.exists() else []
        entries = read_json(paths.answers)
        found = evaluator.get_metric_results(
            output_info=entries,
            output_dir=str(paths.folder),
            annotations=dict(annotations_of(dataset)),
            dataset_name=dataset.name,
        )
        return found, entries

    def save_results(
        self, dataset_name: str, output_info: Sequence[dict[str, Any]], results: Mapping[str, Any], output_dir: Any
    ) -> None:
        """Write what was found of a data set, and its entries, into a folder."""
        self.save(results, output_info, dataset_name, output_dir)


@EVALUATORS.register_module()
class MultiInferenceEvaluator(BaseEvaluator):
    """As BaseEvaluator, which scores repeated questions, too; older task files name this class for them."""


@contextmanager
def _all_or_nothing(*paths: Path) -> Iterator[None]:
    """Put the files back as they were where what is done inside fails."""
    before = {path: path.read_bytes() if path.exists() else None for path in paths}
    try:
        yield
    except BaseException:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                with AtomicFile(path, is_binary=True) as file:
                    file.write(content)
        raise
