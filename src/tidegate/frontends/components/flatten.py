"""A tree of parts as one system (front end of components: an instance goes in, variables, equations and clauses under full names come out).

Each class is followed once (``local_system``); here what it says is put together under the names of the whole. What a part gives and needs by
signals is an unknown like any other; an input of the outermost component is given from outside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, cast

import numpy as np

from tidegate.errors import ModelError, Origin, UsageError
from tidegate.expressions import Expr, Role, as_real, dependencies
from tidegate.expressions.tracing.choices import number_among
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.agenda import Agenda
from tidegate.frontends.components.balance import Node, ends_of, require_balance
from tidegate.frontends.components.connect import no_flow
from tidegate.frontends.components.connectors import Connector, Flow, InputSignal, Potential
from tidegate.frontends.components.declarations import NO_START, UNSET, Constant, Declaration, Input, Kind, Modification, Output
from tidegate.frontends.components.elements import elements, flat, quantity
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.following import Follower
from tidegate.frontends.components.local_system import LocalSystem, declarations_below, follow, given_value, structure_key
from tidegate.frontends.components.model_part import ModelPart
from tidegate.frontends.components.model_system import system_of_model
from tidegate.frontends.components.part import Part, joined, outer_scope, unchanged_classes
from tidegate.frontends.components.switching import Switched, switched_off
from tidegate.model import Variable, VariableRole
from tidegate.quick_dataclass import dataclass

__all__ = ["Flat", "component_place", "flatten"]

_UNKNOWN = (VariableRole.STATE, VariableRole.ALGEBRAIC)
_VARYING = (*_UNKNOWN, VariableRole.DISCRETE, VariableRole.OUTPUT)


@dataclass(eq=False)
class Flat:
    """A whole system.

    Parameters
    ----------
    variables : under their full names, those of a part before those of its parts.
    values : of outputs of the whole that are declared with a value.
    initial : equations that hold at the start only.
    constants : full names of numbers that are fixed in the equations.
    """

    variables: list[Variable] = field(default_factory=list[Variable])
    values: dict[Expr, Equality] = field(default_factory=dict[Expr, Equality])
    equalities: list[Equality] = field(default_factory=list[Equality])
    initial: list[Equality] = field(default_factory=list[Equality])
    agenda: Agenda = field(default_factory=Agenda)
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    constants: list[str] = field(default_factory=list[str])


def component_place(component: Any, name: str) -> Origin:
    """Where a class stands: nothing of it is kept by Python but its methods and declarations."""
    for item in (*component.declarations().values(), *component.all_clauses().values()):
        return replace(item.origin, path=name, text="")
    for method in component.equation_methods():
        code = getattr(method, "__code__", None)
        if code is not None:
            return Origin(file=code.co_filename, line=code.co_firstlineno, path=name)
    return Origin(path=name)


def flatten(component: Any, name: str, *, is_open: bool = False) -> Flat:
    """Put a tree of parts together.

    Parameters
    ----------
    component : the outermost.
    name : how messages name it.
    is_open : its connectors are still to be connected.

    Raises
    ------
    ModelError, UsageError : for what cannot be read, does not fit, or does not balance.
    """
    with unchanged_classes():
        return _flattened(component, name, is_open)


def _flattened(component: Any, name: str, is_open: bool) -> Flat:
    given: set[str] = set()
    nodes = list(_nodes(component, name, given))
    reader = _VariableReader(name, frozenset(given))
    found = Flat()
    agendas: list[Agenda] = []
    for node in nodes:
        node.first = len(found.equalities)
        reader.read(node, found)
        if node.system is not None:
            found.equalities += node.system.equalities
            found.initial += node.system.initial
            agendas.append(node.system.agenda)
            for condition, origin in node.system.condition_origins.items():
                found.condition_origins.setdefault(condition, origin)
    before = len(found.equalities)
    ends = [end for end in component.parts().values() if isinstance(end, Connector)]
    found.equalities += [item for end in ends for item in no_flow(end)]
    nodes[0].n_defined += len(found.equalities) - before
    n_loose = len(found.equalities) - before
    for condition, origin in reader.condition_origins.items():
        found.condition_origins.setdefault(condition, origin)
    found.agenda = Agenda.joined(agendas)
    if reader.unsaid:
        _require_not_read_as_numbers(reader.unsaid, nodes)
    if len(nodes) > 1 or len(component.equation_methods()) > 1:
        require_balance(nodes, found.variables, name)
    if is_open:  # balance has been looked at as if nothing flowed
        del found.equalities[before : before + n_loose]
    if len(nodes) > 1:
        found.variables = _in_order(found.variables)
    _states_of_derivatives(found, has_parts=len(nodes) > 1)
    if len(nodes) > 1:
        _switch(nodes, found)
    return found


def _require_not_read_as_numbers(unsaid: Mapping[str, tuple[tuple[int, ...], Origin]], nodes: Sequence[Node]) -> None:
    """An output of which only its own function tells that it is an array is a number to what reads it."""
    read = {item.data.name for node in nodes if node.system is not None for item in node.system.symbols if item.data.role is Role.UNKNOWN}
    for name in sorted(read & unsaid.keys()):
        shape, origin = unsaid[name]
        fault = f"{name} is an array, and something reads it that takes it for a number"
        raise UsageError(fault, origin=origin, hint=f"add shape={shape[0] if len(shape) == 1 else shape} to its tg.Output")


def _switch(nodes: Sequence[Node], found: Flat) -> None:
    """Parts that can be off."""
    enables = {item.path: item for node in reversed(nodes) if node.system is not None for item in node.system.enables}
    if not enables:
        return
    by_name = {variable.name: variable for variable in found.variables}
    parts: dict[str, Switched] = {}
    absent: dict[str, list[str]] = {}
    for path in enables:
        inside = [node for node in nodes if node.path == path or node.path.startswith((f"{path}.", f"{path}["))]
        numbers = [k for node in inside for k in range(node.first, node.first + node.n_equations)]
        ends = {joined(end, name): item for end, connector in ends_of(inside[0]) for name, item in connector.declarations().items()}
        given = {name for name, item in ends.items() if isinstance(item, Potential)}
        given |= {joined(path, name) for name, item in inside[0].part.declarations().items() if isinstance(item, Input)}
        given |= {name for name, item in ends.items() if isinstance(item, Input)}
        names = [joined(node.path, name) for node in inside for name in node.part.declarations()]
        own = [by_name[name] for name in names if name not in given and name in by_name and by_name[name].role in _UNKNOWN]
        flows = frozenset(element for variable in own if isinstance(ends.get(variable.name), Flow) for element in variable.names)
        parts[path] = Switched(path, numbers, own, flows)
        known = [by_name[name] for name in names if name not in given and name in by_name and by_name[name].role in _VARYING and name not in flows]
        for variable in known:
            absent.setdefault(variable.name, []).append(f"{path}.enabled")
    found.equalities, found.agenda, new = switched_off(enables, parts, found.equalities, found.agenda)
    found.variables = [replace(item, present_while=(*item.present_while, *absent.get(item.name, ()))) for item in found.variables] + new


def _nodes(component: Any, name: str, given: set[str]) -> Iterator[Node]:
    """Every part, each before its own parts; full names of inputs that equations give are collected on the way."""
    known: dict[Any, LocalSystem] = {}
    waiting: list[tuple[Any, str]] = [(component, "")]
    while waiting:
        part, path = waiting.pop()
        if isinstance(part, Connector):
            yield Node(part, path, None)
        else:
            local = _local_system(part, path, name, given, known)
            if not isinstance(part, ModelPart):
                given |= {joined(path, item) for item in local.inputs_given if not _is_of_connector(part, item)}
            yield Node(part, path, local.at(path, joined(name, path) if path else name, frozenset(given)))
        waiting.extend((inner, joined(path, own)) for own, inner in reversed(part.parts().items()))


def _local_system(part: Any, path: str, name: str, given: Collection[str], known: dict[Any, LocalSystem]) -> LocalSystem:
    """What a part says, in its own names; parts of the same structure say the same."""
    key: Any = structure_key(part)
    if isinstance(part, ModelPart):
        connected = frozenset(port for port in part.ports()[0] if joined(path, port) in given)
        key = (key, connected)
        if key not in known:
            known[key] = system_of_model(part.model_with(connected))
    elif key not in known:
        kind = type(part).__name__
        known[key] = follow(part, kind if path else name, component_place(part, kind), lambda alone: alone.equation_methods())
    return known[key]


def _is_of_connector(part: Part, name: str) -> bool:
    return isinstance(part.parts().get(name.split(".", maxsplit=1)[0]), Connector)


class _VariableReader:
    """Makes neutral variables of declarations.

    Parameters
    ----------
    name : of the whole.
    given : full names of inputs that equations give.
    """

    def __init__(self, name: str, given: frozenset[str]) -> None:
        self._name, self._given = name, given
        self._followers: dict[str, Follower] = {}
        self._values: dict[tuple[str, Any], Any] = {}
        self.unsaid: dict[str, tuple[tuple[int, ...], Origin]] = {}  # outputs that are arrays, which only their functions tell

    @property
    def condition_origins(self) -> Mapping[Expr, Origin]:
        """Conditions in functions that were given to parts."""
        return {condition: origin for follower in self._followers.values() for condition, origin in follower.condition_origins.items()}

    def read(self, node: Node, found: Flat) -> None:
        """The variables of one part."""
        for own, declaration in node.part._own_declarations().items():  # noqa: SLF001 - one package
            if not isinstance(declaration, Constant) and node.system is not None and node.system.names is not None and own not in node.system.names:
                continue
            name = joined(node.path, own)
            if isinstance(declaration, Constant):
                found.constants.append(name)
                continue
            origin = replace(declaration.origin, path=joined(self._name, name))
            value = self._value(node, own, declaration)
            if declaration.texts:
                value = number_among(declaration.texts, value, origin.path, declaration.origin)
            start, shape = _start(declaration, value, origin)
            role = self._role(node, name, declaration, origin)
            if isinstance(declaration, Output):
                if shape and declaration.shape is None:
                    self.unsaid[name] = (shape, origin)
                pairs = zip(flat(quantity(Role.UNKNOWN, name, shape)), start, strict=bool(start))
                defined = [Equality(item, value, origin, f"{item!r} == {value!r}" if node.path else "") for item, value in pairs]
                if node.path:
                    found.equalities += defined
                    node.n_defined += len(defined)
                else:
                    found.values.update((item.left, item) for item in defined)
                start = ()
            found.variables.append(
                Variable(
                    name,
                    role,
                    shape,
                    declaration.unit,
                    declaration.description,
                    start,
                    False if role is VariableRole.ALGEBRAIC and declaration.fixed is None else declaration.fixed,
                    declaration.minimum,
                    declaration.maximum,
                    declaration.nominal,
                    _kind(declaration, declaration.value) if not isinstance(declaration, Output) else _kind_of_output(value, origin),
                    origin,
                    declaration.state_select,
                    _source(node, own, declaration),
                    declaration.display_unit,
                    declaration.quantity,
                    tuple(joined(node.path, switch) for switch in declaration.present_while),
                    isinstance(declaration, Potential) or declaration.is_potential,
                    declaration.is_hidden,
                    declaration.texts,
                    tuple(joined(node.path, name) for name in declaration.held_by),
                )
            )

    def _role(self, node: Node, name: str, declaration: Declaration, origin: Origin) -> VariableRole:
        if not node.path:
            return declaration.role
        if declaration.role is VariableRole.OUTPUT:
            return VariableRole.ALGEBRAIC
        if declaration.role is VariableRole.INPUT:
            names = {item.data.name for item in flat(quantity(Role.INPUT, name, declaration.shape_of(declaration.value)))}
            if names <= self._given:
                return VariableRole.ALGEBRAIC
            if _is_of_the_whole(node.part):
                return declaration.role
            if names & self._given or isinstance(declaration, InputSignal):
                missing = min(names - self._given)
                raise ModelError(
                    f"{missing} is not connected, and nothing else gives it a value",
                    origin=origin,
                    hint=f"connect it with an output: yield tg.connect(self.<part>.y, self.{missing}); or declare it as tg.Input with a value",
                )
        return declaration.role

    def _value(self, node: Node, own: str, declaration: Declaration) -> Any:
        """What functions of the component give, by what they gave when it was followed; functions from further out are followed here."""
        given = given_value(node.part, own, declaration)
        if not is_function(given):
            return given
        scope = outer_scope(node.part, own)
        if scope is None:
            return node.system.values[own] if node.system is not None else self._followed(given, node.part, declaration.origin)
        return self._followed(given, scope, declaration.origin)

    def _followed(self, function: Any, scope: Any, origin: Origin) -> Any:
        path = scope._path  # noqa: SLF001 - one package
        if (path, function) not in self._values:
            if path not in self._followers:
                self._followers[path] = Follower(scope, joined(self._name, path), declarations_below(scope))
            self._values[path, function] = self._followers[path].value(function, origin)
        return self._values[path, function]


def _is_of_the_whole(part: Any) -> bool:
    """Whether this is a connector of the outermost component, whose inputs are given from outside."""
    while isinstance(part, Connector):
        part = vars(part).get("_outer")
    return part is None or not part._path  # noqa: SLF001 - one package


def _source(node: Node, own: str, declaration: Declaration) -> Literal["declared", "default", "given"]:
    if not node.path:
        return "default" if given_value(node.part, own, declaration) is NO_START else "declared"
    given = cast("dict[str, Any]", vars(node.part).get("_overrides", {})).get(own, UNSET)
    is_given = "start" in given.attributes if isinstance(given, Modification) else given is not UNSET
    return "given" if is_given else "default"


def _kind(declaration: Declaration, value: Any) -> Kind:
    """As declared, or what Python calls the value; a parameter given as 2 and then as 2.5 is a real number."""
    if declaration.kind is not None:
        return declaration.kind
    if declaration.role not in (VariableRole.DISCRETE, VariableRole.PARAMETER) or is_function(value) or value is UNSET:
        return "real"
    kind: str = np.asarray(value).dtype.kind
    if kind == "b":
        return "boolean"
    return "integer" if kind in "iu" else "real"


def _kind_of_output(value: Any, origin: Origin) -> Kind:
    """A condition gives a truth value."""
    return "boolean" if value is not UNSET and all(item.is_boolean for item in elements(value, origin.path, origin)) else "real"


def _start(declaration: Declaration, value: Any, origin: Origin) -> tuple[tuple[Expr, ...], tuple[int, ...]]:
    shape = declaration.shape_of(declaration.value)
    if value is UNSET:
        return (), shape
    what = f"the value of {origin.path}"
    found = [as_real(item) for item in elements(value, what, origin)]
    if declaration.shape is None and isinstance(declaration, Output):
        shape = np.shape(value)
    size = int(np.prod(shape, dtype=int))
    if len(found) == 1:
        found *= size
    if len(found) != size:
        raise UsageError(
            f"{what} has {len(found)} elements, but its shape is {shape}",
            origin=origin,
            hint="give the declaration shape=... or a value of this shape",
        )
    return tuple(found), shape


def _in_order(variables: Sequence[Variable]) -> list[Variable]:
    """Parameters after those that their values are made of; everything else as it was.

    Raises
    ------
    UsageError : where they depend on each other in a circle.
    """
    parameters = {name: v for v in variables if v.role is VariableRole.PARAMETER for name in v.names}
    needs = {v.name: _owners(v.start, parameters) for v in variables if v.role is VariableRole.PARAMETER}
    if not any(needs.values()):
        return list(variables)
    ordered: dict[str, Variable] = {}
    by_name = {v.name: v for v in variables}
    for first in needs:
        path = [first]
        while path:
            name = path[-1]
            open_ones = [other for other in needs[name] if other not in ordered]
            circle = next((other for other in open_ones if other in path), None)
            if circle is not None:
                round_trip = " -> ".join([*path[path.index(circle) :], circle])
                raise UsageError(f"parameters are made of each other: {round_trip}", origin=by_name[name].origin, hint="give one of them a number")
            if open_ones:
                path.append(open_ones[0])
            else:
                ordered[path.pop()] = by_name[name]
    following = iter(ordered.values())
    return [next(following) if v.role is VariableRole.PARAMETER else v for v in variables]


def _owners(start: Iterable[Expr], parameters: Mapping[str, Variable]) -> list[str]:
    return list(dict.fromkeys(parameters[item.data.name].name for item in dependencies(*start) if item.data.name in parameters))


def _states_of_derivatives(found: Flat, *, has_parts: bool) -> None:
    """A variable whose derivative stands in an equation is a state, whatever it was declared as; of parts a state without one is none."""
    read = dependencies(*(side for item in found.equalities for side in (item.left, item.right)))
    derived = {item.data.name for item in read if item.data.role is Role.DERIVATIVE}
    states: list[Variable] = []
    for whole in found.variables:
        for item in _apart(whole, derived) if whole.role is VariableRole.ALGEBRAIC or has_parts else (whole,):
            has_derivative = not derived.isdisjoint(item.names)
            if item.role is VariableRole.ALGEBRAIC and has_derivative:
                # its start stays a guess, which others may overrule, unless somebody gave it
                fixed = item.fixed or (None if item.start_source == "given" else False)
                states.append(replace(item, role=VariableRole.STATE, fixed=fixed))
            elif has_parts and item.role is VariableRole.STATE and not has_derivative:
                states.append(replace(item, role=VariableRole.ALGEBRAIC, fixed=item.fixed or False))
            else:
                states.append(item)
    found.variables = states


def _apart(variable: Variable, derived: Collection[str]) -> Iterable[Variable]:
    """An array by its elements where only some of them are differentiated."""
    n_derived = sum(name in derived for name in variable.names) if variable.role in _UNKNOWN else 0
    if n_derived in (0, variable.size):
        return (variable,)
    return (replace(variable, name=name, shape=(), start=(start,)) for name, start in zip(variable.names, variable.starts(), strict=True))
