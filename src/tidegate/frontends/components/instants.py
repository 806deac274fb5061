"""Clauses that yield equations (front end of components: what holds at an instant goes in, equations with a switch come out).

``yield self.y == 7 - 2*self.x + tg.time`` in a clause holds at that instant together with all other equations, and is solved with them, also where
it is implicit (Modelica's when-equations). The variable that it determines becomes an unknown that between such instants equals what was kept of
it, and in the one round in which the clause happens obeys the clause's equation: ``source(y)`` has the number of that clause, and is zero else. In
the round after it the value that was found is kept, so that behind every round what is kept is the value before it. Where a clause happens in two
rounds running, its number changes its sign, so that the second is told from the first. Clauses that want to determine one variable in one round
differ about its source, which is a conflict like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from tidegate.errors import ModelError, Origin
from tidegate.expressions import ZERO, Expr, Role, constant, dependencies, node, select, symbol
from tidegate.frontends.components.equalities import Equality, replaced
from tidegate.model import LEAST_IMPORTANT, Action, Assignment, Branch, Variable, VariableRole, When
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["AtInstants", "Instant", "active", "determined", "solved_at_instants"]


@dataclass(frozen=True, eq=False)
class Instant:
    """The equations of one clause.

    Parameters
    ----------
    name : of the clause.
    flag : what its body sets, until it is known what the variables are in the whole model.
    equalities : for each discrete variable that they determine one.
    """

    name: str
    flag: Expr
    equalities: Mapping[Expr, Equality]
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, eq=False)
class AtInstants:
    """What clauses that yield equations make of a model.

    Parameters
    ----------
    variables, equalities, whens : the variables of the model, and further equations and clauses.
    present : discrete variables that became unknowns -> these.
    before : what they were before a round -> that in conditions and equations.
    in_bodies : likewise in bodies.
    numbers : flag of a clause -> for each variable that it determines the number that the clause has among its sources.
    given : for each variable the number of what clauses give it a value without an equation.
    asked : flag of a clause -> other variables whose values before the round its equations ask for.
    """

    variables: list[Variable]
    equalities: list[Equality]
    whens: list[When]
    present: dict[Expr, Expr]
    before: dict[Expr, Expr]
    in_bodies: dict[Expr, Expr]
    numbers: Mapping[Expr, Mapping[Expr, float]]
    given: Mapping[Expr, float]
    asked: Mapping[Expr, Sequence[Expr]]

    def actions(self, action: Action) -> tuple[Action, ...]:
        """What stands for an action of a clause."""
        if not isinstance(action, Assignment):
            return (action,)
        if action.target in self.numbers:
            keeps = (Assignment(_was(item), item, action.origin) for item in self.asked[action.target])
            return (*keeps, *(_from(target, number, action.origin) for target, number in self.numbers[action.target].items()))
        if action.target in self.given:
            return replace(action, target=_given(action.target)), _from(action.target, self.given[action.target], action.origin)
        return (action,)

    @property
    def sources(self) -> dict[Expr, Expr]:
        """What says which clause determines an unknown in a round -> this."""
        return {_source(item): unknown for item, unknown in self.present.items()}

    @property
    def assigned(self) -> dict[Expr, Expr]:
        """Unknowns that clauses give values to -> that one does so in this round."""
        return {self.present[item]: _is_from(_source(item), number) for item, number in self.given.items()}

    def actions_at_an_end(self, action: Action) -> tuple[Action, ...]:
        """What stands for an action at the start or at the end of a run."""
        return (replace(action, target=_kept(action.target)) if isinstance(action, Assignment) and action.target in self.present else action,)


def active(name: str) -> Expr:
    """What stands in the body of a clause for all that its equations determine."""
    return symbol(Role.DISCRETE, f"active({name})")


def _kept(item: Expr) -> Expr:
    return symbol(Role.DISCRETE, f"kept({item.data.name})")


def _source(item: Expr) -> Expr:
    return symbol(Role.DISCRETE, f"source({item.data.name})")


def _was(item: Expr) -> Expr:
    """What a variable was before a round in which an equation asks for it; in the next one ``tg.pre`` of it is another value."""
    return symbol(Role.DISCRETE, f"was({item.data.name})")


def _given(item: Expr) -> Expr:
    return symbol(Role.DISCRETE, f"given({item.data.name})")


def _from(target: Expr, number: float, origin: Origin) -> Assignment:
    source = _source(target)
    return Assignment(source, select(_is(source, number), constant(-number), constant(number)), origin)


def _is(source: Expr, number: float) -> Expr:
    return source == constant(number)


def determined(name: str, equalities: Sequence[Equality], place: Origin) -> dict[Expr, Equality]:
    """Which discrete variable each equation determines: the one that stands alone on a side, else the only one that no other equation determines.

    Raises
    ------
    ModelError : where that is not plain.
    """
    found: dict[Expr, Equality] = {}
    rest: list[tuple[Equality, list[Expr]]] = []
    for item in equalities:
        alone = [side for side in (item.left, item.right) if side.op == "symbol" and side.data.role is Role.DISCRETE and side not in found]
        if alone:
            found[alone[0]] = item
        else:
            rest.append((item, sorted((s for s in dependencies(item.residual) if s.data.role is Role.DISCRETE), key=repr)))
    while rest:
        item, candidates = min(rest, key=lambda pair: sum(s not in found for s in pair[1]))
        own = [s for s in candidates if s not in found]
        if len(own) != 1:
            what = f"any of {listed(s.data.name for s in own)}" if own else "no discrete variable"
            raise ModelError(
                f"{name} yields an equation that could determine {what}",
                origin=item.origin if item.origin.line else place,
                hint=_how_to_determine(item),
            )
        found[own[0]] = item
        rest = [pair for pair in rest if pair[0] is not item]
    return found


def _how_to_determine(item: Equality) -> str:
    unknown = next((side.data.name for side in (item.left, item.right) if side.op == "symbol" and side.data.role is Role.UNKNOWN), "")
    if unknown:
        return f"return {{self.{unknown}: ...}} gives a state a new value; what only changes at events, and has no equation besides, is a tg.Discrete"
    return "write the variable that it determines alone on one side, or yield as many equations as there are discrete variables in them"


def solved_at_instants(instants: Sequence[Instant], variables: Sequence[Variable], written: Collection[Expr]) -> AtInstants:
    """What clauses that yield equations make of a model.

    Parameters
    ----------
    instants : every such clause, under its full name.
    variables : of the model.
    written : what clauses give a value to.

    Raises
    ------
    ModelError : for a truth value, which no equation can determine.
    """
    targets = _targets(instants, variables)
    given = {item: len(several) + 1.0 for item, several in targets.items() if item in written}
    numbers = {instant.flag: {item: 1.0 + [one for one, _ in targets[item]].index(instant) for item in instant.equalities} for instant in instants}
    unknown = {target: symbol(Role.UNKNOWN, target.data.name) for target in targets}
    before = {symbol(Role.PREVIOUS, target.data.name): _kept(target) for target in targets}
    asked = {instant.flag: _asked_before(instant, before) for instant in instants}
    was = {symbol(Role.PREVIOUS, item.data.name): _was(item) for several in asked.values() for item in several}
    in_bodies = {symbol(Role.PREVIOUS, target.data.name): symbol(Role.UNKNOWN_BEFORE, target.data.name) for target in targets}
    whens: list[When] = []
    for target, several in targets.items():
        origin = several[0][0].origin
        keeps = (Assignment(_source(target), ZERO, origin), Assignment(_kept(target), unknown[target], origin))
        happens = tuple(_is(_source(target), sign * k) for k in range(1, len(several) + 1 + (target in given)) for sign in (1, -1))
        whens.append(When((Branch(happens, keeps, "", origin),), LEAST_IMPORTANT, origin))
    equalities = [_equality(target, [(one, replaced(item, was)) for one, item in several], given.get(target)) for target, several in targets.items()]
    known = [*_variables(variables, targets, given), *_of_before(variables, was.values())]
    return AtInstants(known, equalities, whens, unknown, before, in_bodies, numbers, given, asked)


def _asked_before(instant: Instant, known: Collection[Expr]) -> list[Expr]:
    """The discrete variables whose values before the round its equations ask for, without those that such equations determine."""
    read = dependencies(*(side for item in instant.equalities.values() for side in (item.left, item.right)))
    return sorted((symbol(Role.DISCRETE, s.data.name) for s in read if s.data.role is Role.PREVIOUS and s not in known), key=repr)


def _of_before(variables: Sequence[Variable], kept: Iterable[Expr]) -> Iterator[Variable]:
    names = {item.data.name for item in kept}
    for variable in variables if names else ():
        for item, name, start in zip(variable.symbols(), variable.names, variable.starts(), strict=True):
            if variable.role is VariableRole.DISCRETE and _was(item).data.name in names:
                shown = f"{name} before an equation asked for that"
                yield replace(variable, name=_was(item).data.name, shape=(), start=(start,), description=shown, is_hidden=True)


def _targets(instants: Sequence[Instant], variables: Sequence[Variable]) -> dict[Expr, list[tuple[Instant, Equality]]]:
    """Every variable that clauses determine, with these."""
    owner = {item: v for v in variables if v.role is VariableRole.DISCRETE for item in v.symbols()}
    found: dict[Expr, list[tuple[Instant, Equality]]] = {}
    for instant in instants:
        for target, item in instant.equalities.items():
            if owner[target].kind == "boolean":
                raise ModelError(
                    f"{instant.name} yields an equation for the truth value {target.data.name}",
                    origin=item.origin,
                    hint=f"assign it: return {{self.{target.data.name}: ...}}",
                )
            found.setdefault(target, []).append((instant, item))
    return found


def _variables(variables: Sequence[Variable], targets: Mapping[Expr, Sequence[tuple[Instant, Equality]]], given: Collection[Expr]) -> list[Variable]:
    """The variables with unknowns in place of targets, and behind them what is kept of these."""
    found: list[Variable] = []
    hidden: list[Variable] = []
    for variable in variables:
        items = variable.symbols() if variable.role is VariableRole.DISCRETE else []
        if not any(item in targets for item in items):
            found.append(variable)
            continue
        for item, name, start in zip(items, variable.names, variable.starts(), strict=True):
            alone = replace(variable, name=name, shape=(), start=(start,), kind="real")
            if item not in targets:
                found.append(replace(alone, kind=variable.kind))
                continue
            found.append(replace(alone, role=VariableRole.ALGEBRAIC, fixed=False, held_by=(_kept(item).data.name,)))
            hidden.append(replace(alone, name=_kept(item).data.name, description=f"kept {name}", is_hidden=True))
            if item in given:
                hidden.append(replace(alone, name=_given(item).data.name, description=f"what a clause gives {name}", is_hidden=True))
            shown, origin = f"the number of the clause that determines {name}", targets[item][0][0].origin
            hidden.append(Variable(_source(item).data.name, VariableRole.DISCRETE, start=(ZERO,), description=shown, origin=origin, is_hidden=True))
    return found + hidden


def _equality(target: Expr, several: Sequence[tuple[Instant, Equality]], given: float | None) -> Equality:
    """What the variable obeys: the equation of the clause that happens, else it is what was kept."""
    unknown, source, (_, only) = symbol(Role.UNKNOWN, target.data.name), _source(target), several[0]
    if len(several) == 1 and only.left is target:
        value = select(node("nonzero", (source,)), only.right, _kept(target))
        return Equality(unknown, value if given is None else select(_is_from(source, given), _given(target), value), only.origin, only.label)
    residual = unknown - _kept(target)
    for k, (_, item) in enumerate(several, 1):
        residual = select(_is_from(source, k), item.residual, residual)
    if given is not None:
        residual = select(_is_from(source, given), unknown - _given(target), residual)
    return Equality(ZERO, residual, only.origin, only.label)


def _is_from(source: Expr, number: float) -> Expr:
    return _is(source, number) | _is(source, -number)
