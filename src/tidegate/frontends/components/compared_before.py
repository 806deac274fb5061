"""What the functions of a class of components gave when they were compared with plain Python last (front end of components).

In: what one gives now. Out: at how many points it is to be compared: a few where that differs from what was compared in numbers only, as where a gain
in a closure has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tidegate.expressions import Expr
from tidegate.expressions.tracing import points_after

__all__ = ["compared_at", "note_compared"]

_kept: WeakKeyDictionary[type, dict[tuple[object, ...], Sequence[Expr]]] = WeakKeyDictionary()


def compared_at(component: object, function: Any, roots: Sequence[Expr]) -> int:
    """At how many points a function of a component is to be compared with these graphs."""
    return points_after(_kept.get(type(component), {}).get(_named(function)), roots)


def note_compared(component: object, function: Any, roots: Sequence[Expr]) -> None:
    """They agree."""
    _kept.setdefault(type(component), {})[_named(function)] = roots


def _named(function: Any) -> tuple[object, ...]:
    """What tells a function from others of its component; one that is told as another is compared with that one's graphs, at all points."""
    return getattr(function, "__qualname__", ""), getattr(function, "__code__", None)
