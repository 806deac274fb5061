"""What relations were before a round of an event (front end of components).

In: conditions and bodies of clauses, in which values before the round stand for themselves. Out: for each relation between such values a hidden
variable, with the clause by which it follows.

Where a relation of states, inputs or time changes at an event, they themselves do not: ``x > 0.5`` becomes true at an ``x`` that is the same before
and after. So ``tg.pre`` of it is no relation of values before, but the truth that it had (Modelica 8.6, ``pre`` of a Boolean variable). The hidden
variable takes that over a round later.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from tidegate.errors import Origin, UsageError
from tidegate.expressions import ZERO, Expr, Role, as_boolean, as_real, dependencies, evaluate, symbol
from tidegate.expressions.substitute import substitute
from tidegate.frontends.components.agenda import Agenda
from tidegate.model import LEAST_IMPORTANT, Assignment, Branch, Variable, VariableRole, When, expression_of
from tidegate.quick_dataclass import dataclass

__all__ = ["RelationsBefore", "relations_before"]

_STEPS: Final = ("gt", "ge", "floor")
_MOVING: Final = {Role.TIME_BEFORE: Role.TIME, Role.INPUT_BEFORE: Role.INPUT}
_WHAT: Final = {Role.TIME_BEFORE: "which is the same before and after an event", Role.INPUT_BEFORE: "which is given from outside"}
_BEFORE: Final = (Role.PREVIOUS, *_MOVING)
_POINTS: Final = 4  # at which the gap between two branches is compared with what is compared
_SAME: Final = 1e-9


@dataclass(frozen=True, eq=False)
class RelationsBefore:
    """What comes into the model.

    Parameters
    ----------
    replaced : for relations between values before the truth that they had.
    in_bodies : likewise in bodies, and for other values before these themselves, which are still there.
    variables, whens, initial : new ones, and what they are at the start.
    """

    replaced: dict[Expr, Expr]
    in_bodies: dict[Expr, Expr]
    variables: tuple[Variable, ...]
    whens: tuple[When, ...]
    initial: tuple[Assignment, ...]


def relations_before(agenda: Agenda, unknowns: Iterable[Expr], *, is_open: bool) -> RelationsBefore:
    """Hidden variables for relations that conditions and bodies ask for.

    Parameters
    ----------
    agenda : clauses; values before are PREVIOUS, INPUT_BEFORE and TIME_BEFORE in them.
    unknowns : symbols of states and algebraic variables; every other PREVIOUS is of a discrete variable.
    is_open : equations that give its inputs values are still to come: what these were before stays as it is asked for.
    """
    conditions = {condition: branch.origin for when in agenda.whens for branch in when.branches for condition in branch.conditions}
    conditions |= {event.condition: event.origin for event in agenda.time_events if event.condition is not None}
    values = {expression_of(action): body.origin for body in agenda.bodies.values() for action in body.actions}
    before = [s for s in dependencies(*conditions, *values) if s.data.role in _BEFORE]
    if not before:
        return RelationsBefore({}, {}, (), (), ())
    moving = {symbol(Role.PREVIOUS, s.data.name): s for s in unknowns}
    moving |= {s: symbol(_MOVING[s.data.role], s.data.name) for s in before if s.data.role in _MOVING}
    present = {s: moving.get(s, symbol(Role.DISCRETE, s.data.name)) for s in before}
    replaced: dict[Expr, Expr] = {}
    first = {action.target: action.value for action in agenda.initial_actions if isinstance(action, Assignment)}
    variables: list[Variable] = []
    more: list[When] = []
    starts: list[Assignment] = []
    steps = [*_largest(conditions, moving.keys(), _BEFORE), *_largest(values, moving.keys(), (*_BEFORE, Role.DISCRETE))]
    known: dict[Expr, Expr] = {}
    for step, origin in steps:
        (now,) = substitute([step], present)
        is_known = now in known
        kept = known.setdefault(now, symbol(Role.DISCRETE, f"pre({now!r})"))
        replaced[step] = as_boolean(kept) if now.is_boolean else kept
        if is_known:
            continue
        (at_start,) = substitute([as_real(now)], first)
        kind = "boolean" if now.is_boolean else "real"
        variables.append(Variable(kept.data.name, VariableRole.DISCRETE, kind=kind, start=(ZERO,), origin=origin, is_hidden=True))
        follows = (Assignment(kept, as_real(now), origin),)
        more.append(When((Branch(_changes(now, kept), follows, kept.data.name, origin, at_start=True),), LEAST_IMPORTANT, origin, is_inner=True))
        # of blocks in C and Fortran; runs look at consistent values (``events.settle.keep_relations``)
        starts.append(Assignment(kept, at_start, origin))
    known_later = (Role.INPUT_BEFORE,) if is_open else ()
    _refuse_what_is_left(conditions, replaced, known_later)
    in_bodies = replaced | {s: own for s, own in present.items() if s in moving and s.data.role not in known_later}
    return RelationsBefore(replaced, in_bodies, tuple(variables), tuple(more), tuple(starts))


def _changes(now: Expr, kept: Expr) -> tuple[Expr, ...]:
    """Conditions of which one becomes true whenever there is something to take over, also where it changes again in the round that does so."""
    if now.is_boolean:
        was = as_boolean(kept)
        return now & ~was, ~now & was
    return ((now != kept) & (kept == symbol(Role.PREVIOUS, kept.data.name)),)


def _largest(roots: Mapping[Expr, Origin], moving: Container[Expr], roles: Container[Role]) -> Iterator[tuple[Expr, Origin]]:
    """Relations between values before, or whole parts of such, one of which moves, that are in no other, and where they are asked for.

    Parameters
    ----------
    roots : conditions or values, and where they stand.
    roles : of symbols that stand for values before there.
    """
    waiting, seen = [*roots.items()], set[Expr]()
    while waiting:
        item, origin = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        read = dependencies(item) if item.op in _STEPS else ()
        if any(s in moving for s in read) and all(s.data.role in roles or s.data.role is Role.PARAMETER for s in read):
            yield item, origin
        else:
            waiting.extend((argument, origin) for argument in (item.args[1:] if _has_no_jump(item) else item.args))


def _refuse_what_is_left(conditions: Mapping[Expr, Origin], replaced: Mapping[Expr, Expr], but: Container[Role]) -> None:
    """Inputs from outside and time are known at each instant, and nobody keeps what they were."""
    for condition, origin in conditions.items():
        (rest,) = substitute([condition], replaced)
        for item in dependencies(rest):
            if item.data.role in _MOVING and item.data.role not in but:
                raise UsageError(
                    f"a condition asks for tg.pre of {item.data.name}, {_WHAT[item.data.role]}",
                    origin=origin,
                    hint="ask for a relation that changes, as tg.edge(u > 0.5), or keep the value in a tg.Discrete at the event before",
                )


def _has_no_jump(item: Expr) -> bool:
    """True of ``abs``, ``max`` and the like: what is chosen from is the same where the choice changes, but for rounding, which is no change."""
    if item.op != "select" or item.args[0].op not in ("gt", "ge"):
        return False
    condition, a, b = item.args
    read = dependencies(item)
    ratios: list[float] = []
    for k in range(_POINTS):
        point = {s: 2.0 * math.sin(1.0 + place * _POINTS + k) for place, s in enumerate(read)}
        try:
            gap, g = evaluate([as_real(a) - as_real(b), condition.args[0]], point)
        except (ArithmeticError, ValueError):
            return False
        ratios.append(gap / g if g != 0.0 else math.nan)
    return all(abs(ratio - ratios[0]) <= _SAME * abs(ratios[0]) for ratio in ratios)
