"""What equations yield beside equations: connections, parts that are switched, initial equations (front end of components).

Python says nothing of ``tg.connect(...)`` without ``yield``: it would be lost. So whatever is made while ``equations`` are followed is noted, and
what was not yielded in the end is told.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.frontends.components.class_body import class_names

__all__ = ["noted", "noted_statements"]

_noted: Final[ContextVar[list[Any] | None]] = ContextVar("noted", default=None)


def noted[T](statement: T, name: str, origin: Any) -> T:
    """A statement that has just been made.

    Parameters
    ----------
    statement : the same comes out.
    name : of the function that made it, as the user writes it.
    origin : where.

    Raises
    ------
    UsageError : in the body of a class, where it would be lost.
    """
    made = _noted.get()
    if made is not None:
        made.append((statement, name))
    elif class_names():
        raise UsageError(
            f"{name} stands in the body of a class, where it does nothing",
            origin=origin,
            hint=f"yield it in a method: def equations(self): yield {name}(...)",
        )
    return statement


@contextmanager
def noted_statements() -> Generator[list[tuple[Any, str]]]:
    """Those that are made while this lasts, each with the name of the function that made it."""
    token = _noted.set(made := [])
    try:
        yield made
    finally:
        _noted.reset(token)
