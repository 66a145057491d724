"""Questions that a model words itself, from the rows of the data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from flagmm.dataset.sample import Dataset, annotations_of, build_sample, indices_in, question_id_at
from flagmm.inference.session import ModelSession
from flagmm.plugin import user_code
from flagmm.prompt.vlmevalkit import parts_of_messages
from flagmm.types import ImagePart, MediaSource, Message, Sample, TextPart

_INDEX = "index"


@runtime_checkable
class WordsQuestions(Protocol):
    """A client whose model may have prompts of its own."""

    def words(self, dataset: str) -> bool:
        """Whether it has some for a data set."""

    def build_prompt(self, row: Mapping[str, Any], dataset: str, dump_image: Callable[..., list[str]]) -> Any:
        """A question as messages `dict(type=…, value=…)`."""


def worded_by(session: ModelSession, dataset: Dataset) -> Dataset:
    """The data set as it is, or with the questions of the model under test where it has its own.

    Raises:
        UserCodeError: the model's code raised.
    """
    model = session.model
    if not isinstance(model, WordsQuestions):
        return dataset
    with user_code(f"model_type {session.spec.model_type}: use_custom_prompt"):
        return OwnPrompts(dataset, model) if model.words(dataset.name) else dataset


class OwnPrompts:
    """The items of a data set, asked in a model's own words."""

    def __init__(self, inner: Dataset, model: WordsQuestions) -> None:
        self.name = inner.name
        self.strict = getattr(inner, "strict", False)
        self._inner = inner
        self._model = model
        self._annotations = annotations_of(inner)

    def __len__(self) -> int:
        return len(self._inner)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._inner[index]

    def get_annotation(self) -> Mapping[str, dict[str, Any]]:
        return self._annotations

    def question_id_at(self, index: int) -> str:
        return question_id_at(self._inner, index)

    def indices_in(self, limit: int | float | None) -> Any:
        return indices_in(self._inner, limit)

    def build_sample(self, index: int) -> Sample:
        """The question number `index`.

        Raises:
            DataError: the item is malformed, or `build_prompt` gave something else than messages.
        """
        sample = build_sample(self._inner, index)

        def dump_image(*_: Any, **__: Any) -> list[str]:
            parts = (part for message in sample.messages for part in message.content)
            return [_place(part.source) for part in parts if isinstance(part, ImagePart)]

        messages = self._model.build_prompt(self._row(sample.question_id), self.name, dump_image)
        content = parts_of_messages(messages)
        text = "".join(part.text for part in content if isinstance(part, TextPart))
        return replace(sample, question=text, messages=(Message(role="user", content=content),))

    def _row(self, question_id: str) -> dict[str, Any]:
        """The row's filled cells, `index` as a number where it is one."""
        table_row = getattr(self._inner, "table_row", None)
        row = dict(self._annotations[question_id] if table_row is None else table_row(question_id))
        index = str(row.get(_INDEX, question_id))
        return {**row, _INDEX: int(index) if index.isdecimal() and str(int(index)) == index else index}


def _place(source: MediaSource) -> str:
    """A picture's file or URL; bytes, which have neither, as a data URI."""
    if source.data is None:
        return source.path or source.url or ""
    import base64

    return f"data:image/png;base64,{base64.b64encode(source.data).decode()}"
