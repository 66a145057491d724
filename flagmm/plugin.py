"""Load a user's own Python file: process.py, evaluate.py, my_evaluator.py.

Each file is a module of its own whatever its name, and may import its neighbours; two tasks may each have a
`helpers.py` without meeting.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from flagmm.errors import ConfigError, FlagMMError, UserCodeError

_PREFIX = "flagmm_plugin_"
_PACKAGE = Path(__file__).resolve().parent


def load_file(path: Path) -> ModuleType:
    """Run the file and return it as a module.

    Raises:
        ConfigError: there is no such file, or it does not parse.
        UserCodeError: running it raised, or a package that it imports is not installed.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    name = f"{_PREFIX}{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    with user_code(f"loading {path}"):
        sys.modules[name] = module  # dataclasses and pickle look a class's module up there
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


def load_function(path: Path, name: str) -> Callable[..., Any]:
    """The function `name` of the file; `ConfigError` where it has none."""
    function = getattr(load_file(path), name, None)
    if not callable(function):
        raise ConfigError(f"{path}: defines no function {name!r}")
    return function  # type: ignore[no-any-return]  # a module attribute


@contextmanager
def imports_from(folder: Path) -> Iterator[None]:
    """Let code import the modules in `folder` by name meanwhile; they are forgotten afterwards."""
    entry, known = str(folder), set(sys.modules)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None)
            if file and folder in Path(file).parents and not name.startswith(_PREFIX):
                del sys.modules[name]


@contextmanager
def user_code(doing: str) -> Iterator[None]:
    """Turn whatever a task folder's own code raises into one line that names the file and line.

    Args:
        doing: what was going on, as in "tasks/x/process.py: process".
    """
    try:
        with kept_place(), kept_streams():
            yield
    except FlagMMError:
        raise
    except SyntaxError as error:
        if error.lineno is None or not Path(error.filename or "").is_file():  # of a text that the code itself parsed
            raise UserCodeError(f"{doing}: {describe(error)}") from error
        raise ConfigError(f"{error.filename}:{error.lineno}: syntax error: {error.msg}") from error
    except ModuleNotFoundError as error:
        raise UserCodeError(f"{doing}: needs the package {error.name!r}: pip install it and run again") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the boundary around user code; a script's exit() ends the script only
        raise UserCodeError(f"{doing}: {describe(error)}") from error


@contextmanager
def kept_place() -> Iterator[None]:
    """Come back to the working directory afterwards: relative paths of a run must not move with another's code."""
    here = os.getcwd()
    try:
        yield
    finally:
        os.chdir(here)


@contextmanager
def kept_streams() -> Iterator[None]:
    """Send what is printed meanwhile to stderr, as stdout is for results; code that closes either does no harm."""
    stream = _Kept(sys.stderr)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield


class _Kept(io.TextIOBase):
    """A stream that stays open when it is closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        with suppress(OSError):  # what is printed is for a person, who may have gone; no reason to lose a run
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def close(self) -> None:
        """Do nothing: the stream is not the code's own, and Python closes whatever it throws away."""

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute in typeshed
        return self._stream.encoding

    @property
    def buffer(self) -> Any:
        """Where programs write bytes."""
        return self._stream.buffer


def name_of(function: Callable[..., Any]) -> str:
    """What a person calls a function: its name with file and line, where it has them."""
    inner = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    code = getattr(inner, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


def describe(error: BaseException) -> str:
    """An exception as one line: its type, its text, and the line of a person's own file that led to it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    where = f" (at {frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"


def _is_own(filename: str) -> bool:
    path = Path(filename)
    library = "site-packages" in path.parts or str(path).startswith((sys.base_prefix, "<"))
    return not library and _PACKAGE not in path.parents
