"""The command `flagevalmm` (also `flagmm`): one module per command, `run` the default.

Modules here parse, call one function, print, and choose the exit status. Nothing outside the standard library is
imported before the arguments are parsed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    from flagmm.cli.run import main as run

    return run(list(sys.argv[1:] if argv is None else argv))
