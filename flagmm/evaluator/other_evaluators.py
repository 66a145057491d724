"""Evaluators of open answers, captions and retrieval, and the one that joins several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from flagmm import __version__
from flagmm.dataset.sample import Dataset, annotations_of
from flagmm.errors import ConfigError, DataError
from flagmm.evaluator.base_evaluator import BaseEvaluator
from flagmm.evaluator.metric import build_metric
from flagmm.evaluator.metric_evaluator import MetricEvaluator
from flagmm.evaluator.metrics_of_judge import JudgedAnswers, SimpleQaGrades
from flagmm.jsonio import AtomicFile, read_json, write_json
from flagmm.metrics.retrieval import score_retrieval
from flagmm.metrics.vqa_accuracy import normalize_vqa_answer
from flagmm.paths import TaskPaths, safe_name
from flagmm.registry import EVALUATORS, build
from flagmm.types import Annotation

JudgedMethod = Literal["extract_compare", "simpleqa"]

_METHODS = get_args(JudgedMethod)


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
        """The mark of `pred["answer"]`, from 0 to 1, by the item's `answer_type`; `raw_answer` keeps the reply.

        Raises:
            ValueError: the type has no rule, as "open_ended" answers have not.
        """
        pred["raw_answer"] = pred["answer"]
        metric = self.metrics[0]
        if not metric.can_score(gt):
            raise ValueError(f"answer_type {gt.get('answer_type')!r}: no rule scores it")
        return metric.score(pred["answer"], gt).correct or 0.0


@EVALUATORS.register_module()
class CocoEvaluator(MetricEvaluator):
    """VQA accuracy of short answers, as FlagEvalMM's class of this name; BLEU, ROUGE-L and CIDEr of captions.

    Args:
        captions: whether the references are captions; None goes by the questions' types, all of which then say
            "caption".
    """

    def __init__(self, *, captions: bool | None = None, **settings: Any) -> None:
        super().__init__(metrics=["vqa_accuracy"], **settings)
        self._captions = captions
        if captions is not None:
            self._measure(captions=captions)

    def process(self, dataset: Dataset, output_dir: str | Path, **kwargs: Any) -> dict[str, Any]:
        """As that of every evaluator."""
        if self._captions is None:
            self._measure(captions=_are_captions(annotations_of(dataset)))
        return super().process(dataset, output_dir, **kwargs)

    def preporcess_data(self, data: str) -> str:
        """An answer as answers are compared; the name is FlagEvalMM's."""
        return normalize_vqa_answer(data)

    def _measure(self, *, captions: bool) -> None:
        kind = "coco_caption" if captions else {"type": "vqa_accuracy", "rule": "careful"}
        metric = build_metric(kind, where="evaluator")
        if not captions:
            metric.name = "accuracy"  # as FlagEvalMM calls it
        self.metrics = [metric]
        if self.judge is not None:
            self.use_judge(self.judge)


def _are_captions(annotations: Mapping[str, Annotation]) -> bool:
    kinds = {str(annotation.get("question_type")) for annotation in annotations.values()}
    return bool(kinds) and all("caption" in kind for kind in kinds)


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
