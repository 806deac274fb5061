"""What events do, flattened: conditions with their memory, fire flags, and the bodies as expressions on the flags.

In: the model's ``when`` clauses and time events, and its locking. Out: one fire flag for every branch and time event, and
for every variable that an event can write an expression that is its new value where a flag is set and its old value elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.compiled.layout import count_symbol, fire_symbol
from tidegate.compiled.locking import Locking
from tidegate.errors import Origin
from tidegate.expressions import TRUE, Expr, as_real, node, select
from tidegate.model import Action, Assignment, Message, Model, Terminate

__all__ = ["Fire", "Transitions", "flatten_transitions"]


@dataclass(frozen=True, eq=False)
class Fire:
    """One thing that can happen at an event.

    Parameters
    ----------
    label : how the log names it.
    actions : what it does.
    chain : number of the ``when`` chain it belongs to; -1 for a time event.
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
    fires : branches in order, then time events.
    conditions : locked conditions of all branches.
    times : next time of each time event, an expression of p, m and its count.
    enabled : locked condition under which each time event happens.
    new_values : symbol of a state or discrete variable -> its value after the bodies.
    """

    fires: tuple[Fire, ...]
    conditions: tuple[Expr, ...]
    times: tuple[Expr, ...]
    enabled: tuple[Expr, ...]
    new_values: dict[Expr, Expr]


def flatten_transitions(model: Model, locking: Locking) -> Transitions:
    """Lock conditions (they get guards) and bodies (they do not), number the flags, merge bodies by target."""
    fires: list[Fire] = []
    conditions: list[Expr] = []
    for chain, when in enumerate(model.whens):
        for branch in when.branches:
            places = tuple(range(len(conditions), len(conditions) + len(branch.conditions)))
            conditions.extend(locking.lock(branch.conditions))
            fires.append(Fire(branch.label, branch.actions, chain, places, when.priority, branch.origin))
    times: list[Expr] = []
    enabled: list[Expr] = []
    for index, event in enumerate(model.time_events):
        first = event.first
        period = event.period
        times.append(first if period is None else first + count_symbol(index) * period)
        (condition,) = locking.lock([event.condition if event.condition is not None else TRUE])
        enabled.append(condition)
        fires.append(Fire(event.label, event.actions, -1, (), event.priority, event.origin))
    return Transitions(tuple(fires), tuple(conditions), tuple(times), tuple(enabled), _new_values(fires, locking))


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
