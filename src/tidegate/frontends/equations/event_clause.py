"""`tg.event`: what happens to a model of plain functions, and when (front end of plain functions)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial
from numbers import Real
from typing import Any, Final

from tidegate.errors import Origin, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.equations.other_words import OF_EVENTS
from tidegate.model import DEFAULT_PRIORITY
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["EventClause", "GivenTime", "event"]

_PRIORITIES: Final = range(1, 101)  # DSblock 3.3, IPRIOR on entry of BLOCKV

GivenTime = float | str | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class EventClause:
    """When something happens and what is done then; made by ``event``.

    Parameters
    ----------
    condition : whose becoming true is the event; None where ``every`` or ``at`` says when.
    origin : where it was written.
    at_start : whether it happens at the start too, where the condition is true there.
    """

    condition: Callable[..., Any] | None
    reset: Callable[..., Any] | None = None
    terminal: bool = False
    name: str = ""
    priority: int = DEFAULT_PRIORITY
    every: GivenTime | None = None
    start: GivenTime = 0.0
    at: tuple[GivenTime, ...] = ()
    origin: Origin = field(default_factory=Origin)
    at_start: bool = False


@partial(explained, other_words=OF_EVENTS)
def event(  # noqa: PLR0913, what can be said of an event are keywords, and editors show them with their defaults
    condition: Callable[..., Any] | None = None,
    reset: Callable[..., Any] | None = None,
    *,
    every: GivenTime | None = None,
    start: GivenTime | None = None,
    at: GivenTime | Iterable[GivenTime] | None = None,
    terminal: bool = False,
    name: str = "",
    priority: int = DEFAULT_PRIORITY,
    at_start: bool = False,
) -> EventClause:
    """An event for ``tg.ode(..., events=[...])``, ``tg.dae`` or ``tg.hdae``: one of ``condition``, ``every`` and ``at`` says when it happens.

    Parameters
    ----------
    condition : ``condition(t, y)`` or ``condition(t, y, p)``, a comparison or a combination of them; the event happens whenever it becomes true.
        A list of conditions means any of them.
    reset : ``reset(t, y)`` or ``reset(t, y, p)``; returns a dict with the new values of the variables that change, or all states in order. It sees
        the values before the event, and so does every other event of this instant. Of a model with ``discrete=`` it takes these variables as
        ``d``, as all functions of the model may: ``reset(t, y, p, d)``, or ``reset(t, y, d)``.
    every : the event happens at ``start`` and every so often after it, at ``start + k*every``: a number, the name of a parameter, or a function of p.
    start : likewise; 0 where not given.
    at : a time, or several, likewise.
    terminal : whether the run ends there.
    name : how the event log and messages name it.
    priority : of several events at one instant, from 1 (first) to 100.
    at_start : whether it happens at the start of a run too, where its condition is true there. Without it a condition that is true from the
        beginning has to become false first.

    Examples
    --------
    >>> bounce = event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.8 * y["v"]}, name="bounce")
    >>> bounce.name
    'bounce'
    >>> sampler = event(every=0.01, reset=lambda t, y, d: {"u": -2.0 * y["x"], "last": d["u"]})
    """
    place = written_at()
    for what, function in (("condition", condition), ("reset", reset)):
        if function is not None and not is_function(function):
            raise UsageError(f"the {what} of an event is {function!r}, which cannot be called", hint=f"tg.event({what}=lambda t, y, p: ...)")
    if not isinstance(priority, Real) or priority not in _PRIORITIES:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UsageError(f"the priority of an event is {priority!r}; an integer from 1 to 100 is expected")
    given = [what for what, value in (("condition", condition), ("every", every), ("at", at)) if value is not None]
    if len(given) != 1:
        said = f"both {given[0]} and {given[1]}" if given else "nothing that says when it happens"
        raise UsageError(f"an event has {said}", origin=place, hint="give one of condition=lambda t, y: ..., every=0.01 and at=2.0")
    if start is not None and every is None:
        raise UsageError("start= says when the ticks of every= begin, and there is no every=", origin=place, hint="tg.event(every=0.01, start=0.5)")
    times: tuple[GivenTime, ...] = () if at is None else (at,) if isinstance(at, str) or not isinstance(at, Iterable) else tuple(at)  # pyright: ignore[reportUnknownArgumentType]
    if at_start and condition is None:
        raise UsageError("an event has at_start, and no condition that could be true there", origin=place, hint="tg.event(every=0.1, start=0.0)")
    for what, value in (("every", every), ("start", start), *(("at", time) for time in times)):
        if value is not None:
            _require_time(what, value, place)
    return EventClause(condition, reset, terminal, name, priority, every, 0.0 if start is None else start, times, place, at_start)


def _require_time(what: str, value: Any, place: Origin) -> None:
    if isinstance(value, str) or is_function(value):
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        hint = "a number, the name of a parameter, or a function of the parameters: lambda p: p['period']"
        raise UsageError(f"{what} of an event is {value!r}; a time is expected", origin=place, hint=hint)
    if what == "every" and not float(value) > 0:
        raise UsageError(f"an event has every={float(value):g}; a period is positive", origin=place)
