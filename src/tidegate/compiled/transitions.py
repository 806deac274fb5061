"""What events do, flattened: conditions with their memory, fire flags, and the bodies as expressions on the flags.

In: the model's ``when`` clauses and time events, and its locking. Out: one fire flag for every branch and time event, and
for every variable that an event can write an expression that is its new value where a flag is set and its old value elsewhere.
What a body says under a condition is a *remark*: it has a flag of its own, set where the body's flag is and the condition holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidegate.compiled.layout import count_symbol, fire_symbol
from tidegate.compiled.locking import Locking
from tidegate.compiled.workspace import FIRST_REMARK
from tidegate.errors import ModelError, Origin
from tidegate.expressions import TRUE, Expr, Role, as_real, node, select, symbol
from tidegate.expressions.sparsity import dependencies
from tidegate.expressions.substitute import substitute
from tidegate.model import Action, Assignment, Message, Model, Terminate

__all__ = ["Fire", "Transitions", "flatten_transitions"]


@dataclass(frozen=True, eq=False)
class Fire:
    """One thing that can happen at an event.

    Parameters
    ----------
    label : how the log names it.
    actions : what it does.
    chain : number of the ``when`` chain it belongs to; -1 for a time event, a number of its own from ``FIRST_REMARK`` for a remark.
    conditions : places of its conditions in ``Transitions.conditions``; empty for a time event.
    """

    label: str
    actions: tuple[Action, ...]
    chain: int
    conditions: tuple[int, ...]
    priority: int
    origin: Origin

    @property
    def terminates(self) -> bool:
        """True if it ends the run."""
        return any(isinstance(action, Terminate) for action in self.actions)

    @property
    def messages(self) -> tuple[str, ...]:
        """What it tells the user."""
        return tuple(action.text for action in self.actions if isinstance(action, Message)) + tuple(
            action.message for action in self.actions if isinstance(action, Terminate) and action.message
        )


@dataclass(frozen=True, eq=False)
class Transitions:
    """Every branch and time event of a model.

    Parameters
    ----------
    fires : branches in order, then remarks, then time events.
    conditions : locked conditions of all branches, then of remarks.
    n_rising : how many of these are conditions of branches, which fire when they become true.
    times : next time of each time event, an expression of p, m and its count.
    enabled : locked condition under which each time event happens.
    new_values : symbol of a state or discrete variable -> its value after the bodies.
    """

    fires: tuple[Fire, ...]
    conditions: tuple[Expr, ...]
    n_rising: int
    times: tuple[Expr, ...]
    enabled: tuple[Expr, ...]
    new_values: dict[Expr, Expr]


def flatten_transitions(model: Model, locking: Locking) -> Transitions:
    """Lock conditions (they get guards) and bodies (they do not), number the flags, merge bodies by target.

    Raises
    ------
    ModelError : for bodies that need each other's new values.
    """
    branches: list[Fire] = []
    conditions: list[Expr] = []
    for chain, when in enumerate(model.whens):
        for branch in when.branches:
            places = tuple(range(len(conditions), len(conditions) + len(branch.conditions)))
            conditions.extend(locking.lock(branch.conditions))
            branches.append(Fire(branch.label, branch.actions, chain, places, when.priority, branch.origin))
    times: list[Expr] = []
    enabled: list[Expr] = []
    scheduled: list[Fire] = []
    for index, event in enumerate(model.time_events):
        first = event.first
        period = event.period
        times.append(first if period is None else first + count_symbol(index) * period)
        (condition,) = locking.lock([event.condition if event.condition is not None else TRUE])
        enabled.append(condition)
        scheduled.append(Fire(event.label, event.actions, -1, (), event.priority, event.origin))
    n_rising = len(conditions)
    fires, remarks = _with_remarks(branches, scheduled, n_rising)
    values = _new_values(fires, locking)
    locked = locking.lock(remarks, add_guards=False)
    *new, remarks = _without_next([[value] for value in values.values()] + [locked], values)
    values = {target: value for target, (value,) in zip(values, new, strict=True)}
    return Transitions(tuple(fires), (*conditions, *remarks), n_rising, tuple(times), tuple(enabled), values)


def _with_remarks(branches: Sequence[Fire], scheduled: Sequence[Fire], n_rising: int) -> tuple[list[Fire], list[Expr]]:
    """Branches and time events without what they say under conditions, and between them the remarks, whose conditions are the second answer."""
    groups: list[tuple[Fire, Expr, list[Action]]] = []
    kept: list[Fire] = []
    for fire in (*branches, *scheduled):
        said: dict[Expr, list[Action]] = {}
        for action in fire.actions:
            if isinstance(action, Message | Terminate) and action.condition is not TRUE:
                said.setdefault(action.condition, []).append(action)
        aside = [action for actions in said.values() for action in actions]
        kept.append(replace(fire, actions=tuple(action for action in fire.actions if not any(action is other for other in aside))) if said else fire)
        groups.extend((fire, condition, actions) for condition, actions in said.items())
    index_of = {id(fire): k if k < len(branches) else k + len(groups) for k, fire in enumerate((*branches, *scheduled))}
    remarks = [
        replace(fire, actions=tuple(actions), chain=FIRST_REMARK + k, conditions=(n_rising + k,)) for k, (fire, _, actions) in enumerate(groups)
    ]
    conditions = [node("nonzero", (fire_symbol(index_of[id(fire)]),)) & condition for fire, condition, _ in groups]
    return [*kept[: len(branches)], *remarks, *kept[len(branches) :]], conditions


def _new_values(fires: Sequence[Fire], locking: Locking) -> dict[Expr, Expr]:
    values: dict[Expr, Expr] = {}
    # the most important last, so that it stands outermost in the chain of selects and wins
    for index in sorted(range(len(fires)), key=lambda k: -fires[k].priority):
        flag = node("nonzero", (fire_symbol(index),))
        for action in fires[index].actions:
            if isinstance(action, Assignment):
                (value,) = locking.lock([action.value], add_guards=False)
                old = values.get(action.target, action.target)
                values[action.target] = select(flag, as_real(value), old)
    return values


def _without_next(groups: Sequence[Sequence[Expr]], values: Mapping[Expr, Expr]) -> list[list[Expr]]:
    """The expressions with new values of discrete variables in place of the symbols that stand for them."""
    found = [list(group) for group in groups]
    new = {symbol(Role.NEXT, target.data.name): value for target, value in values.items() if target.data.role is Role.DISCRETE}
    # each pass resolves one link of a chain of bodies; a longer chain than there are variables is a circle
    for _ in range(len(new) + 1):
        awaited = {s for group in found for item in group for s in dependencies(item) if s.data.role is Role.NEXT}
        if not awaited:
            return found
        mapping = {s: new.get(s, symbol(Role.DISCRETE, s.data.name)) for s in awaited}
        found = [substitute(group, mapping) for group in found]
    names = ", ".join(sorted(s.data.name for s in new))
    raise ModelError(f"the new values of {names} depend on each other", hint="let one of the bodies read the value before the event")
