"""SampledDataset: a data set that makes whole samples, not items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from flagmm.types import Sample


class SampledDataset(ABC):
    """What a data set with messages of its own gives to task code, which knows items."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def build_sample(self, index: int) -> Sample:
        """The question number `index`, ready to be sent.

        Raises:
            DataError: the row is malformed; the message names file, line and column.
        """

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> dict[str, Any]:
        sample = self.build_sample(index)
        return {"question_id": sample.question_id, "question": sample.question, "type": sample.question_type}
