"""What every command has around its work: logging, errors as one line and an exit status, results to stdout."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

from flagmm.errors import FlagMMError, OutputError
from flagmm.printable import printable, printable_block

logger = logging.getLogger(__name__)

INTERRUPTED = 130
UNEXPECTED = 1


class CommandParser(argparse.ArgumentParser):
    """A parser whose complaints repeat no key, also where it was given to a flag that does not exist."""

    _given: Sequence[str] = ()

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_args(self._given, namespace)

    def error(self, message: str) -> NoReturn:
        from flagmm.config.redaction import hide_arguments

        super().error(printable(hide_arguments(message, self._given, known_flags=self._option_string_actions)))


def run_guarded(
    work: Callable[[list[str]], int], *, quiet: bool = False, debug: bool = False, interrupted: str = "interrupted"
) -> int:
    """Set up logging and do the work; the exit status is what it returns, or what its error stands for.

    Args:
        work: gets a list of secrets; what it adds to the list is left out of all log records.
        quiet: show warnings and errors only.
        debug: show details, and the traceback of an error.
        interrupted: what to say after Ctrl-C or SIGTERM.
    """
    from flagmm.cli.logs import one_line, set_up_logging
    from flagmm.memory import use_one_arena
    from flagmm.process import own_process

    use_one_arena()
    formatter = set_up_logging(quiet=quiet, debug=debug)
    try:
        signal.signal(signal.SIGTERM, _interrupt)
        with own_process():
            return work(formatter.secrets)
    except KeyboardInterrupt:
        logger.warning("%s", interrupted)
        return INTERRUPTED
    except FlagMMError as error:
        logger.error("%s", one_line(error), exc_info=debug)
        return error.exit_status
    except OSError as error:  # such as a results directory that cannot be written
        place = f"{error.filename}: " if error.filename else ""
        logger.error("%s%s", place, one_line(error.strerror or error), exc_info=debug)
        return FlagMMError.exit_status
    except BaseException as error:  # the last boundary: a fault of flagmm itself
        from flagmm.plugin import describe

        logger.error("unexpected %s; --debug shows the traceback", describe(error), exc_info=debug)
        return UNEXPECTED


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def write_result(text: str) -> None:
    """Write a result to stdout, in escapes what its encoding lacks; a reader that has gone (`| head`) is no error.

    URLs in it lose their passwords: those of pictures come from data.
    """
    from flagmm.config.secrets import mask_urls

    text = printable_block(mask_urls(text))
    stream = sys.stderr if sys.stdout.closed else sys.stdout  # a task's own code may have closed it
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        _forget(stream)
    except OSError as error:
        _forget(stream)
        raise OutputError(f"stdout: cannot be written: {error.strerror or error}") from error


def _forget(stream: TextIO) -> None:
    """Drop what a stream still holds, which Python would try to write once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
