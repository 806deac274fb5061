"""Python text that is run as a module, and whose lines are found by whoever asks for the source of what it makes."""

from __future__ import annotations

import linecache
from typing import Any

__all__ = ["space_of"]


def space_of(text: str, name: str, **given: Any) -> dict[str, Any]:
    """The names of a module of this text and name, those given among them."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = dict(given)
    exec(compile(text, name, "exec"), space)
    return space
