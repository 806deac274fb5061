"""`tg.dae`: differential and algebraic equations written as one residual function (front end of plain functions)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from tidegate.frontends.equations.event_clause import EventClause
from tidegate.frontends.equations.follow_functions import Outputs
from tidegate.frontends.equations.function_model import FunctionModel, FunctionOptions, function_model
from tidegate.frontends.equations.other_words import OF_MODELS
from tidegate.model import Form
from tidegate.wrong_calls import explained

__all__ = ["dae"]


@partial(explained, other_words=OF_MODELS)
def dae(  # noqa: PLR0913, what can be said of a model are keywords, and editors show them with their defaults
    residual: Callable[..., Any],
    y0: Any,
    ydot0: Any = None,
    p: Any = None,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    outputs: Outputs | None = None,
    discrete: Any = None,
    events: Iterable[EventClause] | EventClause = (),
    check_units: bool = True,
) -> FunctionModel:
    """A model ``0 = residual(t, y, ydot, p)``; unknowns whose derivative appears are states, the others algebraic.

    Parameters
    ----------
    residual : ``residual(t, y, ydot)`` or ``residual(t, y, ydot, p)``; returns as many values as there are unknowns, in any order.
    y0 : start values, exact for states and guesses for algebraic unknowns; given as for ``tg.ode``.
    ydot0 : guesses of derivatives at the start, by name or in the order of ``y0``; zero where not given.
    p, name, units, outputs, discrete, events, check_units : as for ``tg.ode``.

    Raises
    ------
    InvalidModelError
        naming every start value and parameter that cannot be.
    UsageError
        if ``residual`` does not take these arguments.

    Examples
    --------
    >>> def divider(t, y, ydot, p):
    ...     charge, current = y
    ...     return [ydot["charge"] - current, p["r"] * current + charge - 1.0]
    >>> model = dae(divider, y0={"charge": 0.0, "current": 1.0}, p={"r": 2.0}).lower()
    >>> [variable.role.value for variable in model.unknowns]
    ['state', 'algebraic']
    """
    return function_model(Form.DAE, residual, (y0, ydot0), p, FunctionOptions(name, units, outputs, events, check_units, discrete))
