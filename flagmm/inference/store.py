"""`predictions.jsonl`: the truth about what was asked, one line a call, only ever appended to."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from flagmm.errors import DataError
from flagmm.inference.records import to_answer, to_line
from flagmm.jsonio import dump_line, write_records, writing
from flagmm.types import MediaIdentity, Prediction

logger = logging.getLogger(__name__)


_MOST_REPEATS = 10_000


class Entry(NamedTuple):
    """What a line says of its call."""

    status: str
    request: str
    media: tuple[MediaIdentity, ...]


class PredictionStore:
    """The predictions of one task on disk, and an index of them. Use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Repetition -> question id -> where its line begins; the rest is read when it is needed.
        self._offsets: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self._file: IO[bytes]
        self._appending: IO[bytes]

    def __enter__(self) -> PredictionStore:
        with ExitStack() as opened, writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Without a buffer, whose rest would stand in the way once the disk is full.
            self._appending = opened.enter_context(open(self._path, "ab", buffering=0))
            self._file = opened.enter_context(open(self._path, "rb"))
            self._load()
            opened.pop_all()  # closed in __exit__
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._appending.close()

    def __len__(self) -> int:
        return sum(map(len, self._offsets.values()))

    @property
    def repeats(self) -> int:
        """How often questions were asked."""
        return 1 + max(self._offsets, default=0)

    def has(self, question_id: str) -> bool:
        """Whether there is a line for any call of a question."""
        return any(question_id in offsets for offsets in self._offsets.values())

    def get(self, question_id: str, inference: int) -> Entry | None:
        """The last line for this call, if there is one."""
        offset = self._offset(question_id, inference)
        return None if offset is None else _entry(self._read(offset))

    def append(self, prediction: Prediction) -> None:
        """Add a line; after this call only a power failure can lose it.

        Raises:
            OutputError: there is no space for it; the lines before it stay as they are.
        """
        offset = self._appending.seek(0, 2)
        self._write(dump_line(to_line(prediction)).encode() + b"\n", offset)
        self._offsets[prediction.inference][prediction.question_id] = offset

    def _write(self, line: bytes, offset: int) -> None:
        with writing(self._path):
            try:
                while line:
                    line = line[self._appending.write(line) :]
            except OSError:
                self._appending.truncate(offset)  # no torn line
                raise

    def write_answers(self, path: Path, question_ids: Iterable[str], repeats: int) -> None:
        """Write `<task>.json`: an entry for each question that has a line, in the order given."""
        write_records(path, self._answers(question_ids, repeats))

    def _answers(self, question_ids: Iterable[str], repeats: int) -> Iterator[dict[str, Any]]:
        for question_id in question_ids:
            offsets = [self._offset(question_id, number) for number in range(repeats)]
            lines = [self._read(offset) for offset in offsets if offset is not None]
            if lines:
                yield to_answer(lines, repeated=repeats > 1)

    def _offset(self, question_id: str, inference: int) -> int | None:
        return self._offsets[inference].get(question_id) if inference in self._offsets else None

    def _read(self, offset: int) -> dict[str, Any]:
        self._file.seek(offset)
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
                self._appending.truncate(offset)
                return
            offset += len(line)
        if offset and not line.endswith(b"\n"):
            self._write(b"\n", offset)

    def _take(self, line: bytes, offset: int) -> bool:
        if not line.strip():
            return True
        try:
            values = json.loads(line)
            question_id, inference = values["question_id"], values.get("inference", 0)
            _entry(values)
            if not _is_entry(values, inference):
                return False
            self._offsets[inference][question_id] = offset
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        return True


def _is_entry(line: Mapping[str, Any], inference: Any) -> bool:
    """Whether a line is one of ours; those of a repetition that nobody asks for would have all before it looked for."""
    is_text = all(isinstance(line[key], str) for key in ("question_id", "status", "request"))
    return is_text and type(inference) is int and 0 <= inference < _MOST_REPEATS


def _entry(line: Mapping[str, Any]) -> Entry:
    media = tuple(_identity(item) for item in line.get("media") or ())
    return Entry(line["status"], line["request"], media)


def _identity(values: Sequence[Any]) -> MediaIdentity:
    size, mtime_ns, digest = values
    return MediaIdentity(size=size, mtime_ns=mtime_ns, digest=digest)
