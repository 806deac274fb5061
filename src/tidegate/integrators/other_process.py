"""Another process of this interpreter, which imports what this one does (stage: integrators). In: a program. Out: the process, at work."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import IO, Any

__all__ = ["other_process"]


def other_process(program: str, *arguments: str, says: int | IO[Any] = subprocess.DEVNULL, **environment: str) -> subprocess.Popen[bytes]:
    """Begin one that reads nothing.

    Parameters
    ----------
    program, arguments : its text, and what it finds in ``sys.argv``.
    says : where what it says goes.
    environment : beside that of this process.

    Raises
    ------
    OSError : there can be none.
    """
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    return subprocess.Popen(  # noqa: S603, this interpreter and a text of ours
        [sys.executable, "-c", program, *arguments], env=surroundings, stdin=subprocess.DEVNULL, stdout=says, stderr=says
    )
