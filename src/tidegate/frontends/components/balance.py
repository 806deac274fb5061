"""Whether components balance (front end of components: a tree with its equations goes in, silence or the part that is at fault comes out).

A component has as many equations as unknowns, when the flows and inputs that connections will determine are not counted (Modelica 3, section 4.7).
So a fault is told of the component that has it, and not of the thousand equations that it ends up in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tidegate.errors import Origin, StructureError
from tidegate.expressions import dependencies
from tidegate.frontends.components.connectors import Connector, Flow, Potential
from tidegate.frontends.components.declarations import UNSET, Algebraic, Input, Output
from tidegate.frontends.components.local_system import LocalSystem
from tidegate.frontends.components.part import Part, joined
from tidegate.model import Variable, VariableRole
from tidegate.names import listed, shortened
from tidegate.quick_dataclass import dataclass

__all__ = ["Node", "ends_of", "require_balance"]

_LOOSE: Final = " is not connected"


@dataclass(eq=False)
class Node:
    """One part of the tree.

    Parameters
    ----------
    part : placed.
    path : "" for the whole.
    system : what it says under full names; None for a connector.
    n_defined : how many elements its declarations define besides.
    first : number of the first of its equations in the whole.
    """

    part: Any
    path: str
    system: LocalSystem | None
    n_defined: int = 0
    first: int = 0

    @property
    def n_equations(self) -> int:
        """Of its own, without those of its parts."""
        return (0 if self.system is None else len(self.system.equalities)) + self.n_defined

    @property
    def loose(self) -> list[str]:
        """Connectors of its parts that are in no connection."""
        labels = [] if self.system is None else [item.label for item in self.system.equalities if item.label.endswith(_LOOSE)]
        return list(dict.fromkeys(label.split("since ")[1].removesuffix(_LOOSE) for label in labels))


_UNKNOWN: Final = (VariableRole.STATE, VariableRole.ALGEBRAIC)


def require_balance(nodes: Sequence[Node], variables: Sequence[Variable], name: str) -> None:
    """Refuse a component that has too many equations, or too few.

    Raises
    ------
    StructureError : naming the innermost component at fault, and what it has.
    """
    outputs = nodes[0].part.own_declarations().items()
    open_outputs = {own for own, declared in outputs if isinstance(declared, Output) and declared.value is UNSET}
    sizes = {item.name: item.size for item in variables if item.role in _UNKNOWN or (item.role is VariableRole.OUTPUT and item.name in open_outputs)}
    lacking: dict[str, int] = {}  # what a part leaves to the component around it
    for node in reversed(nodes):
        if node.system is None:
            continue
        own = [(joined(path, item), declared, part) for path, part in _own(node.part, node.path) for item, declared in part.declarations().items()]
        n_unknowns = sum(sizes.get(path, 0) for path, _, _ in own)
        n_left = sum(sizes.get(path, 0) for path, declared, _ in own if isinstance(declared, Flow | Input)) if node.path else 0
        n_inner = sum(lacking[joined(node.path, item)] for item, part in node.part.parts().items() if not isinstance(part, Connector))
        n_equations = node.n_equations
        lacking[node.path] = n_left
        if n_unknowns + n_inner != n_equations + n_left:
            raise _error(nodes, node, name, n_unknowns - n_left + n_inner)


def _own(part: Part, path: str) -> list[tuple[str, Part]]:
    """A component and its connectors, with paths."""
    found = [(path, part)]
    for own, inner in part.parts().items():
        if isinstance(inner, Connector):
            found += _own(inner, joined(path, own))
    return found


def ends_of(node: Node) -> list[tuple[str, Part]]:
    """The connectors of a component, and those in them, with paths."""
    return [(path, part) for path, part in _own(node.part, node.path) if isinstance(part, Connector)]


def _uneven(node: Node) -> str:
    """What is told of connectors that have not as many flows as potentials, for which no number of equations may be right."""
    found: list[str] = []
    for path, end in ends_of(node):
        sizes = dict.fromkeys((Flow, Potential), 0)
        for item in end.declarations().values():
            for kind in sizes:
                if isinstance(item, kind):
                    sizes[kind] += int(np.prod(item.shape_of(item.value), dtype=int))
        if sizes[Flow] != sizes[Potential]:
            said = " and ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in ((sizes[Potential], "potential"), (sizes[Flow], "flow")))
            found.append(f"; its connector {path} ({type(end).__name__}) has {said}, where as many of each are expected")
    return "".join(dict.fromkeys(found[:3]))


def _given_around(nodes: Sequence[Node], node: Node) -> list[str]:
    """Variables of a part, no inputs, that equations of the components around it name."""
    around = [
        other for other in nodes if other.system is not None and other is not node and (not other.path or node.path.startswith(f"{other.path}."))
    ]
    named = {
        symbol.data.name
        for other in around
        for item in (other.system.equalities if other.system is not None else ())
        if not item.label
        for symbol in dependencies(item.left, item.right)
    }
    own = [name for name, declared in node.part.declarations().items() if isinstance(declared, Algebraic)]
    return [name for name in own if joined(node.path, name) in named]


def _unused_ends(node: Node) -> list[tuple[str, str]]:
    """Own connectors of a part of which no equation of its own names anything, and a flow of each."""
    if node.system is None or not node.path:
        return []
    named = [symbol.data.name for item in node.system.equalities for symbol in dependencies(item.left, item.right)]
    flows = [(path, name) for path, part in ends_of(node) for name, item in part.declarations().items() if isinstance(item, Flow)]
    found = {path.removeprefix(f"{node.path}."): name for path, name in flows if not any(other.startswith(f"{path}.") for other in named)}
    return [*found.items()]


def _error(nodes: Sequence[Node], node: Node, name: str, n_wanted: int) -> StructureError:
    assert node.system is not None
    n_equations = node.n_equations
    kind = type(node.part).__name__
    what = f"{node.path} ({kind})" if node.path else name
    written = [item for item in node.system.equalities if not item.label]
    texts = [" ".join(item.origin.text.split()).removeprefix("yield ") for item in written]
    lines = "".join(f"\n  - {text}" for text in shortened(list(dict.fromkeys(texts)), 8))
    difference = n_wanted - n_equations
    fault = f"{abs(difference)} {'is' if abs(difference) == 1 else 'are'} {'missing' if difference > 0 else 'too many'}"
    where = f"; in no connection: {listed(node.loose)}" if difference > 0 and node.loose else ""
    counted = f"{n_equations} equation{'s' * (n_equations != 1)}"
    where += _uneven(node)
    hint = f"each variable of {kind} needs an equation; connections give those for its flows and inputs"
    given = _given_around(nodes, node) if difference > 0 else []
    unused = _unused_ends(node) if difference > 0 else []
    if unused and not given:
        ends, flows = zip(*unused, strict=True)
        hint = f"no equation of {kind} names {listed(ends)}: connect it inside, or say what flows there, `yield self.{ends[0]}.{flows[0]} == 0`"
    if given:
        hint = f"each variable of {kind} needs an equation in it; what the component around is to determine is a tg.InputSignal: {listed(given)}?"
    if difference < 0 and len(node.part.equation_methods()) > 1:
        hint = "those of base classes apply too: write @tg.replaces above `def equations` where they should not"
    return StructureError(
        f"{what} has {counted} where {n_wanted} {'is' if n_wanted == 1 else 'are'} needed, {fault}{where}{'; its own are' if lines else ''}{lines}",
        origin=replace(written[0].origin, text="") if written else Origin(path=what),
        hint=hint,
    )
