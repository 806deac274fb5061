"""`tg.ode`: an ordinary differential equation written as a Python function (front end of plain functions)."""

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

__all__ = ["ode"]


@partial(explained, other_words=OF_MODELS)
def ode(  # noqa: PLR0913, what can be said of a model are keywords, and editors show them with their defaults
    f: Callable[..., Any],
    y0: Any,
    p: Any = None,
    *,
    name: str | None = None,
    units: Mapping[str, str] | None = None,
    outputs: Outputs | None = None,
    discrete: Any = None,
    events: Iterable[EventClause] | EventClause = (),
    check_units: bool = True,
) -> FunctionModel:
    """A model ``y' = f(t, y, p)``; `if`, `min`, `abs` and the like in ``f`` become events of the run.

    Parameters
    ----------
    f : ``f(t, y)`` or ``f(t, y, p)``; returns the derivatives as a list, tuple or array in the order of ``y0``, or as a dict by name.
        ``y`` and ``p`` answer to index, name (``y["level"]``, ``y.level``), slices and unpacking.
    y0 : start values: a dict of numbers and arrays, or a dataclass, named tuple or namespace of them; a sequence or an array, one number; or a
        function of ``p`` that returns one of these, for start values that depend on parameters.
    p : parameters, likewise; integers and truth values stay such. They may be texts, or members of an enumeration.
    name : how results and messages name the model; the function's name if not given.
    units : units by variable or parameter, as texts, and of ``"time"``; where that is not given, derivatives are taken to be per second.
    outputs : ``outputs(t, y, p)``, a function that returns a dict of further quantities to be recorded; or a dict of functions by name.
    discrete : start values of variables that only events change, as of a sampled controller, given as those of ``y0`` are. All functions of the
        model take them as ``d``, if they want them: ``f(t, y, p, d)``, or ``f(t, y, d)``. Texts and members of enumerations are possible, too, as the
        names of modes.
        What is called ``p`` or ``d`` is that, in either order; of other names the parameters are the first. Arguments with values of their own keep
        them.
    events : made by ``tg.event``: when a condition becomes true, or at times, as ``tg.event(every=0.01, reset=...)``.
    check_units : False for a model whose units need not fit.

    Raises
    ------
    InvalidModelError
        naming every start value and parameter that cannot be.
    UsageError
        if ``f`` does not take these arguments.

    Examples
    --------
    >>> def tank(t, y, p):
    ...     (level,) = y
    ...     outflow = p["k"] * (level - 1.0) if level > 1.0 else 0.0
    ...     return [p["inflow"] - outflow]
    >>> model = ode(tank, y0={"level": 0.0}, p={"inflow": 0.2, "k": 3.0}).lower()
    >>> model.equations[0].right
    inflow - (k*(level - 1) if level > 1 else 0)

    A sampled controller:

    >>> import tidegate as tg
    >>> held = ode(
    ...     lambda t, y, d: [d["u"] - y["x"]],
    ...     y0={"x": 1.0},
    ...     discrete={"u": 0.0},
    ...     events=tg.event(every=0.5, reset=lambda t, y, d: {"u": -2.0 * y["x"]}),
    ... )
    >>> [round(event.after["u"], 3) for event in tg.simulate(held, (0, 1.2), rtol=1e-9).events]
    [-2.0, 0.361, -0.065]
    """
    return function_model(Form.ODE, f, (y0, None), p, FunctionOptions(name, units, outputs, events, check_units, discrete))
