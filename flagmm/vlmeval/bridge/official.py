"""Run VLMEvalKit's own code: imported when first needed, and kept from changing this process.

Importing it takes some ten seconds and a gigabyte (torch), turns off the checks of TLS certificates, reads a `.env`
into the environment and sets up logging. All of that holds only while its own code runs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import os
import ssl
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagmm.config.redaction import environment_secrets, redact
from flagmm.errors import ConfigError, FlagMMError, MissingExtraError, UserCodeError
from flagmm.plugin import describe, kept_place
from flagmm.vlmeval.bridge.output import LineLogger, RedactedStream

logger = logging.getLogger(__name__)

_PACKAGE = "vlmeval"
_LMU = "LMUData"
_OLDEST_PYTHON = (3, 10)
_TLS = "_create_default_https_context"
_running = threading.RLock()  # its code meets one environment and one stdout, which are the process's


def is_installed() -> bool:
    """Whether VLMEvalKit can be imported; a folder of its name, which any place may have, is none."""
    spec = importlib.util.find_spec(_PACKAGE)
    return spec is not None and spec.origin is not None


def check_installed(*, python: tuple[int, int] = sys.version_info[:2]) -> None:
    """See that VLMEvalKit is there, without importing it.

    Raises:
        MissingExtraError: it is not installed.
        ConfigError: Python is too old for it.
    """
    if python < _OLDEST_PYTHON:
        found, needed = (".".join(map(str, version)) for version in (python, _OLDEST_PYTHON))
        raise ConfigError(f"VLMEvalKit needs Python {needed} or newer, and this is {found}")
    if not is_installed():
        raise MissingExtraError(_PACKAGE, "vlmeval", "scoring with VLMEvalKit")


def official(module: str, name: str) -> Any:
    """What VLMEvalKit's module calls by that name; to be used within `official_code`."""
    return getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)


@contextmanager
def official_code(
    data_root: Path, *, doing: str, secrets: Sequence[str] = (), warn_as: int = logging.INFO
) -> Iterator[None]:
    """Run VLMEvalKit's code with `LMUData` set; afterwards this process is what it was.

    What it prints goes to the log, and so do its warnings.

    Args:
        doing: what is going on, for errors.
        secrets: texts that its output must not show; keys in the environment are never shown.
        warn_as: level of its warnings in the log.

    Raises:
        UserCodeError: its code raised.
        ConfigError: it cannot be imported.
    """
    with ExitStack() as stack:
        stack.enter_context(_running)
        hidden = [*secrets, *environment_secrets()]
        stack.enter_context(_logging_kept())
        stack.enter_context(_log_instead(hidden, warn_as))
        stack.enter_context(kept_place())
        stack.enter_context(_environment_kept())
        stack.enter_context(_tls_kept())
        own = _imported()
        os.environ.update(own.environment)
        hidden += environment_secrets()
        os.environ[_LMU] = str(data_root)
        setattr(ssl, _TLS, own.https_context)
        try:
            yield
        except (FlagMMError, KeyboardInterrupt):
            raise
        except BaseException as error:  # another package's code, which may raise anything, exit() included
            raise UserCodeError(f"VLMEvalKit: {doing}: {redact(describe(error), hidden)}") from error


@dataclass(frozen=True)
class _Import:
    """What importing VLMEvalKit did to the process."""

    environment: Mapping[str, str]
    """Variables of its `.env`."""
    https_context: Any
    """What it makes TLS connections with."""


@functools.cache
def _imported() -> _Import:
    """Import it; what that changes is put back by the caller."""
    logger.info("importing VLMEvalKit, which takes a while")
    before = dict(os.environ)
    with _logging_kept():
        logging.disable(logging.CRITICAL)  # it logs as an error that there is no `.env`
        try:
            importlib.import_module("vlmeval.dataset")
        except ImportError as error:
            if isinstance(error, ModuleNotFoundError) and error.name == _PACKAGE:
                raise MissingExtraError(_PACKAGE, "vlmeval", "scoring with VLMEvalKit") from error
            raise ConfigError(
                f"VLMEvalKit is installed and cannot be imported: {describe(error)}; install what it lacks, as with "
                "pip install 'flagmm[vlmeval]'"
            ) from error
    changed = {name: value for name, value in os.environ.items() if before.get(name) != value}
    return _Import(environment=changed, https_context=getattr(ssl, _TLS))


@contextmanager
def _environment_kept() -> Iterator[None]:
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})


@contextmanager
def _tls_kept() -> Iterator[None]:
    before = getattr(ssl, _TLS)
    try:
        yield
    finally:
        setattr(ssl, _TLS, before)


@contextmanager
def _logging_kept() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, disabled = list(root.handlers), root.level, root.manager.disable
    try:
        yield
    finally:
        logging.disable(disabled)
        root.handlers[:] = handlers
        root.setLevel(level)


@contextmanager
def _log_instead(secrets: list[str], warn_as: int) -> Iterator[None]:
    """Send what is printed to the log, without the secrets, and what child processes print to stderr."""
    lines, errors = LineLogger(logger, secrets), RedactedStream(sys.stderr, secrets)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        logger.log(warn_as, "VLMEvalKit warns: %s", redact(" ".join(str(message).split()), secrets))

    def clean(record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), secrets), None
        return True

    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(clean)
    try:
        with warnings.catch_warnings(), redirect_stdout(lines), redirect_stderr(errors), _stdout_of_children():
            warnings.simplefilter("default")
            for kind in (ResourceWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                warnings.simplefilter("ignore", kind)  # for those who write it, not for those who run it
            warnings.showwarning = show
            yield
    finally:
        lines.close()
        for handler in handlers:
            handler.removeFilter(clean)


@contextmanager
def _stdout_of_children() -> Iterator[None]:
    """Let file descriptor 1, which child processes and C code print to, be stderr: stdout is for results."""
    try:
        kept = os.dup(1)
    except OSError:  # closed
        yield
        return
    try:
        with suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
