"""The command `flagevalmm` (also `flagmm`): one module per command, `run` the default.

Modules here parse, call one function, print, and choose the exit status. Nothing outside the standard library is
imported before the arguments are parsed. `boundary.py` is what all commands have around their work.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Sequence

from flagmm.process import open_closed_streams

COMMANDS = {
    "check": "flagmm.cli.check",
    "compare": "flagmm.cli.compare",
    "eval": "flagmm.cli.eval",
    "score": "flagmm.cli.score",
    "vlmeval": "flagmm.cli.vlmeval",
}
"""The first argument that chooses a command -> its module, whose docstring begins with what `--help` says of it."""
_DEFAULT = "flagmm.cli.run"
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    # Runs hold many small objects that live to the end; looking for rubbish among them is a fifth of a short run.
    gc.set_threshold(100_000, 50, 100)
    open_closed_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    try:
        if name in COMMANDS:
            status: int = importlib.import_module(COMMANDS[name]).main(arguments[1:])
        else:
            status = importlib.import_module(_DEFAULT).main(arguments)
    except KeyboardInterrupt:  # before or after what `boundary.run_guarded` stands around
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
    finally:
        if argv is None:  # the process ends now; looking for rubbish a last time would take another tenth of a second
            gc.freeze()
    return status
