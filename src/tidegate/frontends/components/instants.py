"""Clauses that yield equations (front end of components: what holds at an instant goes in, equations with a switch come out).

``yield self.y == 7 - 2*self.x + tg.time`` in a clause holds at that instant together with all other equations, and is solved with them, also where
it is implicit (Modelica's when-equations). The variable that it determines becomes an unknown that between such instants equals what was kept of
it, and in the one round in which the clause happens obeys the clause's equation: ``active(tick)`` is true in that round only. In the round after it
the value that was found is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace

from tidegate.errors import ModelError, Origin
from tidegate.expressions import ZERO, Expr, Role, dependencies, node, select, symbol
from tidegate.frontends.components.equalities import Equality
from tidegate.model import Assignment, Branch, Variable, VariableRole, When
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["Instant", "active", "determined", "kept_in", "solved_at_instants"]


@dataclass(frozen=True, eq=False)
class Instant:
    """The equations of one clause.

    Parameters
    ----------
    name : of the clause.
    flag : what is true in the round in which it happens.
    equalities : for each discrete variable that they determine one.
    """

    name: str
    flag: Expr
    equalities: Mapping[Expr, Equality]
    origin: Origin = field(default_factory=Origin)


def active(name: str) -> Expr:
    """What is true in the round in which a clause happens."""
    return symbol(Role.DISCRETE, f"active({name})")


def _kept(item: Expr) -> Expr:
    return symbol(Role.DISCRETE, f"kept({item.data.name})")


def kept_in(mapping: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """For discrete variables that became unknowns what an assignment to them sets."""
    return {item: _kept(item) for item in mapping if item.data.role is Role.DISCRETE}


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


def solved_at_instants(
    instants: Sequence[Instant], variables: Sequence[Variable]
) -> tuple[list[Variable], list[Equality], list[When], dict[Expr, Expr]]:
    """What clauses that yield equations make of a model.

    Parameters
    ----------
    instants : every such clause, under its full name.
    variables : of the model.

    Returns
    -------
    variables, further equations, further clauses, and what stands for discrete variables that became unknowns.

    Raises
    ------
    ModelError : for a truth value, which no equation can determine.
    """
    targets = _targets(instants, variables)
    unknown = {target: symbol(Role.UNKNOWN, target.data.name) for target in targets}
    new = _variables(variables, targets)
    new += [
        Variable(instant.flag.data.name, VariableRole.DISCRETE, kind="boolean", start=(ZERO,), origin=instant.origin, is_hidden=True)
        for instant in instants
    ]
    equalities = [_equality(target, several) for target, several in targets.items()]
    whens: list[When] = []
    for instant in instants:
        off = Assignment(instant.flag, ZERO, instant.origin)
        keeps = (Assignment(_kept(target), unknown[target], instant.origin) for target in instant.equalities)
        whens.append(When((Branch((_is_active(instant),), (off, *keeps), "", instant.origin),), origin=instant.origin))
    before = {symbol(Role.PREVIOUS, target.data.name): symbol(Role.PREVIOUS, _kept(target).data.name) for target in targets}
    return new, equalities, whens, {**unknown, **before}


def _is_active(instant: Instant) -> Expr:
    return node("nonzero", (instant.flag,))


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


def _variables(variables: Sequence[Variable], targets: Collection[Expr]) -> list[Variable]:
    """The variables with unknowns in place of targets, and behind them what is kept of these."""
    found: list[Variable] = []
    kept: list[Variable] = []
    for variable in variables:
        items = variable.symbols() if variable.role is VariableRole.DISCRETE else []
        if not any(item in targets for item in items):
            found.append(variable)
            continue
        for item, name, start in zip(items, variable.names, variable.starts(), strict=True):
            alone = replace(variable, name=name, shape=(), start=(start,), kind="real")
            if item in targets:
                found.append(replace(alone, role=VariableRole.ALGEBRAIC, fixed=False))
                kept.append(replace(alone, name=_kept(item).data.name, description=f"kept {name}", is_hidden=True))
            else:
                found.append(replace(alone, kind=variable.kind))
    return found + kept


def _equality(target: Expr, several: Sequence[tuple[Instant, Equality]]) -> Equality:
    """What the variable obeys: the equation of the clause that happens, else it is what was kept."""
    unknown, (first, only) = symbol(Role.UNKNOWN, target.data.name), several[0]
    if len(several) == 1 and only.left is target:
        return Equality(unknown, select(_is_active(first), only.right, _kept(target)), only.origin, only.label)
    residual = unknown - _kept(target)
    for instant, item in several:
        residual = select(_is_active(instant), item.residual, residual)
    return Equality(ZERO, residual, only.origin, only.label)
