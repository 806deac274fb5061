"""The decorators that make a component's methods happen at events (front end of components: methods go in, clauses come out).

A clause is a body with one or more triggers, so several decorators may stand above one method. Nothing is evaluated here: conditions and times
are kept as written and followed when the component is lowered.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Literal, Self, cast, overload

from tidegate.errors import Origin, UsageError
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.class_body import class_names, require_value
from tidegate.frontends.components.elements import Given
from tidegate.model import DEFAULT_PRIORITY
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Clause", "Trigger", "at", "every", "finally_", "initially", "when"]

Body = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Trigger:
    """One decorator: when its clause happens.

    Parameters
    ----------
    kind : which decorator.
    conditions : of a ``when``; any of them becoming true.
    times : of an ``at``, or the start of an ``every``.
    period : of an ``every``.
    after : of an ``elsewhen``, the clause it follows; a tuple, because a clause as an attribute would answer as its method.
    at_start : of a ``when``, whether it happens at the start of a run too, where a condition is true there.
    """

    kind: Literal["when", "every", "at", "initially", "finally"]
    conditions: tuple[Given, ...] = ()
    times: tuple[Given, ...] = ()
    period: Given = None
    priority: int = DEFAULT_PRIORITY
    after: tuple[Clause, ...] = ()
    origin: Origin = field(default_factory=Origin)
    at_start: bool = False


class Clause:
    """A method with its triggers; on an instance it answers as the plain method, so that it can be called and tested.

    Parameters
    ----------
    body : the method.
    triggers : when it happens.
    earlier : clauses that a loop in the body of the class made of the same lines before.
    """

    def __init__(self, body: Body, triggers: tuple[Trigger, ...], earlier: tuple[Clause, ...] = ()) -> None:
        self.body = body
        self.triggers = triggers
        self.earlier = earlier
        self.name: str = getattr(body, "__name__", "clause")
        code = getattr(body, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
        self.origin = Origin(file=file, line=line, text=linecache.getline(file, line).strip())
        self.__doc__ = body.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Body: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return self if instance is None else self.body.__get__(instance, owner)

    def named(self, name: str) -> dict[str, Clause]:
        """Itself, and what a loop made before it, by the names they have in a class where it is called so."""
        every = (*self.earlier, self)
        return {name: self} if len(every) == 1 else {f"{name}[{k}]": clause for k, clause in enumerate(every)}

    @property
    def head(self) -> Clause:
        """The clause that begins the chain of ``when`` and ``elsewhen`` this one belongs to."""
        before = next((clause for trigger in self.triggers for clause in trigger.after), None)
        return self if before is None else before.head

    def elsewhen(self, *conditions: Given) -> Callable[[Body | Clause], Clause]:
        """Happens when a condition becomes true and no clause before it in the chain happens at the same time."""
        place = written_at()
        if not any(trigger.kind == "when" for trigger in self.triggers):
            raise UsageError(
                f"{self.name} is no @tg.when clause, so nothing can follow it with elsewhen", origin=place, hint="start the chain with @tg.when"
            )
        _require_conditions(conditions, "elsewhen", place)
        first = next(trigger for trigger in self.triggers if trigger.kind == "when")
        return _decorator(replace(first, conditions=conditions, after=(self,), origin=place, at_start=False))


def _decorator(trigger: Trigger) -> Callable[[Body | Clause], Clause]:
    def decorate(body: Body | Clause) -> Clause:
        if isinstance(body, Clause):
            if trigger.after or any(t.after or t.kind == trigger.kind == "when" for t in body.triggers):
                raise UsageError(
                    f"{body.name} would belong to two chains", origin=trigger.origin, hint="give one @tg.when all conditions: @tg.when(c1, c2)"
                )
            return Clause(body.body, (trigger, *body.triggers), body.earlier)
        if not is_function(body):
            raise UsageError(f"@tg.{trigger.kind} stands above {body!r}; a method is expected", origin=trigger.origin)
        return Clause(body, (trigger,), _made_before(body, trigger))

    return decorate


def _made_before(body: Body, trigger: Trigger) -> tuple[Clause, ...]:
    """The clauses that a loop in the body of the class has made of the same lines; two that merely have one name are one too few."""
    before = class_names().get(getattr(body, "__name__", ""))
    if not isinstance(before, Clause):
        return ()
    if getattr(before.body, "__code__", None) is getattr(body, "__code__", body):
        return (*before.earlier, before)
    raise UsageError(
        f"two clauses are called {before.name}, and the first (at {before.origin}) would be lost", origin=trigger.origin, hint="give them two names"
    )


def _require_conditions(conditions: Sequence[Given], name: str, place: Origin) -> None:
    if not conditions:
        raise UsageError(f"@tg.{name} has no condition", origin=place, hint=f"write @tg.{name}(lambda self: self.h < 0)")
    for condition in conditions:
        require_value(condition, f"@tg.{name}")
        if isinstance(condition, bool | int | float):
            raise UsageError(
                f"@tg.{name} is given {condition!r}, which never changes", origin=place, hint=f"give a function: @tg.{name}(lambda self: self.h < 0)"
            )


def _priority(value: int, place: Origin) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"priority is {value!r}; an integer from 1 (most important) to 100 is expected", origin=place)
    return value


@explained
def when(*conditions: Given, priority: int = DEFAULT_PRIORITY, at_start: bool = False) -> Callable[[Body | Clause], Clause]:
    """The method happens when a condition becomes true; with several conditions, when any of them does.

    A condition that is true with the start values has to become false first; one at its threshold that is true from there on becomes true at the
    start. With ``at_start=True`` the method happens there too, if a condition is true with the start values.

    Parameters
    ----------
    conditions : functions of the component, e.g. ``lambda self: self.h < 0``; one may return several conditions. Where the only one returns an array,
        what the method assigns to arrays of the same shape it assigns by element: where the element's condition has become true, and nowhere else.
    priority : 1 (most important) to 100: of clauses that happen together and give one variable different values, the most important counts.
    at_start : whether it happens at the start too, where a condition is true there: a thermostat in a room that is cold already.

    Examples
    --------
    >>> @when(lambda self: self.h < 0)
    ... def bounce(self):
    ...     return {self.v: -self.e * self.v}
    """
    place = written_at()
    _require_conditions(conditions, "when", place)
    return _decorator(Trigger("when", conditions=conditions, priority=_priority(priority, place), origin=place, at_start=at_start))


@explained
def every(period: Given, start: Given = 0.0, *, priority: int = DEFAULT_PRIORITY) -> Callable[[Body | Clause], Clause]:
    """The method happens at ``start`` and every ``period`` after it.

    Parameters
    ----------
    period, start : numbers, names or declarations of parameters, or functions of the component.

    Examples
    --------
    >>> @every(0.1, start=0.1)
    ... def sample(self):
    ...     return {self.held: self.x}
    """
    place = written_at()
    if isinstance(period, int | float) and not isinstance(period, bool) and period <= 0:
        raise UsageError(f"@tg.every has the period {period:g}; it must be positive", origin=place)
    return _decorator(Trigger("every", times=(start,), period=period, priority=_priority(priority, place), origin=place))


@explained
def at(*times: Given, priority: int = DEFAULT_PRIORITY) -> Callable[[Body | Clause], Clause]:
    """The method happens at one time or at several.

    Parameters
    ----------
    times : numbers, lists of numbers, names or declarations of parameters, or functions of the component.

    Examples
    --------
    >>> @at(1.0, 2.5)
    ... def kick(self):
    ...     return {self.v: self.v + 1.0}
    """
    place = written_at()
    if not times:
        raise UsageError("@tg.at has no time", origin=place, hint="write @tg.at(1.0)")
    return _decorator(Trigger("at", times=times, priority=_priority(priority, place), origin=place))


@explained
def initially(body: Body | Clause) -> Clause:
    """The method happens once, at the start of a run, before consistent values are computed.

    Examples
    --------
    >>> @initially
    ... def fill(self):
    ...     return {self.level: 2.0 * self.k}
    """
    return _decorator(Trigger("initially", origin=written_at()))(cast(Any, body))


@explained
def finally_(body: Body | Clause) -> Clause:
    """The method happens once, at the end of a run.

    Examples
    --------
    >>> @finally_
    ... def note(self):
    ...     return {self.last: self.x}
    """
    return _decorator(Trigger("finally", origin=written_at()))(cast(Any, body))
