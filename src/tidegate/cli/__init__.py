"""The command line (last stage). In go arguments, out come printed tables, files and an exit status.

Exit status: 0 all went well; 1 the run failed, or the result could not be written; 2 nothing was run, because a name, number, unit, file or model
is wrong; 130 Ctrl-C.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the console script ``tidegate``."""
    try:
        from tidegate.cli.app import app

        app(prog_name="tidegate")
    except KeyboardInterrupt:  # before there is anybody else to tell of it
        sys.stderr.write("interrupted\n")
        sys.exit(130)
