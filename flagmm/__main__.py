"""`python -m flagmm` is the command `flagevalmm`."""

import sys

from flagmm.cli import main

if __name__ == "__main__":
    sys.exit(main())
