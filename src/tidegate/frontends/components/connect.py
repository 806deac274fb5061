"""Connections (front end of components: connectors that meet go in, equations come out).

The connectors named by the ``connect`` statements of one component make connection sets: where two statements share a connector, their sets are one.
In a set potentials are equal, and flows add up to zero: those of parts count as they are, those of the component's own connectors with the
opposite sign, since what flows into the component flows out of its connector on the inner side. A part's connector in no set carries no flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, cast

import numpy as np

from tidegate.errors import ModelError, Origin, UsageError
from tidegate.expressions import ZERO, Expr, Role, as_expr
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.conditional import Absent
from tidegate.frontends.components.connectors import Connector, Flow, Potential
from tidegate.frontends.components.declarations import Declaration, Input, Output
from tidegate.frontends.components.elements import flat, is_array
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.part import Part, joined
from tidegate.frontends.components.part_array import PartArray
from tidegate.frontends.components.statements import noted
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.units import parse
from tidegate.wrong_calls import explained

__all__ = ["Connection", "connect", "connection_equalities", "no_flow"]


_NO_CONNECTOR: Final = "it has none; what parts are connected by is a class of its own: class {}(tg.Connector), with tg.Potential and tg.Flow"


@dataclass(frozen=True, eq=False)
class Connection:
    """What ``tg.connect`` gives: to be yielded among the equations.

    Parameters
    ----------
    ends : connectors, or signals, one for one; what is not there (``tg.conditional``) counts for nothing.
    origin : where it was written.
    """

    ends: tuple[Any, ...]
    origin: Origin = field(default_factory=Origin)

    def __repr__(self) -> str:
        return f"tg.connect({', '.join(map(repr, self.ends))})"

    def __bool__(self) -> bool:
        raise UsageError("a connection is neither true nor false", origin=self.origin, hint="yield tg.connect(...) among the equations")


@explained
def connect(*ends: Any) -> Connection:
    """Connect connectors, or signals; to be yielded by ``equations``.

    Parameters
    ----------
    ends : two or more connectors of one class, arrays of them of one shape, or signals (``tg.InputSignal``, ``tg.OutputSignal``).

    Raises
    ------
    UsageError : for fewer than two, or for what is no connector.

    Examples
    --------
    >>> class Pin(Connector):
    ...     v, i = Potential(unit="V"), Flow(unit="A")
    >>> from tidegate.frontends.components import Component
    >>> class Wire(Component):
    ...     p, n = Pin(), Pin()
    ...     def equations(self):
    ...         yield connect(self.p, self.n)
    >>> Wire().lower().equations[0].label
    'connect(p, n): p.v == n.v'
    """
    place = written_at()
    gathered = [type(cast("Any", item)).__name__ for item in ends if isinstance(item, list | tuple | dict | set)]
    if gathered:
        raise UsageError(
            f"tg.connect is given a {gathered[0]}; connectors are expected",
            origin=place,
            hint="write tg.connect(*connectors), with a star",
        )
    if len(ends) < 2:
        raise UsageError(f"tg.connect is given {len(ends)} connector{'s' * (len(ends) != 1)}; two or more are expected", origin=place)
    for given in ends:
        several = list(given.named("").values()) if isinstance(given, PartArray) else []
        item = several[0] if several else given
        if isinstance(item, Part) and not isinstance(item, Connector):
            known = [name for name, part in item.parts().items() if isinstance(part, Connector)]
            name = item._path or type(item).__name__  # noqa: SLF001 - one package
            signals = [f"self.{name}.{own}" for own in item._signals()]  # noqa: SLF001 - one package
            hint = f"it has signals: {listed(signals, 8)}" if signals else _NO_CONNECTOR.format(type(item).__name__)
            if known:
                hint = f"it has {listed(known, 8)}: write {'' if several else 'self.'}{name}.{known[0]}"
            raise UsageError(f"{name} is a component; a connector is expected", origin=place, hint=hint)
        if not isinstance(item, Connector | PartArray | Absent | Expr | np.ndarray | float | int):
            raise UsageError(
                f"tg.connect is given {item!r}; a connector is expected", origin=place, hint="write e.g. tg.connect(self.R1.p, self.C.p)"
            )
    return noted(Connection(ends, place), "tg.connect", place)


def _is_own(end: Connector) -> bool:
    """Whether it belongs to the component itself whose equations are read, and not to a part of it."""
    outer = _component_of(end)
    return outer is None or not vars(outer).get("_place", "")


def _component_of(end: Connector) -> Any:
    """The component that a connector belongs to."""
    outer: Any = end
    while isinstance(outer, Connector):
        outer = cast("Any", vars(outer).get("_outer"))
    return outer


@dataclass(frozen=True, eq=False)
class _Quantity:
    """One variable of a connector."""

    name: str
    declaration: Declaration
    elements: tuple[Expr, ...]


def _quantities(end: Connector, within: str = "") -> Iterator[_Quantity]:
    """Variables of a connector and of connectors in it, by names within it."""
    for name, declaration in end._own_declarations().items():  # noqa: SLF001 - one package
        if isinstance(declaration, Potential | Flow | Input | Output):
            yield _Quantity(joined(within, name), declaration, tuple(map(as_expr, flat(getattr(end, name)))))
    for name, inner in end.parts().items():
        if isinstance(inner, Connector):
            yield from _quantities(inner, joined(within, name))


class _Quantities:
    """Variables of connectors by name, looked up once for all connections of a component."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, _Quantity]] = {}

    def of(self, end: Connector) -> dict[str, _Quantity]:
        path = end._path  # noqa: SLF001 - one package
        if path not in self._known:
            self._known[path] = {item.name: item for item in _quantities(end)}
        return self._known[path]


def connection_equalities(
    connections: Sequence[Connection], inner: Mapping[str, Connector], signals: Mapping[Expr, tuple[Declaration, bool]], what: str, whole: Part
) -> list[Equality]:
    """The equations of one component's connections.

    Parameters
    ----------
    connections : as they were yielded.
    inner : connectors of its parts, by path; those in no connection carry no flow.
    signals : symbols of signals, each with its declaration and whether it belongs to a part.
    what : the name of the component.
    whole : the component.

    Raises
    ------
    ModelError : for ends that do not fit, naming both.
    """
    ends: dict[str, Connector] = {}
    places: dict[str, Origin] = {}
    follows: dict[str, str] = {}
    left: dict[str, Connector] = {}  # own connectors that meet only what is not there
    found: list[Equality] = []
    quantities = _Quantities()

    def end_of(path: str) -> str:
        while follows.setdefault(path, path) != path:
            follows[path] = follows[follows[path]]
            path = follows[path]
        return path

    for connection in connections:
        for several in _side_by_side(connection):
            group = tuple(item for item in several if not isinstance(item, Absent))
            if len(group) < min(len(several), 2):  # what is not there takes its connections away
                left.update({end._path: end for end in group if isinstance(end, Connector) and _is_own(end)})  # noqa: SLF001 - one package
                continue
            if not isinstance(group[0], Connector):
                found += _signal_equalities(group, signals, connection.origin)
                continue
            first: Connector = group[0]
            for end in group:
                _require_near(end, what, whole, connection.origin)
            for other in group[1:]:
                _require_fit(first, other, connection.origin, quantities)
            for end in group:
                path = end._path  # noqa: SLF001 - one package
                ends[path] = end
                places.setdefault(path, connection.origin)
                follows[end_of(path)] = end_of(first._path)  # noqa: SLF001
    sets: dict[str, list[Connector]] = {}
    for path, end in ends.items():
        sets.setdefault(end_of(path), []).append(end)
    for members in sets.values():
        found += _set_equalities(members, places[members[0]._path], quantities)  # noqa: SLF001
    for path, end in (*inner.items(), *left.items()):
        if path not in ends:
            found += no_flow(end)
    return found


def _side_by_side(connection: Connection) -> Iterator[tuple[Any, ...]]:
    """Ends that meet; of arrays one group an element."""
    ends = [item for item in connection.ends if not isinstance(item, Absent)]
    if not any(isinstance(item, PartArray) for item in ends):
        yield connection.ends
        return
    if len(ends) < 2:
        return
    shapes = [item.shape if isinstance(item, PartArray) else () for item in ends]
    if len(set(shapes)) != 1:
        named = " and ".join(f"{item!r} of the shape {shape}" for item, shape in zip(ends, shapes, strict=True))
        array = next(item for item in ends if isinstance(item, PartArray))
        hint = f"to connect all of them with one: tg.connect(*self.{array.common_name}, ...), with a star"
        raise ModelError(f"arrays of different shapes are connected: {named}", origin=connection.origin, hint=hint if () in shapes else "")
    yield from zip(*(item.named("").values() for item in ends), strict=True)


def _require_near(end: Any, what: str, whole: Part, origin: Origin) -> None:
    """A connector of a part of a part belongs to that part's inside; one of something that is no part at all is lost."""
    if not isinstance(end, Connector):
        return
    outer = _component_of(end)
    top: Any = cast("Any", end)
    while (next_one := getattr(top, "_outer", None)) is not None:
        top = next_one
    if top is not whole:
        kind = type(top).__name__
        path = "" if top is end else f".{end._path}"  # noqa: SLF001 - one package
        raise ModelError(
            f"{what} connects {end!r}, which belongs to no part of {what}",
            origin=origin,
            hint=f"make the {kind} an attribute of the class, `{kind.lower()} = {kind}(...)`, and write self.{kind.lower()}{path}",
        )
    around = None if outer is None else cast("Any", vars(outer).get("_outer"))
    near = "" if around is None else cast("str", vars(around).get("_place", ""))
    if near:
        raise ModelError(
            f"{what} connects {end._path}, which is inside {near}",  # noqa: SLF001
            origin=origin,
            hint=f"give {type(around).__name__} a connector of its own, connect it there, and connect {near}.<connector> here",
        )


def _require_fit(first: Any, other: Any, origin: Origin, quantities: _Quantities) -> None:
    if not isinstance(other, Connector):
        raise ModelError(
            f"{first._path} is a connector, {other!r} is none",  # noqa: SLF001
            origin=origin,
            hint="connect connectors with connectors and signals with signals; a single variable of a connector is set by an equation",
        )
    if first is other or first._path == other._path:  # noqa: SLF001
        raise ModelError(f"{first._path} is connected with itself", origin=origin)  # noqa: SLF001
    mine, its = quantities.of(first), quantities.of(other)
    pair = f"{first._path} ({type(first).__name__}) and {other._path} ({type(other).__name__})"  # noqa: SLF001
    if mine.keys() != its.keys() or any(_meets(mine[name]) is not _meets(its[name]) for name in mine):
        raise ModelError(
            f"{pair} do not fit: one has {listed(mine, 8)}, the other {listed(its, 8)}", origin=origin, hint="connect connectors of one class"
        )
    for name, item in mine.items():
        if len(item.elements) != len(its[name].elements):
            sizes = f"{len(item.elements)} elements in one, {len(its[name].elements)} in the other"
            raise ModelError(f"{pair} do not fit: {name} has {sizes}", origin=origin)
        _require_units(item, its[name], f"{pair} do not fit: {name}", origin)


def _meets(item: _Quantity) -> type:
    """What a variable of a connector meets: a potential, a flow, or a signal of either direction."""
    return next((kind for kind in (Potential, Flow) if isinstance(item.declaration, kind)), Input)


def _require_units(mine: _Quantity, its: _Quantity, what: str, origin: Origin) -> None:
    one, two = mine.declaration.unit, its.declaration.unit
    if one and two and one != two:
        a, b = parse(one), parse(two)
        if a.dimension != b.dimension or a.factor != b.factor or a.offset != b.offset:
            raise ModelError(f"{what} has the unit {one} in one and {two} in the other", origin=origin, hint="convert between them in a component")


def _set_equalities(members: Sequence[Connector], origin: Origin, quantities: _Quantities) -> list[Equality]:
    """Of one connection set: potentials equal, flows adding up to zero."""
    names = [end._path for end in members]  # noqa: SLF001
    what = f"connect({listed(names, 6)})"
    columns = [quantities.of(end) for end in members]
    found: list[Equality] = []
    for name in columns[0]:
        several = [own[name] for own in columns]
        if isinstance(several[0].declaration, Potential):
            found += [
                Equality(a, b, origin, f"{what}: {a!r} == {b!r}")
                for other in several[1:]
                for a, b in zip(several[0].elements, other.elements, strict=True)
            ]
        elif isinstance(several[0].declaration, Flow):
            for flows in zip(*(item.elements for item in several), strict=True):
                total = _total([-flow if _is_own(end) else flow for end, flow in zip(members, flows, strict=True)])
                found.append(Equality(total, ZERO, origin, f"{what}: {total!r} == 0"))
        else:
            gives = [isinstance(item.declaration, Output) is not _is_own(end) for end, item in zip(members, several, strict=True)]
            for items in zip(*(item.elements for item in several), strict=True):
                source = _source(items, gives, listed([repr(item) for item in items], 6), origin)
                found += [Equality(item, source, origin, f"{what}: {item!r} == {source!r}") for item in items if item is not source]
    return found


def _source(items: Sequence[Expr], gives: Sequence[bool], names: str, origin: Origin) -> Expr:
    """Of signals that meet in a connection the one that gives its value to the others."""
    givers = [item for item, is_source in zip(items, gives, strict=True) if is_source]
    if len(givers) != 1:
        given = f"{listed([repr(item) for item in givers], 6)} give a value" if givers else "none of them gives a value"
        raise ModelError(
            f"connect({names}) has no single source: {given}",
            origin=origin,
            hint="connect one output of a part, or one input of the component around, with inputs of parts",
        )
    return givers[0]


def _total(items: Iterable[Expr]) -> Expr:
    """A sum as a tree that is not deep, since a node may have a thousand wires."""
    level = list(items)
    while len(level) > 1:
        pairs = [a + b for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def no_flow(end: Connector) -> list[Equality]:
    """The equations of a connector that nothing is connected with."""
    return [
        Equality(flow, ZERO, label=f"{flow!r} == 0, since {end._path} is not connected")  # noqa: SLF001
        for item in _quantities(end)
        if isinstance(item.declaration, Flow)
        for flow in item.elements
    ]


def _signal_equalities(ends: Sequence[Any], signals: Mapping[Expr, tuple[Declaration, bool]], origin: Origin) -> list[Equality]:
    """One signal gives its value to the others."""
    rows = [tuple(flat(item)) if is_array(item) else (item,) for item in ends]
    if any(isinstance(item, Connector) for row in rows for item in row):
        raise ModelError("a connector is connected with a signal", origin=origin, hint="connect the signal in it: self.port.u")
    if len({len(row) for row in rows}) != 1:
        raise ModelError(f"signals of different sizes are connected: {', '.join(str(len(row)) for row in rows)} elements", origin=origin)
    found: list[Equality] = []
    for group in zip(*rows, strict=True):
        items = [as_expr(item) for item in group]
        givers = [item for item in items if _gives(item, signals)]
        names = listed([repr(item) for item in items], 6)
        within = next((item for item in items if item.op == "symbol" and item.data.role is Role.UNKNOWN and item not in signals), None)
        if len(givers) != 1 and within is not None:
            raise ModelError(
                f"connect({names}): {within!r} is a variable and no connector",
                origin=origin,
                hint="connect the connectors that have the variables: tg.connect(self.R1.p, self.C.p); or yield an equation, left == right",
            )
        source = _source(items, [_gives(item, signals) for item in items], names, origin)
        found += [Equality(item, source, origin, f"connect({names}): {item!r} == {source!r}") for item in items if item is not source]
    return found


def _gives(item: Expr, signals: Mapping[Expr, tuple[Declaration, bool]]) -> bool:
    """An output of a part, an input of the component itself, or a number."""
    if item not in signals:
        return True
    declaration, is_of_part = signals[item]
    return isinstance(declaration, Output) if is_of_part else isinstance(declaration, Input)
