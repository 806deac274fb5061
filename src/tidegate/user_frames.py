"""Which lines of a traceback are the user's own. In: an exception; out: frames, for the command line and for notebooks."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Final

__all__ = ["is_of_a_library", "user_frames"]

_PACKAGE: Final = Path(__file__).resolve().parent
_TYPED: Final = ("<ipython-input", "<stdin>", "<python-input")  # what somebody types has no file


def user_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of a traceback that are neither ours nor a library's, outermost first."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not is_of_a_library(frame.filename)]


def is_of_a_library(filename: str) -> bool:
    """Whether a file is ours, Python's, or a library's."""
    if filename.startswith("<"):
        return not filename.startswith(_TYPED)
    path = Path(filename).resolve()
    paths = sysconfig.get_paths()
    libraries = {_PACKAGE, *(Path(paths[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts"))}
    return any(path.is_relative_to(library) for library in libraries)
