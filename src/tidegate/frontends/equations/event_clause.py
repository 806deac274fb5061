"""`tg.event`: what happens to a model of plain functions when a condition becomes true (front end of plain functions)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.model import DEFAULT_PRIORITY

__all__ = ["EventClause", "event"]

_PRIORITIES: Final = range(1, 101)  # DSblock 3.3, IPRIOR on entry of BLOCKV


@dataclass(frozen=True, eq=False)
class EventClause:
    """A condition and what is done when it becomes true; made by ``event``."""

    condition: Callable[..., Any]
    reset: Callable[..., Any] | None = None
    terminal: bool = False
    name: str = ""
    priority: int = DEFAULT_PRIORITY


def event(
    condition: Callable[..., Any],
    reset: Callable[..., Any] | None = None,
    *,
    terminal: bool = False,
    name: str = "",
    priority: int = DEFAULT_PRIORITY,
) -> EventClause:
    """An event for ``tg.ode(..., events=[...])`` or ``tg.dae``.

    Parameters
    ----------
    condition : ``condition(t, y)`` or ``condition(t, y, p)``, a comparison or a combination of them; the event happens whenever it becomes true.
        A list of conditions means any of them.
    reset : ``reset(t, y)`` or ``reset(t, y, p)``; returns a dict with the new values of the variables that change, or all of them in order.
    terminal : whether the run ends there.
    name : how the event log and messages name it.
    priority : of several events at one instant, from 1 (first) to 100.

    Examples
    --------
    >>> bounce = event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.8 * y["v"]}, name="bounce")
    >>> bounce.name
    'bounce'
    """
    for what, function in (("condition", condition), ("reset", reset)):
        if function is not None and not is_function(function):
            raise UsageError(f"the {what} of an event is {function!r}, which cannot be called", hint=f"tg.event({what}=lambda t, y, p: ...)")
    if priority not in _PRIORITIES:
        raise UsageError(f"the priority of an event is {priority!r}; an integer from 1 to 100 is expected")
    return EventClause(condition, reset, terminal, name, priority)
