"""States that are chosen while the model runs (stage: structure). In: choices left open; out: what stands for them in a model.

Where any pivot of a block of constraints may vanish, none of its unknowns x is a state. The states are s = A x, with A made of discrete variables
that are 0 or 1: of each way to choose there is one, 1 while that way is chosen, and s is then the unknowns that it leaves free; der(s) = A x'. When
the determinant of the way that is chosen becomes small beside the others, the largest is chosen and s set to the values that x has, which changes
nothing but the names of the states. One layout serves for all choices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from tidegate.expressions import FALSE, ONE, TRUE, ZERO, Expr, Role, select, symbol
from tidegate.model import LEAST_IMPORTANT, Action, Assignment, Branch, Equation, Origin, Variable, VariableRole, When
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["Candidates", "OpenStates", "open_states"]

# times the mean of the squared determinants: what is smaller is left; the largest is never below the mean itself. Of two pivots the ratio is
# then 0.65: coordinates whose pivot is much smaller make short steps of multistep methods, and many of them
_SMALL: Final = 0.6
_INSIST: Final = 1e12  # at the start: so many times smaller a squared determinant is taken for the sake of a start value that must hold
_MOST_NAMED: Final = 4


@dataclass(frozen=True, eq=False)
class Candidates:
    """Unknowns of one order between which is chosen.

    Parameters
    ----------
    values : their symbols.
    rates : those of their derivatives, which are unknowns too.
    starts : start values, in terms of parameters and time.
    nominal : typical size of each; None if unknown.
    insisted : whether the start value must hold.
    alternatives : for each way to choose the positions of those that are no states.
    sizes : squared determinant of each way, in unknowns of the new model.
    origin : of the constraints.
    """

    values: tuple[Expr, ...]
    rates: tuple[Expr, ...]
    starts: tuple[Expr, ...]
    nominal: tuple[float | None, ...]
    insisted: tuple[bool, ...]
    alternatives: tuple[tuple[int, ...], ...]
    sizes: tuple[Expr, ...]
    origin: Origin

    @property
    def names(self) -> list[str]:
        """The user's names."""
        return [value.data.name for value in self.values]

    def free(self, way: int) -> list[int]:
        """Positions of the unknowns that are the states of a way."""
        return [k for k in range(len(self.values)) if k not in self.alternatives[way]]


@dataclass(frozen=True, eq=False)
class _Slot:
    """One state: what it is of the unknowns between which is chosen, each times the sum of some flags."""

    state: Expr
    flags: Mapping[Expr, tuple[Expr, ...]]


@dataclass(frozen=True, eq=False)
class OpenStates:
    """What comes into the model.

    Parameters
    ----------
    variables, equations, whens : new ones.
    slots : for each group of unknowns between which is chosen the states.
    """

    variables: list[Variable] = field(default_factory=list[Variable])
    equations: list[Equation] = field(default_factory=list[Equation])
    whens: list[When] = field(default_factory=list[When])
    slots: list[tuple[_Slot, ...]] = field(default_factory=list[tuple[_Slot, ...]])

    def resets(self, actions: tuple[Action, ...]) -> tuple[Action, ...]:
        """A body with what it does to the states, if it gives values to all of a group; the same tuple where it gives none."""
        given = {action.target: action for action in actions if isinstance(action, Assignment)}
        more: list[Action] = []
        for slots in self.slots:
            for slot in slots:
                if slot.flags.keys() <= given.keys():
                    # by the choice that holds behind the event
                    weights = [_sum([ONE] * len(several), [symbol(Role.NEXT, flag.data.name) for flag in several]) for several in slot.flags.values()]
                    value = _sum(weights, [given[item].value for item in slot.flags])
                    more.append(Assignment(slot.state, value, next(given[item].origin for item in slot.flags)))
        return (*actions, *more) if more else actions


def open_states(several: Sequence[Candidates], at_start: Callable[[Sequence[Expr]], list[Expr]]) -> OpenStates:
    """Variables, equations and events of choices; those that are judged by the same determinants are one.

    Parameters
    ----------
    several : choices.
    at_start : what expressions are in terms of start values.
    """
    found = OpenStates()
    groups: dict[tuple[object, ...], list[Candidates]] = {}
    for candidates in several:
        groups.setdefault((candidates.sizes, candidates.alternatives), []).append(candidates)
    for group in groups.values():
        _add(found, group, at_start)
    return found


def _add(found: OpenStates, group: Sequence[Candidates], at_start: Callable[[Sequence[Expr]], list[Expr]]) -> None:
    first = group[0]
    names = listed([name for candidates in reversed(group) for name in candidates.names], _MOST_NAMED)
    label = f"choice of states of {names}"
    ways = range(len(first.alternatives))
    flags = [symbol(Role.DISCRETE, f"{label}, way {way + 1}") for way in ways]
    bonus = [_INSIST ** sum(c.insisted[k] for c in group for k in c.free(way)) for way in ways]
    first_flags = _largest([size * b for size, b in zip(at_start(first.sizes), bonus, strict=True)])
    for flag, start in zip(flags, first_flags, strict=True):
        found.variables.append(Variable(flag.data.name, VariableRole.DISCRETE, start=(start,), origin=first.origin))
    new_flags = _largest(first.sizes)
    actions = [Assignment(flag, value, first.origin) for flag, value in zip(flags, new_flags, strict=True)]
    for candidates in group:
        actions.extend(_add_states(found, candidates, flags, first_flags, new_flags))
    now, total = _sum(flags, first.sizes), _sum([ONE] * len(ways), first.sizes)
    small = now < _SMALL / len(ways) * total
    # what an event gives a value has that value
    found.whens.append(When((Branch((small,), tuple(actions), label, first.origin),), LEAST_IMPORTANT, first.origin, is_inner=True))


def _add_states(
    found: OpenStates, candidates: Candidates, flags: Sequence[Expr], first_flags: Sequence[Expr], new_flags: Sequence[Expr]
) -> list[Assignment]:
    names = listed(candidates.names, _MOST_NAMED)
    actions: list[Assignment] = []
    slots: list[_Slot] = []
    free = [candidates.free(way) for way in range(len(flags))]
    for slot in range(len(free[0])):
        state = symbol(Role.UNKNOWN, f"state {slot + 1} of {names}")
        places = [places[slot] for places in free]

        def of(items: Sequence[Expr], weights: Sequence[Expr], places: Sequence[int] = places) -> Expr:
            by_place: dict[int, Expr] = {}
            for weight, place in zip(weights, places, strict=True):
                by_place[place] = by_place[place] + weight if place in by_place else weight
            return _sum(list(by_place.values()), [items[place] for place in by_place])

        sizes = [candidates.nominal[place] for place in places]
        known = [size for size in sizes if size is not None]
        nominal = min(known) if len(known) == len(sizes) else None
        start = of(candidates.starts, first_flags)
        found.variables.append(Variable(state.data.name, VariableRole.STATE, start=(start,), nominal=nominal, origin=candidates.origin))
        origin, label = candidates.origin, f"the choice of {state.data.name}"
        found.equations.append(Equation(state, of(candidates.values, flags), origin, label))
        rate = symbol(Role.DERIVATIVE, state.data.name)
        found.equations.append(Equation(rate, of(candidates.rates, flags), origin, label))
        actions.append(Assignment(state, of(candidates.values, new_flags), origin))
        by_item: dict[Expr, tuple[Expr, ...]] = {}
        for flag, place in zip(flags, places, strict=True):
            by_item[candidates.values[place]] = (*by_item.get(candidates.values[place], ()), flag)
        slots.append(_Slot(state, by_item))
    found.slots.append(tuple(slots))
    return actions


def _sum(weights: Sequence[Expr], items: Sequence[Expr]) -> Expr:
    total: Expr = ZERO
    for weight, item in zip(weights, items, strict=True):
        total = total + weight * item
    return total


def _largest(sizes: Sequence[Expr]) -> list[Expr]:
    """1 for the first of the largest, 0 for the others."""
    above: list[Expr] = [TRUE]
    best = sizes[0]
    for size in sizes[1:]:
        above.append(size > best)
        best = select(above[-1], size, best)
    found: list[Expr] = []
    later: Expr = FALSE
    for is_above in reversed(above):
        found.append(select(is_above & ~later, ONE, ZERO))
        later = later | is_above
    return found[::-1]
