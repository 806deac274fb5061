"""What a block warns of, said at the line where the user has called tidegate."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from tidegate.errors import DSblockWarning

__all__ = ["said_once", "warn"]

_PACKAGE: Final = str(Path(__file__).parents[2])
_HELD: ContextVar[list[str] | None] = ContextVar("what a block has warned of in a trial", default=None)


def warn(sentence: str) -> None:
    """A ``DSblockWarning`` at the user's own line."""
    held = _HELD.get()
    if held is None:
        warnings.warn(sentence, DSblockWarning, skip_file_prefixes=(_PACKAGE,))
    else:
        held.append(sentence)


@contextmanager
def said_once() -> Generator[None]:
    """A trial of what the run will do again: what the block warns of in it is said only if the trial fails."""
    held: list[str] = []
    token = _HELD.set(held)
    try:
        yield
        held.clear()
    finally:
        _HELD.reset(token)
        for sentence in held:
            warn(sentence)
