"""`predictions.jsonl`: the truth about what was asked, one line a call, only ever appended to."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from flagmm.errors import DataError
from flagmm.finish_reasons import read_finish_reason, status_by
from flagmm.inference.records import to_answer, to_line
from flagmm.jsonio import AtomicFile, dump_line, write_records, writing
from flagmm.output_files import open_plain
from flagmm.types import MediaIdentity, Prediction

logger = logging.getLogger(__name__)

_BLOCK = 1 << 20


_MOST_REPEATS = 10_000


class Entry(NamedTuple):
    """What a line says of its call."""

    status: str
    request: str
    media: tuple[MediaIdentity, ...]


class PredictionStore:
    """The predictions of one task on disk, and an index of them. Use it in a `with`.

    Other programs may remove, replace or cut the file meanwhile, which is seen before each line is added. What is
    known is then written again, under another name where something else has this one now; see `damage`.
    """

    def __init__(self, path: Path) -> None:
        self._path = self._place = path
        self._end = 0
        self._lost: set[tuple[int, str]] = set()
        # Repetition -> question id -> where its line begins; the rest is read when it is needed.
        self._offsets: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self._file: IO[bytes]
        self._appending: IO[bytes]

    def __enter__(self) -> PredictionStore:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        return self

    def _open(self) -> None:
        with ExitStack() as opened:
            # Without a buffer, whose rest would stand in the way once the disk is full.
            adding = open_plain(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            self._appending = opened.enter_context(open(adding, "ab", buffering=0))
            self._file = opened.enter_context(open(open_plain(self._path, os.O_RDONLY), "rb"))
            self._load()
            opened.pop_all()  # closed in __exit__

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
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

    def repetitions_of(self, question_id: str) -> list[int]:
        """The numbers of a question's calls that have a line."""
        return [number for number, offsets in self._offsets.items() if question_id in offsets]

    def question_ids(self) -> set[str]:
        """The ids of all questions that have a line."""
        return set().union(*self._offsets.values())

    @property
    def damage(self) -> str | None:
        """What another program did to the file, where a person has to see to it; None where all is well."""
        if self._path != self._place:
            return (
                f"{self._place}: something else took its place during the run, whose answers are in {self._path}; "
                "put this file in its place again, or add its lines there, and run again"
            )
        gone = sum(question_id not in self._offsets[number] for number, question_id in self._lost)
        if gone:
            return f"{self._place}: another program cut it during the run; {gone} answers are lost, run again for them"
        return None

    def holds_answers(self) -> bool:
        """Whether the model replied to any call: what failed holds nothing."""
        places = (place for offsets in self._offsets.values() for place in offsets.values())
        return any(_entry(self._read(place)).status != "failed" for place in places)

    def get(self, question_id: str, inference: int) -> Entry | None:
        """The last line for this call, if there is one."""
        offset = self._offset(question_id, inference)
        return None if offset is None else _entry(self._read(offset))

    def append(self, prediction: Prediction) -> None:
        """Add a line; after this call only a power failure can lose it.

        Raises:
            OutputError: there is no space for it; the lines before it stay as they are.
            DataError: another program wrote something else into the file.
        """
        self._check_file()
        offset, line = self._end, dump_line(to_line(prediction)).encode() + b"\n"
        self._write(line, offset)
        self._end += len(line)
        self._offsets[prediction.inference][prediction.question_id] = offset

    def _check_file(self) -> None:
        """See that the file is there as we left it, and write it again or read it again where it is not."""
        with writing(self._path):
            try:
                there = os.lstat(self._path)
            except FileNotFoundError:
                self._write_again(self._path)
                return
            if not os.path.samestat(there, os.fstat(self._file.fileno())):
                self._write_again(self._another_place())
            elif there.st_size != self._end:
                self._read_again()

    def _write_again(self, path: Path) -> None:
        """Write the file, which is open still but has its name no more, whole under this one, and go on there."""
        with AtomicFile(path, is_binary=True) as file:
            self._file.seek(0)
            shutil.copyfileobj(self._file, file)
        logger.warning("%s: removed or replaced during the run; its answers are in %s again", self._path, path)
        self._path = path
        self._read_again()

    def _read_again(self) -> None:
        known = {(number, question_id) for number, offsets in self._offsets.items() for question_id in offsets}
        before = self._end
        self._close()
        try:
            self._open()
        except DataError as error:  # what is to come goes elsewhere
            self._path = self._another_place()
            logger.warning("%s; answers are added to %s now", error, self._path)
            self._open()
        self._lost |= {(number, question_id) for number, question_id in known if not self._has(question_id, number)}
        if self._end != before:
            logger.warning("%s: changed by another program during the run, and read again", self._path)

    def _another_place(self) -> Path:
        return self._place.with_name(f"{self._place.stem}.kept-{os.getpid()}{self._place.suffix}")

    def _has(self, question_id: str, inference: int) -> bool:
        return self._offset(question_id, inference) is not None

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
        self._check_file()
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
        self._offsets.clear()
        offset, line = 0, b""
        for number, line in enumerate(self._file, start=1):
            if not self._take(line, offset):
                if self._file.readline():
                    raise DataError(f"{self._path}:{number}: not a prediction; remove this line, or use --overwrite")
                logger.warning("%s: the last line is torn and is left out", self._path)
                self._appending.truncate(offset)
                self._end = offset
                return
            offset += len(line)
        self._end = offset
        if offset and not line.endswith(b"\n"):
            self._write(b"\n", offset)
            self._end += 1

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


def count_lines(path: Path) -> int:
    """The lines of `predictions.jsonl`, of which some may be of one call."""
    return _count(path, b"\n")


def count_records(path: Path) -> int:
    """The entries of a `<task>.json` as `write_answers` writes it; no more than there are in any other layout."""
    return _count(path, b'\n{"question_id"')


def _count(path: Path, mark: bytes) -> int:
    found, rest = 0, b""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            found += (rest + block).count(mark)
            rest = (rest + block)[-(len(mark) - 1) :] if len(mark) > 1 else b""
    return found


def _entry(line: Mapping[str, Any]) -> Entry:
    media = tuple(_identity(item) for item in line.get("media") or ())
    reason = read_finish_reason(line.get("finish_reason"))
    return Entry(status_by(line["status"], reason), line["request"], media)


def _identity(values: Sequence[Any]) -> MediaIdentity:
    size, mtime_ns, digest = values
    return MediaIdentity(size=size, mtime_ns=mtime_ns, digest=digest)
