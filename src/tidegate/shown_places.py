"""How a place in the user's source is named, in messages and tables. In: a file as Python names it, and a line; out: what the user would look for.

A file below the current folder is named from there. A notebook's cell, and what was typed in IPython, is named as IPython names it in tracebacks.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

__all__ = ["shown_file", "shown_frame", "shown_place"]


def shown_file(filename: str) -> str:
    """The file as the user would type it: relative to the current folder where it lies below that."""
    try:
        return _seen_from(str(Path.cwd()), filename)
    except FileNotFoundError:  # the current folder was deleted
        return filename


@functools.lru_cache(maxsize=256)
def _seen_from(folder: str, filename: str) -> str:
    path = Path(filename)
    if not path.is_absolute():
        return filename
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else filename


def shown_place(filename: str, line: int) -> str:
    """File and line, or cell and line; the file alone where there is no line.

    Parameters
    ----------
    filename : as Python names it; "" for none.
    line : counted from 1; 0 for none.
    """
    if not filename or not line:
        return shown_file(filename)
    return shown_frame(filename, line) if _cell(filename) else f"{shown_file(filename)}:{line}"


def shown_frame(filename: str, line: int | None) -> str:
    """A line of a traceback, as Python writes it."""
    return f"{_cell(filename) or filename}, line {line}"


def _cell(filename: str) -> str:
    """``Cell In[3]``, or "" for what is no cell of this session."""
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(ipython, "compile", None), "format_code_name", None)
    found = named(filename) if named is not None else None
    return " ".join(found) if found else ""
