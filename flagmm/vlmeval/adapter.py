"""A patched class as a task: its messages are asked, and its `evaluate` scores a file of the predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from flagmm import __version__
from flagmm.config.dump import to_plain
from flagmm.config.env import prediction_format, splits_thinking
from flagmm.dataset.sample import Dataset
from flagmm.errors import ConfigError, UserCodeError
from flagmm.evaluator.aggregate import about_endings, as_dict, counts_of, what_is_missing
from flagmm.evaluator.answers import read_answers
from flagmm.evaluator.entries import scored_fields
from flagmm.evaluator.tallies import ReplyTally
from flagmm.jsonio import read_json, write_json, write_records
from flagmm.paths import TaskPaths, safe_name
from flagmm.prompt.vlmevalkit import parts_of_messages
from flagmm.registry import DATASETS, EVALUATORS
from flagmm.report.prediction_table import prediction_table
from flagmm.report.vlmevalkit_files import file_stem, write_predictions
from flagmm.types import Annotation, Message, Sample, TextPart
from flagmm.vlmeval.dataset import CLASSES
from flagmm.vlmeval.dataset.image_base import filled_cells

_UNNAMED = "model"
_IMAGE = "image"


@DATASETS.register_module()
class VlmevalClassDataset:
    """The rows of a table as a class of `flagmm.vlmeval.dataset` loads it and asks them.

    Args:
        name: the task's name in results.
        dataset: the table's name.
        class_name: of the class, or the class itself.
        allow_media_roots: folders that the table may name media in by `..` or a link.
        base_dir: not used.
    """

    kind = "vlmeval"

    def __init__(
        self,
        *,
        name: str,
        dataset: str,
        class_name: str | type,
        allow_media_roots: Sequence[str] = (),
        base_dir: str | None = None,
    ) -> None:
        self.name = name
        kind: Any = CLASSES[class_name] if isinstance(class_name, str) else class_name
        self.inner = kind(dataset=dataset)
        self.inner.allow_media_roots = tuple(allow_media_roots)
        self.columns = tuple(str(column) for column in self.inner.data.columns)

    def __len__(self) -> int:
        return len(self.inner.data)

    def __getitem__(self, index: int) -> dict[str, Any]:
        sample = self.build_sample(index)
        return {"question_id": sample.question_id, "question": sample.question, "type": sample.question_type}

    def build_sample(self, index: int) -> Sample:
        """The question number `index`, as `build_prompt` asks it.

        Raises:
            DataError: `build_prompt` gave something else than a list of messages.
        """
        messages = self.inner.build_prompt(self.inner.data.iloc[index])
        parts = parts_of_messages(messages)
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
        message = Message(role="user", content=parts)
        return Sample(question_id=self.question_id_at(index), question=text, question_type="open", messages=(message,))

    def question_id_at(self, index: int) -> str:
        return self._ids[index]

    def get_annotation(self) -> dict[str, Annotation]:
        """The rows by question id, pictures left out."""
        return {question_id: self._annotation(question_id) for question_id in self._ids}

    def table_row(self, question_id: str) -> dict[str, str]:
        """The filled cells of a row."""
        return filled_cells(self.inner.data.iloc[self._numbers[question_id]])

    def meta_info(self) -> dict[str, Any]:
        return {"name": self.name, "length": len(self), "type": self.kind}

    @cached_property
    def _ids(self) -> list[str]:
        return [str(index) for index in self.inner.data["index"]]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {question_id: number for number, question_id in enumerate(self._ids)}

    def _annotation(self, question_id: str) -> Annotation:
        record = {key: value for key, value in self.table_row(question_id).items() if key != _IMAGE}
        known = {"question": "", "answer": None, "question_type": "open"}
        return {**known, **record, "question_id": question_id}


@EVALUATORS.register_module()
class VlmevalClassEvaluator:
    """Hands a file of the predictions to the class's `evaluate`, and keeps the numbers that it returns as they are.

    A call that failed is a row whose prediction says so, so that scores are over all that were asked.

    Args:
        judge_kwargs: keywords for `evaluate`.
    """

    def __init__(self, *, judge_kwargs: Mapping[str, Any] | None = None) -> None:
        self.judge_kwargs = dict(judge_kwargs or {})

    def process(self, dataset: Dataset, output_dir: str | Path, **_: Any) -> dict[str, Any]:
        """Write the file beside the task's folder, score it, write `_evaluated.json` and `_result.json`.

        Raises:
            DataError: there are no answers.
            UserCodeError: `evaluate` returned no numbers.
        """
        if not isinstance(dataset, VlmevalClassDataset):
            raise ConfigError(
                f"evaluator: VlmevalClassEvaluator scores VlmevalClassDataset, not {type(dataset).__name__}"
            )
        paths = TaskPaths(Path(output_dir), safe_name(dataset.name))
        annotations = dataset.get_annotation()
        answers = read_answers(paths.answers, annotations)
        stem = paths.folder.parent / file_stem(_model_name(paths.config), dataset.name)
        table = prediction_table(dataset, answers, split_think=splits_thinking())
        written = write_predictions(stem, table, prediction_format())
        before = {path: path.stat().st_mtime_ns for path in _beside(stem)}
        records = _records(dataset.inner.evaluate(str(written[0].resolve()), **self.judge_kwargs))
        own = [path.name for path in _beside(stem) if before.get(path) != path.stat().st_mtime_ns]
        replies = ReplyTally(answers)
        counts = counts_of(replies, [], len(annotations))
        result: dict[str, Any] = {
            **records[0],
            "headline": next((key for key, value in records[0].items() if isinstance(value, int | float)), None),
            "over": "asked",
            "counts": as_dict(counts),
            **about_endings(replies),
            "report": {"kind": "vqa", "rows": records, "files": own},
            "evaluator": type(self).__name__,
            "eval_func": to_plain(dataset.inner.evaluate),
            "flagmm": __version__,
        }
        if partial := what_is_missing(replies, len(annotations), paths.config):
            result["partial"] = partial
        write_records(
            paths.evaluated,
            (
                answer.record | scored_fields(None, answer.annotation, answer.replies[0].text, scorable=False)
                for answer in answers
            ),
        )
        write_json(paths.result, result)
        return result


def _model_name(config: Path) -> str:
    """The name that the inference gave the model; a plain one where another tool asked it."""
    model = read_json(config).get("model", {}) if config.is_file() else {}
    return str(model.get("chat_name") or model.get("model_name") or _UNNAMED)


def _beside(stem: Path) -> Iterable[Path]:
    """The files of scores that belong to a file of predictions."""
    return [path for path in sorted(stem.parent.glob("*")) if path.name.startswith(f"{stem.name}_") and path.is_file()]


def _records(returned: Any) -> list[dict[str, Any]]:
    """What `evaluate` returned, a DataFrame or a dict, as rows."""
    if hasattr(returned, "to_dict") and hasattr(returned, "columns"):
        rows = returned.to_dict("records")
    else:
        rows = [returned] if isinstance(returned, Mapping) and returned else []
    if not rows:
        raise UserCodeError(f"evaluate: expected a DataFrame or a dict of scores, found {type(returned).__name__}")
    return [{str(key): _number(value) for key, value in row.items()} for row in rows]


def _number(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, list) and len(value) == 1:
        return _number(value[0])
    return None if isinstance(value, float) and not math.isfinite(value) else value
