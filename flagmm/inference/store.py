"""`predictions.jsonl`: the truth about what was asked, one line a call, only ever appended to."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from flagmm.errors import DataError
from flagmm.inference.records import to_answer, to_line
from flagmm.jsonio import dump_line, write_records
from flagmm.types import MediaIdentity, Prediction

logger = logging.getLogger(__name__)


class Entry(NamedTuple):
    """What is remembered of a line; the rest is read again when it is needed."""

    offset: int
    """Where its line begins, in bytes."""
    status: str
    request: str
    media: tuple[MediaIdentity, ...]


class PredictionStore:
    """The predictions of one task on disk, and an index of them. Use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: dict[tuple[str, int], Entry] = {}
        self._file: IO[bytes]

    def __enter__(self) -> PredictionStore:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._path, "a+b")  # closed in __exit__
        try:
            self._load()
        except DataError:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._index)

    def get(self, question_id: str, inference: int) -> Entry | None:
        """The last line for this call, if there is one."""
        return self._index.get((question_id, inference))

    def append(self, prediction: Prediction) -> None:
        """Add a line; after this call only a power failure can lose it."""
        offset = self._file.seek(0, 2)
        self._file.write(dump_line(to_line(prediction)).encode() + b"\n")
        self._file.flush()
        key = (prediction.question_id, prediction.inference)
        self._index[key] = Entry(offset, prediction.status, prediction.request, ())

    def write_answers(self, path: Path, question_ids: Iterable[str], repeats: int) -> None:
        """Write `<task>.json`: an entry for each question that has a line, in the order given."""
        write_records(path, self._answers(question_ids, repeats))

    def _answers(self, question_ids: Iterable[str], repeats: int) -> Iterator[dict[str, Any]]:
        for question_id in question_ids:
            entries = [self._index.get((question_id, number)) for number in range(repeats)]
            lines = [self._read(entry) for entry in entries if entry is not None]
            if lines:
                yield to_answer(lines, repeated=repeats > 1)

    def _read(self, entry: Entry) -> dict[str, Any]:
        self._file.seek(entry.offset)
        line: dict[str, Any] = json.loads(self._file.readline())
        return line

    def _load(self) -> None:
        self._file.seek(0)
        offset, line = 0, b""
        for number, line in enumerate(self._file, start=1):
            if not self._take(line, offset):
                if self._file.readline():
                    raise DataError(f"{self._path}:{number}: not a prediction; remove this line, or use --overwrite")
                logger.warning("%s: the last line is torn and is left out", self._path)
                self._file.truncate(offset)
                return
            offset += len(line)
        if offset and not line.endswith(b"\n"):
            self._file.write(b"\n")

    def _take(self, line: bytes, offset: int) -> bool:
        if not line.strip():
            return True
        try:
            values = json.loads(line)
            key = (values["question_id"], values.get("inference", 0))
            media = tuple(_identity(item) for item in values.get("media") or ())
            self._index[key] = Entry(offset, values["status"], values["request"], media)
        except (ValueError, KeyError, TypeError):
            return False
        return True


def _identity(values: Sequence[Any]) -> MediaIdentity:
    size, mtime_ns, digest = values
    return MediaIdentity(size=size, mtime_ns=mtime_ns, digest=digest)
