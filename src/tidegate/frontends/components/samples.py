"""Clocks among conditions (front end of components): ``tg.sample(start, interval)`` in a list makes the clause happen at these times too.

What stands in the list is a mark; the reader of clauses makes a time event of it (Modelica's ``sample``; rule R4 of the event semantics we test).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, as_boolean, as_real, symbol
from tidegate.expressions.tracing import written_at
from tidegate.wrong_calls import explained

__all__ = ["collected_samples", "sample"]

_collector: Final[ContextVar[dict[Expr, tuple[Expr, Expr]] | None]] = ContextVar("samples", default=None)


@contextmanager
def collected_samples() -> Generator[dict[Expr, tuple[Expr, Expr]]]:
    """The marks that ``sample`` gives while conditions are followed, each with start and interval."""
    found: dict[Expr, tuple[Expr, Expr]] = {}
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


@explained
def sample(start: Any, interval: Any) -> Any:
    """True at ``start`` and every ``interval`` after it; one of the conditions of a ``@tg.when``.

    With ``&`` it happens at those of its times only at which something else holds: ``tg.sample(0, 0.5) & (self.x > 1)``.

    Parameters
    ----------
    start, interval : numbers, or expressions of parameters.

    Raises
    ------
    UsageError : for an interval that is not positive, and anywhere else than among the conditions of a clause.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, Discrete, when
    >>> class Counter(Component):
    ...     n = Discrete(0)
    ...     @when(lambda self: [sample(0.0, 0.5), self.n > 3])
    ...     def tick(self):
    ...         return {self.n: self.n + 1}
    >>> len(Counter().lower().time_events)
    1
    """
    place = written_at()
    if isinstance(interval, int | float) and not interval > 0:
        raise UsageError(f"tg.sample has the interval {interval:g}; it must be positive", origin=place, hint="for one instant write @tg.at(time)")
    found = _collector.get()
    if found is None:
        raise UsageError(
            "tg.sample stands outside the conditions of a clause",
            origin=place,
            hint="write @tg.when(lambda self: [tg.sample(0, 0.5), ...]) or @tg.every(0.5) above a method that sets a variable",
        )
    first, period = as_real(start), as_real(interval)
    mark = symbol(Role.DISCRETE, f"sample({first!r}, {period!r})")
    found[as_boolean(mark)] = (first, period)
    return as_boolean(mark)
