"""Where the user wrote something (front end of blocks: a call goes in, the file and line of the caller outside of tidegate come out)."""

from __future__ import annotations

import linecache
import sys

from tidegate.errors import Origin
from tidegate.expressions.tracing import shown_file

__all__ = ["written_at"]

_PACKAGE = "tidegate."


def written_at() -> Origin:
    """The place in the user's source that called into tidegate."""
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads every source file on the way
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(_PACKAGE):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Origin(file=shown_file(file), line=line, text=linecache.getline(file, line).strip())
