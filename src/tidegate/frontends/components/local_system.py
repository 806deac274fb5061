"""What a component says by itself, in its own names (front end of components: one component goes in, its equations and clauses come out).

Parts of one class say the same but for their names. So each class is followed once, as if it stood alone, and what was found is renamed for
every part: ``v == p.v - n.v`` becomes ``R1.v == R1.p.v - R1.n.v``. What makes two parts of a class say different things, the numbers that decide
their structure, is their key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_expr, substitute, symbol, walk
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.agenda import Agenda, read_agenda
from tidegate.frontends.components.assertions import Demand, clause_of
from tidegate.frontends.components.clauses import Clause
from tidegate.frontends.components.connect import connection_equalities
from tidegate.frontends.components.connectors import Connector
from tidegate.frontends.components.declarations import Constant, Declaration, Input, Modification, Output
from tidegate.frontends.components.elements import flat, quantity
from tidegate.frontends.components.enabling import Enable
from tidegate.frontends.components.equalities import Equality
from tidegate.frontends.components.following import Follower
from tidegate.frontends.components.part import Part, joined, outer_scope
from tidegate.model import Assignment, Message, Terminate, When, expression_of
from tidegate.quick_dataclass import dataclass

__all__ = ["LocalSystem", "declarations_below", "follow", "given_value", "standing_alone", "structure_key"]

_IF_GIVEN: Final = {Role.INPUT: Role.UNKNOWN, Role.INPUT_BEFORE: Role.UNKNOWN_BEFORE}  # what an input of a part is that an equation gives


@dataclass(frozen=True, eq=False)
class LocalSystem:
    """The equations and clauses of one component, without those of its parts.

    Parameters
    ----------
    equalities : its own, in the order of classes, and those of its connections.
    n_own : how many of them are its own.
    agenda : its clauses.
    values : what functions in its declarations give, by name of the variable.
    condition_origins : where conditions were written.
    enables : its parts that can be off.
    initial : equations that hold at the start only.
    names : of the variables that it has, where these are not all that its class declares: a block has no port that nobody connects.
    """

    equalities: tuple[Equality, ...]
    n_own: int
    agenda: Agenda
    values: Mapping[str, Any]
    condition_origins: Mapping[Expr, Origin]
    enables: tuple[Enable, ...] = ()
    initial: tuple[Equality, ...] = ()
    names: frozenset[str] | None = None

    @cached_property
    def symbols(self) -> tuple[Expr, ...]:
        """Every symbol in it that has a name of its own."""
        roots = [side for item in (*self.equalities, *self.initial) for side in (item.left, item.right)]
        roots += [item for value in self.values.values() for item in map(as_expr, flat(value))]
        roots += [*self.condition_origins, *(item.condition for item in self.enables)]
        for when in self.agenda.whens:
            roots += [item for branch in when.branches for item in branch.conditions]
            roots += [expression_of(action) for branch in when.branches for action in branch.actions]
        for event in self.agenda.time_events:
            roots += [item for item in (event.first, event.period, event.condition) if item is not None]
        for instant in self.agenda.instants:
            roots += [instant.flag, *instant.equalities, *(side for item in instant.equalities.values() for side in (item.left, item.right))]
        bodies = [action for body in self.agenda.bodies.values() for action in body.actions]
        bodies += [action for event in self.agenda.time_events for action in event.actions]
        for action in (*bodies, *self.agenda.initial_actions, *self.agenda.final_actions):
            roots += [action.target, action.value] if isinstance(action, Assignment) else [action.condition]
        return tuple(item for item in walk(roots) if item.op == "symbol" and item.data.role not in (Role.TIME, Role.TIME_BEFORE))

    @cached_property
    def inputs_given(self) -> frozenset[str]:
        """Inputs of parts that its equations give a value, by name."""
        sides = [side for item in self.equalities for side in (item.left, item.right)]
        return frozenset(item.data.name for item in walk(sides) if item.op == "symbol" and item.data.role is Role.INPUT and "." in item.data.name)

    def at(self, path: str, owner: str, given: frozenset[str]) -> LocalSystem:
        """The same under the names that its variables have in the whole.

        Parameters
        ----------
        path : of the component.
        owner : how messages name it.
        given : full names of inputs that are given by equations, and so are unknowns.
        """
        mapping: dict[Expr, Expr] = {}
        for item in self.symbols:
            name = joined(path, item.data.name)
            role: Role = item.data.role
            mapping[item] = symbol(_IF_GIVEN.get(role, role) if name in given else role, name)
        if not path and all(old is new for old, new in mapping.items()):
            return self
        old = list(dict.fromkeys(side for item in (*self.equalities, *self.initial) for side in (item.left, item.right)))
        new = dict(zip(old, substitute(old, mapping), strict=True))

        def equality(item: Equality) -> Equality:
            return Equality(new[item.left], new[item.right], replace(item.origin, path=owner), _label(item, path))

        conditions = list(self.condition_origins)
        origins = zip(substitute(conditions, mapping), self.condition_origins.values(), strict=True)
        return LocalSystem(
            tuple(map(equality, self.equalities)),
            self.n_own,
            self.agenda.renamed(mapping, path, owner) if path else self.agenda.replaced(mapping, mapping, {}),
            {name: _replaced(value, mapping) for name, value in self.values.items()},
            {condition: replace(origin, path=owner) for condition, origin in origins},
            tuple(
                Enable(joined(path, item.path), substitute([item.condition], mapping)[0], replace(item.origin, path=owner)) for item in self.enables
            ),
            tuple(map(equality, self.initial)),
            self.names,
        )


def _label(item: Equality, path: str) -> str:
    """How messages name an equation of a part of this path."""
    if not path or not item.label:
        return item.label
    inside = item.origin.inside
    if item.origin.is_sealed and item.label.startswith(f"{inside}, "):
        return item.label.replace(inside, f"{inside} {path}", 1)
    return f"{path}: {item.label}"


def _replaced(value: Any, mapping: Mapping[Expr, Expr]) -> Any:
    new = np.empty(np.size(value), dtype=object)
    new[:] = substitute(list(map(as_expr, flat(value))), mapping)
    return new.reshape(np.shape(value))


def given_value(part: Part, name: str, declaration: Declaration) -> Any:
    """What stands for a variable's value: as declared, or as given to the part."""
    given = vars(part).get("_overrides", {}).get(name, declaration.value)
    return given.attributes.get("start", declaration.value) if isinstance(given, Modification) else given


def standing_alone(part: Part) -> Part:
    """A copy of a part that has no path: what it says is said in its own names."""
    alone: Any = object.__new__(type(part))
    vars(alone).update(vars(part))
    vars(alone).update(_place="", _outer=None, _placed_parts={})
    return alone


def declarations_below(part: Part) -> dict[str, Declaration]:
    """The declarations of a part and of all parts in it, by path."""
    found: dict[str, Declaration] = {}
    waiting = [part]
    while waiting:
        item = waiting.pop()
        found |= {joined(item._path, name): own for name, own in item._own_declarations().items()}  # noqa: SLF001 - one package
        waiting.extend(reversed(item.parts().values()))
    return found


def structure_key(part: Part) -> Any:
    """What decides which equations a part has: its class, constants, shapes, and the same of its parts."""
    known = vars(part).get("_structure_key")
    if known is None:
        own: list[Any] = [type(part)]
        for name, item in part.declarations().items():
            if isinstance(item, Constant):
                own.append((name, _hashable(item.__get__(part))))
            elif name in vars(part).get("_overrides", {}):
                value = given_value(part, name, item)
                is_own_function = is_function(value) and outer_scope(part, name) is None
                own.append((name, id(value) if is_own_function else item.shape_of(value), is_function(value)))
        own += [(name, id(clause)) for name, clause in vars(part).items() if isinstance(clause, Clause)]
        own += [(name, structure_key(inner)) for name, inner in part.parts().items()]
        known = vars(part)["_structure_key"] = tuple(own)
    return known


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def follow(part: Any, name: str, place: Origin, methods: Callable[[Any], list[Callable[[], Any]]]) -> LocalSystem:
    """What a component says, in its own names.

    Parameters
    ----------
    part : any instance of the component, wherever it stands.
    name : how messages name it.
    place : where it was written.
    methods : gives the methods that have its equations.
    """
    alone: Any = standing_alone(part)
    below = declarations_below(alone)
    follower = Follower(alone, name, below)
    equalities = [item for method in methods(alone) for item in follower.equations(method, _method_place(method, place))]
    n_own = len(equalities)
    inner = {f"{own}.{end}": item for own, part in alone.parts().items() if not isinstance(part, Connector) for end, item in _ends(part)}
    if follower.connections or inner:
        signals = {
            item: (declaration, "." in path)
            for path, declaration in below.items()
            if isinstance(declaration, Input | Output)
            for item in symbols_of(path, declaration)
        }
        equalities += connection_equalities(follower.connections, inner, signals, name, alone)
    values = {
        own: _require_numbers(follower.value(given, declaration.origin), own, declaration)
        for own, declaration in alone.declarations().items()
        if is_function(given := given_value(alone, own, declaration)) and outer_scope(alone, own) is None and not isinstance(declaration, Constant)
    }
    agenda = read_agenda(alone.all_clauses(), follower)
    agenda = _with_demands(agenda, follower.demands)
    return LocalSystem(tuple(equalities), n_own, agenda, values, follower.condition_origins, tuple(follower.enables), tuple(follower.initial))


def _require_numbers(value: Any, name: str, declaration: Declaration) -> Any:
    if not declaration.texts:
        try:
            list(map(as_expr, flat(value)))
        except TypeError as reason:
            hint = "a number or an expression; texts are values of tg.Discrete(..., values=...) and tg.Parameter(..., values=...)"
            raise UsageError(f"{name}: {reason}", origin=declaration.origin, hint=hint) from None
    return value


def _with_demands(agenda: Agenda, demands: Sequence[Demand]) -> Agenda:
    """The clauses of assertions beside the others."""
    counts: Counter[bool] = Counter()
    whens: list[When] = []
    said: list[Message | Terminate] = []
    for item in demands:
        ends = item.level == "terminate"
        counts[ends] += 1
        when, at_start = clause_of(item, counts[ends])
        whens.append(when)
        said.append(at_start)
    return replace(agenda, whens=(*agenda.whens, *whens), initial_actions=(*agenda.initial_actions, *said)) if whens else agenda


def symbols_of(path: str, declaration: Declaration) -> list[Expr]:
    """The symbols of a declared variable's elements."""
    return flat(quantity(declaration.symbol_role, path, declaration.shape_of(declaration.value)))


def _ends(part: Part) -> list[tuple[str, Connector]]:
    return [(name, item) for name, item in part.parts().items() if isinstance(item, Connector)]


def _method_place(method: Any, otherwise: Origin) -> Origin:
    code = getattr(method, "__code__", None)
    return otherwise if code is None else Origin(file=code.co_filename, line=code.co_firstlineno, path=otherwise.path)
