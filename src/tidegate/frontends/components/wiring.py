"""What a component connects (front end of components: an instance goes in, names of connectors that meet come out), for pictures of it."""

from __future__ import annotations

from typing import Any

from tidegate.expressions import as_expr
from tidegate.frontends.components.connectors import Connector
from tidegate.frontends.components.elements import flat, is_array
from tidegate.frontends.components.flatten import component_place
from tidegate.frontends.components.following import Follower
from tidegate.frontends.components.local_system import declarations_below, standing_alone
from tidegate.frontends.components.part import Part
from tidegate.frontends.components.part_array import PartArray
from tidegate.quick_dataclass import dataclass

__all__ = ["Node", "wiring"]


@dataclass(frozen=True, slots=True)
class Node:
    """Ends that meet.

    Parameters
    ----------
    ends : by path within the component.
    is_signal : whether one of them gives its value to the others.
    """

    ends: tuple[str, ...]
    is_signal: bool


def wiring(component: Any) -> list[Node]:
    """Everything that a component connects, ends that are joined by several connections together."""
    alone: Any = standing_alone(component)
    kind = type(component).__name__
    follower = Follower(alone, kind, declarations_below(alone))
    place = component_place(component, kind)
    for method in alone.equation_methods():
        follower.equations(method, place)
    groups: list[tuple[set[str], bool]] = []
    for connection in follower.connections:
        for group in _side_by_side(connection.ends):
            names = {_name(end): None for end in group}
            is_signal = not any(isinstance(end, Connector) for end in group)
            met = [item for item in groups if item[0] & names.keys() and item[1] == is_signal]
            groups = [item for item in groups if item not in met]
            groups.append((set(names).union(*(item[0] for item in met)), is_signal))
    order = list(follower.connections)
    ranks = {_name(end): k for k, end in enumerate(end for item in order for group in _side_by_side(item.ends) for end in group)}
    return [Node(tuple(sorted(names, key=ranks.__getitem__)), is_signal) for names, is_signal in groups]


def _side_by_side(ends: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Ends that meet; of arrays one group an element."""
    columns = [list(end.named("").values()) if isinstance(end, PartArray) else flat(end) if is_array(end) else [end] for end in ends]
    return list(zip(*columns, strict=True))


def _name(end: Any) -> str:
    if isinstance(end, Part):
        return end._path  # noqa: SLF001 - one package
    return repr(as_expr(end))
