"""Read JSON so that an error names the file and line; write whole files or none."""

from __future__ import annotations

import errno
import functools
import io
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from flagmm.errors import DataError, OutputError
from flagmm.lazy_regex import lazy_compile
from flagmm.output_files import create_temporary, temporary_path

_LONG_NUMBER = "a number of thousands of digits"  # which Python refuses to read


def read_json(path: Path | str) -> Any:
    """The value in a JSON file.

    Raises:
        DataError: the file is missing, unreadable, no UTF-8, or no JSON.
    """
    return parse_json(read_text(path), path)


def read_json_object(path: Path | str, *sections: str) -> dict[str, Any]:
    """The object in a JSON file, whose `sections`, where they are there and not null, are objects, too.

    Raises:
        DataError: as `read_json`, or for another kind of value; it names the key.
    """
    values = read_json(path)
    if not isinstance(values, dict):
        raise DataError(f"{path}: expected an object")
    for key in sections:
        if values.get(key) is not None and not isinstance(values[key], dict):
            raise DataError(f"{path}: {key}: expected an object, found {kind_of(values[key])}")
    return values


def open_to_read(path: Path | str) -> IO[bytes]:
    """A file whose content is wanted: a regular one, or a pipe that `is_given_pipe`.

    Raises:
        OSError: as of `open`; or something else has the name, such as a named pipe, where `open` might wait for ever.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "no file has a name with a NUL character", str(path)) from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode) and is_given_pipe(path):
        os.set_blocking(descriptor, True)
    elif not stat.S_ISREG(mode):
        os.close(descriptor)
        reason = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "no regular file"
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, reason, str(path))
    return open(descriptor, "rb")


def is_given_pipe(path: Path | str) -> bool:
    """Whether it is the name of a pipe that a shell has opened for this process, as for `--cfg <(…)` or `/dev/stdin`.

    >>> is_given_pipe("/dev/fd/63"), is_given_pipe("model.json")
    (True, False)
    """
    return str(path).startswith(_GIVEN_PIPES)


_GIVEN_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def read_text(path: Path | str) -> str:
    """The text of a UTF-8 file, a byte order mark left out; `DataError` where that fails."""
    with _opened(path) as file:
        return file.read()


def read_jsonl(path: Path | str) -> Iterator[tuple[int, Any]]:
    """The (line number, value) pairs of a JSON Lines file, blank lines left out.

    Raises:
        DataError: the file cannot be read, or a line is no JSON.
    """
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, parse_json(line, path, number)


def read_json_list(path: Path) -> Iterator[Any]:
    """The values of a JSON list, one after another, as far as they can be read without the whole file in memory.

    Raises:
        DataError: the file cannot be read, is not valid JSON, or holds no list.
    """
    count = 0
    with _opened(path) as file:
        for value in _listed_values(file):
            if value is _UNREADABLE:
                break
            yield value
            count += 1
        else:
            return
    whole = read_json(path)
    if not isinstance(whole, list):
        raise DataError(f"{path}: expected a list of items, found {kind_of(whole)}")
    yield from whole[count:]


def kind_of(value: Any) -> str:
    """What JSON calls the kind of a value, with its article."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


_UNREADABLE = object()
_PART = 1 << 16  # characters read at once
_BLANKS = " \t\n\r"
_blanks = lazy_compile(f"[{_BLANKS}]*")


def _listed_values(file: IO[str]) -> Iterator[Any]:
    """The values of a list with at least one; where the file goes on otherwise, `_UNREADABLE` instead."""
    decode, skip = json.JSONDecoder().raw_decode, _blanks.match
    text = file.read(_PART)
    place = skip(text).end()  # type: ignore[union-attr]  # it matches anywhere, here and below
    separator = text[place : place + 1]
    if separator != "[":
        yield _UNREADABLE
        return
    while separator != "]":
        start = place + 1
        try:
            value, place = decode(text, skip(text, start).end())  # type: ignore[union-attr]
            if text[place : place + 1] not in _ENDS:
                place = skip(text, place).end()  # type: ignore[union-attr]
            separator = text[place : place + 1]
        except (ValueError, RecursionError):
            separator = ""
        if separator in _ENDS:
            yield value
            continue
        more = file.read(max(_PART, len(text) - start))
        if not more:
            yield _UNREADABLE
            return
        text, place = text[start:] + more, -1
    if (text[place + 1 :] + file.read()).strip(_BLANKS):
        yield _UNREADABLE


_ENDS = (",", "]")


@contextmanager
def _opened(path: Path | str) -> Iterator[IO[str]]:
    """A UTF-8 file to be read, a byte order mark left out; `DataError` where that fails."""
    try:
        with io.TextIOWrapper(open_to_read(path), encoding="utf-8-sig") as file:
            yield file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def parse_json(
    text: str, path: Path | str, line: int | None = None, *, decode: Callable[[str], Any] = json.loads
) -> Any:
    """The value of a whole file's text, or of one line of it.

    Raises:
        DataError: `decode` finds no JSON.
    """
    place = path if line is None else f"{path}:{line}"
    try:
        return decode(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{line or error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except ValueError:
        raise DataError(f"{place}: {_LONG_NUMBER}") from None
    except RecursionError:
        raise DataError(f"{place}: nested too deeply") from None


def dump_line(value: Any) -> str:
    """`value` as JSON on one line; lone surrogates, which no file can hold, are escaped."""
    text = _dump(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = _dump(value, ensure_ascii=True)
    return text


@functools.cache  # making one takes as long as using it on a short record
def _encoder(ensure_ascii: bool, indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, default=plain, allow_nan=False)


def _dump(value: Any, *, ensure_ascii: bool, indent: int | None = None) -> str:
    """JSON text; NaN and infinity, which JSON does not know, become null."""
    try:
        return _encoder(ensure_ascii, indent).encode(value)
    except ValueError:
        readable = json.loads(json.dumps(value, default=plain), parse_constant=lambda _: None)
        return json.dumps(readable, ensure_ascii=ensure_ascii, indent=indent)


def plain(value: Any) -> Any:
    """What JSON holds for a value it does not know: lists for sets and arrays, numbers for numpy's, else its text."""
    to_list = getattr(value, "tolist", None)  # numpy scalars and arrays, tensors
    if callable(to_list):
        return to_list()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def write_json(path: Path, value: Any) -> None:
    """Write one indented JSON value, atomically."""
    write_text(path, _dump(value, ensure_ascii=False, indent=2) + "\n")


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write a JSON list with one record a line, atomically; records are pulled one by one."""
    with writing(path), writing_records(path) as write:
        for record in records:
            write(record)


@contextmanager
def writing_records(path: Path) -> Iterator[Callable[[Any], None]]:
    """The same for records that are made one by one: what is yielded writes a record.

    Raises:
        OutputError: a record cannot be written; what was there before stays.
    """
    separator = "\n"
    with AtomicFile(path, blames_body=False) as file:

        def write(record: Any) -> None:
            nonlocal separator
            text = separator + dump_line(record)
            try:
                file.write(text)
            except OSError as error:
                raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
            separator = ",\n"

        file.write("[")
        yield write
        with writing(path):
            file.write("\n]\n")


def remove_files(*files: Path) -> None:
    """Remove files, those that are not there left out.

    Raises:
        OutputError: one cannot be removed.
    """
    for file in files:
        with writing(file):
            file.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, atomically."""
    with AtomicFile(path) as file:
        file.write(text)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let what goes wrong with the file system meanwhile name the file or folder that is being written.

    Raises:
        OutputError: no space, no right, or something else of the system's.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


class AtomicFile:
    """A file, of text or of bytes, that appears under its name only when it is whole.

    It is not forced to the disk, which would take longer than scoring: whatever is written so can be made again.

    Args:
        blames_body: whether an OSError in the `with` is taken for one of this file.

    Raises:
        OutputError: it cannot be written; what was there before stays.
    """

    def __init__(self, path: Path, *, is_binary: bool = False, blames_body: bool = True) -> None:
        self._path = path
        self._blames_body = blames_body
        self._mode: dict[str, Any] = {"mode": "w", "encoding": "utf-8", "errors": "backslashreplace"}
        if is_binary:
            self._mode = {"mode": "wb"}

    def __enter__(self) -> Any:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._temporary = temporary_path(self._path)
            descriptor = create_temporary(self._temporary)
            self._file = open(descriptor, **self._mode)  # closed in __exit__
            self._lock = os.dup(descriptor)  # holds the lock beyond the file's closing, which tells a full disk
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            with writing(self._path):
                if isinstance(error, OSError) and self._blames_body:
                    raise error
                if kind is None:
                    self._put_in_place()
        finally:
            with suppress(OSError):  # what it still holds may find no space again
                self._file.close()
            self._temporary.unlink(missing_ok=True)
            os.close(self._lock)

    def _put_in_place(self) -> None:
        self._file.close()
        os.replace(self._temporary, self._path)
