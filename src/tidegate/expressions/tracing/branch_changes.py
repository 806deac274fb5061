"""What a branch changed: contents of mutable objects noted before their first change (stage: tracing the user's Python).

In: objects about to be changed while both branches of a symbolic `if` are followed. Out: their contents at the fork and at a branch's end, so
that the second branch starts where the first did. Contents are put back into the same objects, and so aliases stay
aliases. A view of an array is noted as the array that owns the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import field
from types import CellType
from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError
from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.value_kinds import is_array, is_collection, is_dict
from tidegate.expressions.tracing.vector import is_symbolic
from tidegate.quick_dataclass import dataclass

__all__ = ["EMPTY", "Content", "Contents", "Journal", "Namespace", "content", "have_one_order", "identities", "owner", "write"]


class Namespace(dict[str, Any]):
    """Local variables of one call, or of a module or an instance: names may be bound in one branch only."""


class _Empty:
    def __repr__(self) -> str:
        return "<unbound>"


EMPTY: Final = _Empty()
Content = Any
Contents = dict[int, tuple[Any, Content]]


def owner(place: Any) -> Any:
    """The object whose contents change when ``place`` is changed; None if nothing in it can be."""
    if isinstance(place, np.flatiter):
        return owner(place.base)  # pyright: ignore[reportUnknownMemberType]
    if is_array(place):
        found = place
        while is_array(found.base):
            found = found.base
        return found
    if isinstance(place, list | dict | set | deque | bytearray | CellType):
        return place  # pyright: ignore[reportUnknownVariableType] - user data of any type
    return None


def content(place: Any) -> Content:
    """A copy of what an object holds."""
    if isinstance(place, CellType):
        try:
            return place.cell_contents
        except ValueError:
            return EMPTY
    if is_dict(place):
        return dict(place)
    return place.copy()


def write(place: Any, value: Content) -> None:
    """Make an object hold what ``content`` returned."""
    if isinstance(place, CellType):
        if value is EMPTY:
            del place.cell_contents
        else:
            place.cell_contents = value
    elif is_dict(place):
        for key in [key for key in place if key not in value]:
            del place[key]
        place.update(value)
        if not have_one_order(place, value):
            for key in value:
                place[key] = place.pop(key)
    elif is_array(place):
        if place.dtype != object and is_symbolic(value):
            raise UntraceableError(
                f"an array of type {place.dtype} is changed under a condition that depends on symbols",
                hint="make the array inside the function, of floats: np.zeros(n), or np.array([0.0, *y])",
            )
        place[...] = value
    elif isinstance(place, list | bytearray):
        place[:] = value
    else:
        place.clear()
        place.update(value) if isinstance(place, set) else place.extend(value)


def have_one_order(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Whether the same keys stand in the same order; equality of different variables would ask what they will be."""
    return all(x is y or (not isinstance(x, Expr) and hash(x) == hash(y) and bool(x == y)) for x, y in zip(a, b, strict=True))


def identities(value: Content) -> list[int]:
    """Which objects a container holds; equality of expressions would build conditions."""
    if is_dict(value):
        return [id(part) for pair in value.items() for part in pair]
    if is_array(value):
        return [id(item) for item in value.ravel().tolist()] if value.dtype == object else [hash(value.tobytes())]
    items: Any = value
    is_filled = is_collection(value) or isinstance(value, deque)
    return [id(item) for item in items] if is_filled else [id(items)]


@dataclass(eq=False)
class Journal:
    """Objects changed since it was opened, with what they held then; objects made since are not its business."""

    touched: Contents = field(default_factory=Contents)
    created: dict[int, Any] = field(default_factory=dict[int, Any])

    def capture(self) -> Contents:
        """What every touched object holds now."""
        return {key: (place, content(place)) for key, (place, _) in self.touched.items()}

    def held(self) -> Contents:
        """What every object holds now that was touched or made: it may be changed after someone has left with it."""
        made = (owner(item) for item in self.created.values())
        return {id(place): (place, content(place)) for place in made if place is not None} | self.capture()

    def restore(self) -> None:
        """Put back what every touched object held when the journal was opened."""
        for place, before in self.touched.values():
            write(place, before)
