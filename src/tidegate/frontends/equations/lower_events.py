"""Events of plain functions as the neutral model says them (front end of plain functions): conditions become chains, times time events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_real, fleeting_equality, symbol
from tidegate.expressions.tracing import function_origin
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.equations.event_clause import EventClause, GivenTime
from tidegate.frontends.equations.follow_functions import Lowering
from tidegate.frontends.equations.resets import ResetReader
from tidegate.frontends.equations.returned import flat
from tidegate.model import Action, Branch, Terminate, TimeEvent, When
from tidegate.names import listed, suggestion

__all__ = ["lower_events"]


def _refuse_fleeting(condition: Expr, states: set[str], label: str, origin: Origin) -> None:
    def moves(item: Expr) -> bool:
        return item.data.role in (Role.TIME, Role.DERIVATIVE) or (item.data.role is Role.UNKNOWN and item.data.name in states)

    quantity = fleeting_equality(condition, moves)
    if quantity is not None:
        raise UsageError(
            f"the condition of {label} wants `{quantity!r}` to be exactly zero: it passes zero in no time, and this would never be seen to happen",
            origin=origin,
            hint="use >= or <=; for passing in either direction return both: lambda t, y: [y['h'] >= 1, y['h'] <= 1]",
        )


def lower_events(lowering: Lowering, states: set[str]) -> tuple[tuple[When, ...], tuple[TimeEvent, ...]]:
    """What happens when conditions become true, and what at times that are known.

    Parameters
    ----------
    states : names of the unknowns whose derivatives appear.
    """
    whens: list[When] = []
    timed: list[TimeEvent] = []
    for at, item in enumerate(lowering.description.events):
        label = item.name or f"event {at + 1}"
        if item.condition is not None:
            whens.append(_when(lowering, item, item.condition, label, states))
        else:
            timed += _time_events(lowering, item, label)
    return tuple(whens), tuple(timed)


def _when(lowering: Lowering, item: EventClause, condition: Callable[..., Any], label: str, states: set[str]) -> When:
    origin = function_origin(condition)
    followed = lowering.follow(condition, name=f"the condition of {label}", may_raise=False)
    conditions: list[Expr] = []
    for value in flat(followed.value):
        if isinstance(value, bool | np.bool_) or (isinstance(value, Expr) and value.is_boolean):
            conditions.append(value if isinstance(value, Expr) else as_real(value) > 0)
            _refuse_fleeting(conditions[-1], states, label, origin)
        else:
            raise UsageError(
                f"the condition of {label} is {value!r}, which is neither true nor false", origin=origin, hint="compare it: lambda t, y: y['h'] < 0"
            )
    return When((Branch(tuple(conditions), _actions(lowering, item, label), label, origin, item.at_start),), item.priority, origin)


def _actions(lowering: Lowering, item: EventClause, label: str) -> tuple[Action, ...]:
    done = () if item.reset is None else lowering.reset_actions(item.reset, ResetReader(label, lowering.y, lowering.d, function_origin(item.reset)))
    return (*done, Terminate(label)) if item.terminal else done


def _time_events(lowering: Lowering, item: EventClause, label: str) -> list[TimeEvent]:
    """One clock, or the single times; all have one body."""
    actions = _actions(lowering, item, label)
    if item.every is not None:
        start, every = (_time(lowering, given, what, label, item.origin) for given, what in ((item.start, "start"), (item.every, "every")))
        return [TimeEvent(start, actions, every, label=label, priority=item.priority, origin=item.origin)]
    firsts = [_time(lowering, given, "at", label, item.origin) for given in item.at]
    return [TimeEvent(first, actions, label=label, priority=item.priority, origin=item.origin) for first in firsts]


def _time(lowering: Lowering, given: GivenTime, what: str, label: str, origin: Origin) -> Expr:
    """A time as an expression of parameters."""
    p = lowering.description.p
    if is_function(given):
        value: Any = lowering.follow_of_parameters(given, what).value
    elif isinstance(given, str):
        if given not in p.elements:
            hint = suggestion(given, p.elements, f"the parameters are {listed(p.elements) or '(none)'}")
            raise UsageError(f"{what} of {label} is {given!r}, which is no parameter", origin=origin, hint=hint)
        value = symbol(Role.PARAMETER, given)
    else:
        value = given
    if not isinstance(value, int | float | Expr | np.number) or (isinstance(value, Expr) and value.is_boolean):
        raise UsageError(f"{what} of {label} is {value!r}; a time is expected", origin=origin)
    return as_real(value)
