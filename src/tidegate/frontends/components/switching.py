"""Parts that are switched off and on (front end of components: ``enable`` and the equations it concerns go in, equations with a switch come out).

The layout stays what it is: there is no other model to go over to, so sensitivities, saved runs and dense output need nothing new. While a part is
off, each of its equations says that one of its variables is what it was: a state has no rate, an algebraic variable keeps its value, and through its
connectors nothing flows. The switch is a discrete variable, ``mixer.enabled``, set by events at which the condition changes, so that values are kept
as they were with the part still on. Its clauses sleep: what their conditions were is kept too, and its clocks do not strike (DSblock 4.0a, enable).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tidegate.errors import ModelError, Origin
from tidegate.expressions import ZERO, Expr, Role, constant, dependencies, node, select, symbol
from tidegate.frontends.components.agenda import Agenda
from tidegate.frontends.components.enabling import Enable
from tidegate.frontends.components.equalities import Equality
from tidegate.model import Assignment, Branch, TimeEvent, Variable, VariableRole, When
from tidegate.quick_dataclass import dataclass

__all__ = ["Switched", "switched_off"]


@dataclass(frozen=True, eq=False)
class Switched:
    """What belongs to a part that can be off, and to all parts in it.

    Parameters
    ----------
    path : of the part.
    equalities : numbers of its equations.
    variables : its unknowns, without what others determine: potentials of its connectors, and inputs.
    flows : names of elements that are zero while it is off.
    """

    path: str
    equalities: Sequence[int]
    variables: Sequence[Variable]
    flows: frozenset[str]


def switched_off(
    enables: Mapping[str, Enable], parts: Mapping[str, Switched], equalities: list[Equality], agenda: Agenda
) -> tuple[list[Equality], Agenda, list[Variable]]:
    """Equations and clauses with switches, and the discrete variables that they need.

    Parameters
    ----------
    enables : by path of the part, inner parts first.
    parts : likewise.
    equalities, agenda : of the whole.

    Raises
    ------
    ModelError : where a part has not as many equations as it has variables to keep.
    """
    variables: list[Variable] = []
    equalities = list(equalities)
    for path, said in enables.items():
        part = parts[path]
        on = symbol(Role.DISCRETE, f"{path}.enabled")
        is_on = node("nonzero", (on,))
        shown, one = f"whether {path} takes part", (constant(1.0),)
        variables.append(Variable(f"{path}.enabled", VariableRole.DISCRETE, kind="boolean", start=one, description=shown, origin=said.origin))
        keeps: list[Assignment] = [Assignment(on, ZERO, said.origin)]
        keepers = _keepers(part, keeps, variables, said.origin)
        if len(keepers) != len(part.equalities):
            raise ModelError(
                f"{path} cannot be switched off: it has {len(part.equalities)} equations for {len(keepers)} variables of its own", origin=said.origin
            )
        for number, new in _paired(part.equalities, keepers, equalities, is_on):
            equalities[number] = new
        agenda = _asleep(agenda, path, is_on, keeps, variables)
        clauses = (
            When((Branch((said.condition & ~is_on,), (Assignment(on, constant(1.0), said.origin),), f"{path} on", said.origin),), origin=said.origin),
            When((Branch((~said.condition & is_on,), tuple(keeps), f"{path} off", said.origin),), origin=said.origin),
        )
        first = Assignment(on, select(said.condition, constant(1.0), ZERO), said.origin)
        agenda = replace(agenda, whens=(*agenda.whens, *clauses), initial_actions=(*agenda.initial_actions, first))
    return equalities, agenda, variables


@dataclass(frozen=True, eq=False)
class _Keeper:
    """What holds of one variable while its part is off: ``item == value``."""

    item: Expr
    value: Expr


def _keepers(part: Switched, keeps: list[Assignment], variables: list[Variable], origin: Origin) -> list[_Keeper]:
    found: list[_Keeper] = []
    for variable in part.variables:
        for k, name in enumerate(variable.names):
            if variable.role is VariableRole.STATE:
                found.append(_Keeper(symbol(Role.DERIVATIVE, name), ZERO))
            elif name in part.flows:
                found.append(_Keeper(symbol(Role.UNKNOWN, name), ZERO))
            else:
                own = _own_name(f"kept({name})", part.path, variables)
                kept = symbol(Role.DISCRETE, own)
                start, unit = (variable.starts()[k],), variable.unit
                variables.append(
                    Variable(own, VariableRole.DISCRETE, start=start, unit=unit, description=f"kept {name}", origin=origin, is_hidden=True)
                )
                keeps.append(Assignment(kept, symbol(Role.UNKNOWN, name), origin))
                found.append(_Keeper(symbol(Role.UNKNOWN, name), kept))
    return found


def _own_name(name: str, path: str, variables: Sequence[Variable]) -> str:
    """What is kept for a part may already be kept for a part in it, which goes off and on by itself."""
    taken = any(variable.name == name for variable in variables)
    return f"{name[:-1]} with {path})" if taken else name


def _paired(numbers: Sequence[int], keepers: Iterable[_Keeper], equalities: Sequence[Equality], is_on: Expr) -> Iterable[tuple[int, Equality]]:
    """Each equation with what holds in its place: of the variable that stands alone on one of its sides where there is one."""
    left = {keeper.item: keeper for keeper in keepers}
    rest: list[int] = []
    for number in numbers:
        item = equalities[number]
        for own, other in ((item.left, item.right), (item.right, item.left)):
            if own in left and own not in dependencies(other):
                keeper = left.pop(own)
                yield number, replace(item, left=own, right=select(is_on, other, keeper.value))
                break
        else:
            rest.append(number)
    off = 1.0 - is_on.args[0]  # one while the part is off, and of no unit: what is kept need not measure what the equation does
    for number, keeper in zip(rest, left.values(), strict=True):
        item = equalities[number]
        yield number, replace(item, left=ZERO, right=select(is_on, item.residual, off * (keeper.item - keeper.value)))


def _asleep(agenda: Agenda, path: str, is_on: Expr, keeps: list[Assignment], variables: list[Variable]) -> Agenda:
    """The clauses of a part that remember, while it is off, whether their conditions held."""

    def is_inside(name: str) -> bool:
        return name.startswith(f"{path}.")

    def condition(item: Expr, label: str, k: int, origin: Origin) -> Expr:
        name = _own_name(f"kept({label} {k + 1})" if k else f"kept({label})", path, variables)
        kept = symbol(Role.DISCRETE, name)
        variables.append(
            Variable(name, VariableRole.DISCRETE, kind="boolean", start=(ZERO,), description=f"kept: {label}", origin=origin, is_hidden=True)
        )
        keeps.append(Assignment(kept, select(item, constant(1.0), ZERO), origin))
        return (is_on & item) | (~is_on & node("nonzero", (kept,)))

    def branch(given: Branch) -> Branch:
        if not is_inside(given.label):
            return given
        return replace(given, conditions=tuple(condition(item, given.label, k, given.origin) for k, item in enumerate(given.conditions)))

    def event(given: TimeEvent) -> TimeEvent:
        if not is_inside(given.label or given.origin.path.partition(".")[2] + "."):
            return given
        return replace(given, condition=is_on if given.condition is None else given.condition & is_on)

    whens = tuple(replace(when, branches=tuple(map(branch, when.branches))) for when in agenda.whens)
    return replace(agenda, whens=whens, time_events=tuple(map(event, agenda.time_events)))
