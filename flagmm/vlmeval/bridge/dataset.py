"""VLMEvalKitDataset: an official data set of an installed VLMEvalKit, asked with its own prompts."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from flagmm.config.env import first_variable
from flagmm.config.secrets import secrets_in
from flagmm.dataset.compact import Annotations
from flagmm.dataset.sampled import SampledDataset
from flagmm.errors import ConfigError, DataError, UserCodeError
from flagmm.registry import DATASETS
from flagmm.types import Annotation, Message, Sample
from flagmm.vlmeval.bridge.messages import messages_of
from flagmm.vlmeval.bridge.official import check_installed, official, official_code

logger = logging.getLogger(__name__)

DEFAULT_ROOT = "data/vlmevalkit"
"""Of tables and pictures, in the working directory, where neither `data_root` nor `$LMUData` says."""
_IMAGE, _INDEX = "image", "index"
_TYPES = {"MCQ": "multiple-choice", "Y/N": "yes-no"}


@DATASETS.register_module()
class VLMEvalKitDataset(SampledDataset):
    """The questions of a data set that VLMEvalKit builds; each message comes from its `build_prompt`.

    Args:
        dataset_name: VLMEvalKit's name of it, such as "MMBench_DEV_EN", or that of a table in `data_root`.
        name: the task's name in results; `dataset_name` where not given.
        data_root: where VLMEvalKit keeps tables and pictures, made if it is not there; else `$LMUData`, else
            `data/vlmevalkit` in the working directory.
        dataset_kwargs: keywords for VLMEvalKit's `build_dataset`.
        sample_limit: take only so many questions, from the first.
        allow_media_roots: folders that relative paths of its table may lead into by `..` or a link.
        strict: a question that cannot be built ends the run before anything is asked.
        base_dir: not used, as paths are a person's.

    Attributes:
        inner: VLMEvalKit's own object.
        data_root: absolute.
        columns: of its table.

    Raises:
        MissingExtraError: VLMEvalKit is not installed.
        ConfigError: videos, several turns, or a limit that is none.
        DataError: there is no such data set, or its table lacks an `index`, or has one twice.
        UserCodeError: VLMEvalKit's own code raised.
    """

    kind = "vlmevalkit"

    def __init__(
        self,
        *,
        dataset_name: str,
        name: str | None = None,
        data_root: str | None = None,
        dataset_kwargs: Mapping[str, Any] | None = None,
        sample_limit: int | None = None,
        allow_media_roots: Sequence[str] = (),
        strict: bool = False,
        base_dir: str | None = None,
    ) -> None:
        if sample_limit is not None and sample_limit < 1:
            raise ConfigError(f"dataset: sample_limit: expected a number from 1, found {sample_limit!r}")
        check_installed()
        self.dataset_name = dataset_name
        self.name = name or dataset_name
        self.strict = strict
        self.allow_media_roots = tuple(allow_media_roots)
        self.sample_limit = sample_limit
        self.dataset_kwargs = dict(dataset_kwargs or {})
        self._secrets = secrets_in(self.dataset_kwargs)
        self.data_root = find_root(data_root)
        self.inner: Any = self._built()
        self._indices = _indices_of(self.inner, dataset_name)[:sample_limit]
        self.columns = tuple(str(column) for column in self.inner.data.columns)
        logger.info("%s: %d questions of VLMEvalKit, data in %s", self.name, len(self), self.data_root)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {**super().__getitem__(index), **self._recorded(index)}

    def build_sample(self, index: int) -> Sample:
        """The question number `index`, as the official `build_prompt` asks it.

        Raises:
            DataError: `build_prompt` raised, or gave something that cannot be sent.
        """
        messages = self._messages(index)
        return Sample(
            question_id=self.question_id_at(index),
            question="".join(message.text for message in messages if message.role == "user"),
            question_type=self._question_type,
            messages=messages,
        )

    def question_id_at(self, index: int) -> str:
        """The sample id, `<data set>:<index>`."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        return f"{self.dataset_name}:{self._indices[index]}"

    def get_annotation(self) -> Annotations:
        """The rows by sample id, made when they are looked up."""
        return Annotations(self._places, self._annotation)

    def table_row(self, question_id: str) -> dict[str, Any]:
        """The filled cells of a row, numbers as numbers, but for `image`."""
        row = self._row(self._places[question_id])
        return {key: value for key, value in row.items() if key != _IMAGE}

    def meta_info(self) -> dict[str, Any]:
        return {"name": self.name, "length": len(self), "type": self.kind}

    @property
    def _question_type(self) -> str:
        return next((ours for theirs, ours in _TYPES.items() if _type_of(self.inner).startswith(theirs)), "open")

    def _built(self) -> Any:
        with official_code(self.data_root, doing=f"building {self.dataset_name}", secrets=self._secrets):
            inner = official("dataset", "build_dataset")(self.dataset_name, **self.dataset_kwargs)
        if inner is None:
            raise DataError(
                f"dataset: dataset_name: VLMEvalKit has no data set {self.dataset_name!r}, and no table "
                f"{self.data_root / self.dataset_name}.tsv with a column 'question'"
            )
        _check_kind(inner, self.dataset_name)
        return inner

    def _messages(self, index: int) -> tuple[Message, ...]:
        folders = [Path(root) for root in (getattr(self.inner, "img_root", None),) if root]
        try:
            doing = f"build_prompt of {self.question_id_at(index)}"
            with official_code(self.data_root, doing=doing, secrets=self._secrets):
                prompt = self.inner.build_prompt(self.inner.data.iloc[index])
        except UserCodeError as error:
            raise DataError(str(error)) from error
        return messages_of(prompt, folders=[*folders, self.data_root], allowed=self.allow_media_roots)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {f"{self.dataset_name}:{index}": number for number, index in enumerate(self._indices)}

    def _row(self, index: int) -> dict[str, Any]:
        row = self.inner.data.iloc[index]
        return {str(key): _plain(value) for key, value in row.items() if _is_filled(value)}

    def _recorded(self, index: int) -> dict[str, Any]:
        """What goes into the records beside the question."""
        row = {key: value for key, value in self._row(index).items() if key != _IMAGE}
        sample_id = self.question_id_at(index)
        return {"sample_id": sample_id, "index": row.get(_INDEX), "answer": row.get("answer"), "raw_sample": row}

    def _annotation(self, index: int) -> Annotation:
        recorded = self._recorded(index)
        row = recorded["raw_sample"]
        options = {label: str(row[label]) for label in ascii_uppercase if label in row}
        answer = recorded["answer"]
        return {
            **row,
            **recorded,
            "question_id": recorded["sample_id"],
            "question": str(row.get("question", "")),
            "question_type": self._question_type,
            "answer": answer if answer is None or isinstance(answer, list) else str(answer),
            **({"options": list(options.values()), "option_labels": list(options)} if options else {}),
        }


def find_root(data_root: str | None) -> Path:
    """The absolute folder of VLMEvalKit's data, made if it is not there: VLMEvalKit goes elsewhere for one that is not.

    Raises:
        ConfigError: there is a file in its place, or it cannot be made.
    """
    root = Path(data_root or first_variable("LMUData") or DEFAULT_ROOT).expanduser().resolve()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"dataset: data_root: {root}: cannot be made: {error.strerror}") from error
    return root


def _check_kind(inner: Any, name: str) -> None:
    modality = str(getattr(inner, "MODALITY", "IMAGE")).upper()
    if modality == "VIDEO":
        raise ConfigError(
            f"dataset: dataset_name: {name!r} is one of videos, which the bridge does not ask; a table of videos runs "
            "as TsvVideoDataset"
        )
    if modality not in ("IMAGE", "TEXT"):
        raise ConfigError(f"dataset: dataset_name: {name!r} is of modality {modality}, which the bridge does not ask")
    if _type_of(inner) == "MT":
        raise ConfigError(f"dataset: dataset_name: {name!r} asks in several turns (TYPE MT), which the bridge does not")


def _type_of(inner: Any) -> str:
    return str(getattr(inner, "TYPE", "")).strip().upper()


def _indices_of(inner: Any, name: str) -> Sequence[str]:
    """The index cells as texts.

    Raises:
        DataError: there are none, or one is empty or there twice.
    """
    if _INDEX not in inner.data:
        raise DataError(f"{name}: the table has no column 'index'")
    indices = [str(value).strip() if _is_filled(value) else "" for value in inner.data[_INDEX]]
    places: dict[str, int] = {}
    for number, index in enumerate(indices):
        if not index:
            raise DataError(f"{name}: column 'index': row {number + 1} has none")
        if index in places:
            raise DataError(f"{name}: column 'index': {index!r} is in rows {places[index] + 1} and {number + 1}")
        places[index] = number
    return indices


def _is_filled(value: Any) -> bool:
    """Whether a cell holds something; an empty one is NaN, which equals nothing."""
    return value is not None and (isinstance(value, list | tuple | dict) or bool(value == value))


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
