"""The parts of a component and how they are connected (stage: pictures). In: a component; out: a scene, by the layout that block diagrams have.

That layout goes from left to right. What is connected by potentials and flows has no direction: of the ends that meet, the one whose part comes first
on a walk along the connections gives the line, and stands on the right of its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, cast

from tidegate.errors import UsageError
from tidegate.frontends.blocks.drawing import Drawing, DrawnNode, Edge
from tidegate.frontends.blocks.drawing.compose import compose
from tidegate.frontends.blocks.drawing.looks import Look, look_of
from tidegate.frontends.blocks.drawing.scene import Scene
from tidegate.frontends.components import Connector, Output
from tidegate.frontends.components.wiring import Node, wiring
from tidegate.pictures.icons import icon_of
from tidegate.quick_dataclass import dataclass

__all__ = ["connections_scene", "levels"]

_MOST: Final = 200  # parts of one picture


@dataclass(eq=False)
class _Drawn:
    """A part, or a connector of the component itself, and where its ends are."""

    label: str
    part: Any
    ends: dict[str, str] = field(default_factory=dict[str, str])  # full names, and how they are called inside the box
    left: list[str] = field(default_factory=list[str])
    right: list[str] = field(default_factory=list[str])

    @property
    def is_own(self) -> bool:
        """Whether it is no part."""
        return self.part is None


def levels(component: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The component and every part that is made of parts, with paths; parts of one class and structure once."""
    seen: set[Any] = set()
    waiting: list[tuple[str, Any]] = [(path, component)]
    while waiting:
        here, part = waiting.pop(0)
        inner = {name: item for name, item in _parts(part).items() if not isinstance(item, Connector)}
        kind: Any = part.__class__
        if not inner or kind in seen:
            continue
        seen.add(kind)
        yield here, part
        waiting += [(f"{here}.{name}" if here else name, item) for name, item in inner.items()]


def connections_scene(component: Any, title: str) -> Scene:
    """The picture of one component's parts and connections.

    Parameters
    ----------
    component : with parts; one without, but with connectors, is drawn as a part.
    title : above it.

    Raises
    ------
    UsageError : it has no parts and no connectors, or too many parts for a picture.
    """
    parts = {name: item for name, item in _parts(component).items() if not isinstance(item, Connector)}
    is_single = not parts and bool(_parts(component))
    if is_single:
        parts = {title: component}
    if not parts:
        raise UsageError(f"{title} has no parts that could be drawn", hint="draw its equations: picture('equations')")
    if len(parts) > _MOST:
        raise UsageError(f"{title} has {len(parts)} parts; a picture shows up to {_MOST}", hint="draw one of its parts: picture(part='cell[0]')")
    nodes = [] if is_single else wiring(component)
    drawn = {name: _Drawn(name, item) for name, item in parts.items()}
    owner = {end: _owner(end, drawn) for node in nodes for end in node.ends}
    for end, key in owner.items():
        drawn[key].ends[end] = _inside(end, key, drawn[key].part)
    for name, item in parts.items():  # loose ends are shown, too
        drawn[name].ends |= {f"{name}.{own}": _short(own) for own in _connectors(item) if not any(e.startswith(f"{name}.{own}") for e in owner)}
    rank = _ranks(drawn, nodes, owner)
    wires = [(given, end, node.is_signal) for node in nodes for given, end in _directed(node, rank, owner, drawn)]
    return compose(Drawing(*_nodes_and_edges(drawn, wires, owner), title))


def _parts(part: Any) -> Mapping[str, Any]:
    found: Any = getattr(part, "parts", None)
    return cast("dict[str, Any]", found()) if callable(found) and not isinstance(part, Connector) else {}


def _connectors(part: Any) -> list[str]:
    return [name for name, item in part.parts().items() if isinstance(item, Connector)]


def _owner(end: str, drawn: dict[str, _Drawn]) -> str:
    """The part that an end belongs to; an end of the component itself gets a place of its own."""
    heads = [end[:k] for k, letter in enumerate(end) if letter == "."]
    for head in reversed(heads):
        if head in drawn and not drawn[head].is_own:
            return head
    drawn.setdefault(f"connector {end}", _Drawn(end, None))
    return f"connector {end}"


def _short(name: str) -> str:
    return name.removeprefix("flange_").removeprefix("port_")


def _inside(end: str, key: str, part: Any) -> str:
    return "" if part is None else _short(end.removeprefix(f"{key}."))


def _ranks(drawn: Mapping[str, _Drawn], nodes: Sequence[Node], owner: Mapping[str, str]) -> dict[str, int]:
    """The order of a walk along the connections; what has one end only, a ground, comes last."""
    single = {key for key, item in drawn.items() if not item.is_own and len(item.ends) == 1}
    own = [key for key, item in drawn.items() if item.is_own]
    met = [[owner[end] for end in node.ends] for node in nodes if not node.is_signal]
    met = [keys for keys in met if not single.intersection(keys)] + [keys for keys in met if single.intersection(keys)]
    near: dict[str, list[str]] = {}
    for keys in met:
        if not single.intersection(keys):
            for key in keys:
                near.setdefault(key, []).extend(other for other in keys if other != key)
    order: list[str] = []
    for first in (*own[:1], *(key for key in drawn if key not in single and key not in own), *single, *own[1:]):
        waiting = [first]
        while waiting:
            key = waiting.pop(0)
            if key not in order:
                order.append(key)
                waiting += [other for other in near.get(key, ()) if other not in own[1:]]
    return {key: k for k, key in enumerate(order)}


def _directed(node: Node, rank: Mapping[str, int], owner: Mapping[str, str], drawn: Mapping[str, _Drawn]) -> Iterator[tuple[str, str]]:
    """From the end that gives the line to each of the others."""
    ends = [end for end in node.ends if end in owner]
    gives = [end for end in ends if _is_source(end, owner[end], drawn)] if node.is_signal else []
    first = gives[0] if gives else min(ends, key=lambda end: (rank[owner[end]], end))
    yield from ((first, end) for end in ends if end != first)


def _is_source(end: str, key: str, drawn: Mapping[str, _Drawn]) -> bool:
    part = drawn[key].part
    if part is None:
        return False
    declared = part.declarations().get(end.removeprefix(f"{key}.").partition("[")[0])
    return declared is None or isinstance(declared, Output) or declared.role.value != "input"


def _nodes_and_edges(
    drawn: Mapping[str, _Drawn], wires: Sequence[tuple[str, str, bool]], owner: Mapping[str, str]
) -> tuple[list[DrawnNode], list[Edge]]:
    for given, end, _ in wires:
        if given not in drawn[owner[given]].right:
            drawn[owner[given]].right.append(given)
        if end not in drawn[owner[end]].left:
            drawn[owner[end]].left.append(end)
    for item in drawn.values():
        places = {end: k for k, end in enumerate(_declared_order(item))}
        item.left += [end for end in item.ends if end not in item.left and end not in item.right]
        item.left.sort(key=lambda end: places.get(end, 0))
        item.right.sort(key=lambda end: places.get(end, 0))
    nodes = [_node(key, item) for key, item in drawn.items()]
    edges = [
        Edge(owner[a], drawn[owner[a]].right.index(a), owner[b], drawn[owner[b]].left.index(b), has_arrow=is_signal) for a, b, is_signal in wires
    ]
    return nodes, edges


def _declared_order(item: _Drawn) -> list[str]:
    if item.part is None:
        return []
    return [f"{item.label}.{name}" for name in (*item.part.parts(), *item.part.declarations())]


def _node(key: str, item: _Drawn) -> DrawnNode:
    if item.part is None:
        return DrawnNode(key, "Input", item.label, len(item.left), len(item.right), look=Look("pill", "○"))
    made: Any = item.part.__class__
    kind = made.__name__
    look = icon_of(made) or look_of(kind)
    if _parts(item.part) and any(not isinstance(inner, Connector) for inner in _parts(item.part).values()):
        look = Look("double box", kind)
    has_names = len(item.left) + len(item.right) > 1
    names = [tuple(item.ends[end] if has_names else "" for end in side) for side in (item.left, item.right)]
    return DrawnNode(key, kind, item.label, len(item.left), len(item.right), "", names[0], names[1], look)
