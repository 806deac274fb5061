"""What users write inside a component's methods (front end of components): time, derivatives, previous values, messages, the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from tidegate.errors import UntraceableError, UsageError
from tidegate.expressions import ONE, TRUE, Expr, Role, as_real, symbol, walk
from tidegate.expressions.differentiate import tangent
from tidegate.expressions.substitute import substitute
from tidegate.expressions.tracing import Vector, path_condition
from tidegate.frontends.components.elements import flat, is_array
from tidegate.model import Message, Terminate

__all__ = ["collect_actions", "der", "message", "pre", "terminate", "time"]

time: Final = symbol(Role.TIME, "time")

_collector: ContextVar[list[Message | Terminate] | None] = ContextVar("collector", default=None)


def _each(function: Callable[[Expr], Expr], x: Any) -> Any:
    if is_array(x):
        return Vector([function(as_real(item)) for item in flat(x)]).reshape(np.shape(x))
    return function(as_real(x))


def _derivative(x: Expr) -> Expr:
    if x.op == "symbol" and x.data.role is Role.UNKNOWN:
        return symbol(Role.DERIVATIVE, x.data.name)
    seeds: dict[Expr, Expr] = {}
    for item in walk([x]):
        if item.op != "symbol":
            continue
        if item.data.role is Role.UNKNOWN:
            seeds[item] = symbol(Role.DERIVATIVE, item.data.name)
        elif item.data.role is Role.TIME:
            seeds[item] = ONE
        elif item.data.role not in (Role.PARAMETER, Role.DISCRETE):
            raise UsageError(
                f"der({x!r}) needs the derivative of {item.data.name}, which is not known", hint="take derivatives of states and expressions of them"
            )
    return tangent([x], seeds)[0]


def der(x: Any) -> Any:
    """The derivative with respect to time, of a state or of an expression of states, time and parameters; of arrays by element.

    Examples
    --------
    >>> der(symbol(Role.UNKNOWN, "h")) is symbol(Role.DERIVATIVE, "h")
    True
    """
    return _each(_derivative, x)


def _previous(x: Expr) -> Expr:
    discretes = {item: symbol(Role.PREVIOUS, item.data.name) for item in walk([x]) if item.op == "symbol" and item.data.role is Role.DISCRETE}
    return substitute([x], discretes)[0] if discretes else x


def pre(x: Any) -> Any:
    """The value just before the event's present round; of a continuous variable the value as the body sees it anyway.

    Examples
    --------
    >>> pre(symbol(Role.DISCRETE, "count")) is symbol(Role.PREVIOUS, "count")
    True
    """
    return _each(_previous, x)


@contextmanager
def collect_actions() -> Generator[list[Message | Terminate]]:
    """Gather what ``message`` and ``terminate`` are called with while the body of an event is followed."""
    found: list[Message | Terminate] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


def _collect(action: Message | Terminate, name: str) -> None:
    found = _collector.get()
    if found is None:
        raise UsageError(
            f"tg.{name} is called outside the body of an event", hint="call it in a method under @tg.when, @tg.every, @tg.at or @tg.initially"
        )
    condition = path_condition()
    if condition is not TRUE:
        raise UntraceableError(
            f"tg.{name} depends on a condition of the body, `{condition!r}`",
            hint=f"call it in a clause of its own: @tg.when(lambda self: ... and {condition!r})",
        )
    if action not in found:
        found.append(action)


def terminate(reason: str = "") -> None:
    """End the run, as a success, at the event in whose body this is called.

    Parameters
    ----------
    reason : kept in the result and shown to the user.
    """
    _collect(Terminate(_text(reason, "terminate")), "terminate")


def message(text: str) -> None:
    """Note a sentence in the event log, from the body of an event."""
    _collect(Message(_text(text, "message")), "message")


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise UntraceableError(
            f"tg.{name} was given {value!r}; a text is expected", hint="values at the event stand in the event log beside the text"
        )
    return value
