"""From the user's functions to the neutral model of a run in SciPy's words. In: the checked problem and its events. Out: a ``Model``.

A function is followed on symbols. Where that does not work, or gives other numbers than the function itself, it is called as it is, and the plan
says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UntraceableError, UsageError
from tidegate.expressions import FALSE, ONE, TRUE, Expr, OpaqueFunction, Role, as_real, evaluate, opaque_call, symbol, tangent
from tidegate.expressions.tracing import compare, function_origin, probe_values, trace
from tidegate.frontends.equations.returned import Returned, flat
from tidegate.model import Assignment, Branch, Equation, Form, Model, Terminate, Variable, VariableRole, When
from tidegate.quick_dataclass import dataclass
from tidegate.solve_ivp.arguments import TIME, Ivp, Watched, name_of

__all__ = ["SolvePlan", "plan_of"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Traced:
    """A function as expressions, and where these are written."""

    values: list[Expr]
    places: list[Origin]
    condition_origins: Mapping[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    why_called: str = ""


@dataclass(frozen=True, eq=False)
class SolvePlan:
    """The model to run.

    Parameters
    ----------
    at_start : the events that are over before it starts: for each one whether it happens at t0.
    called : the functions that are called instead of followed, ``"fun"`` or ``"events[i]"``, each with the reason.
    """

    model: Model
    at_start: list[bool]
    called: dict[str, str]


def plan_of(ivp: Ivp, watched: list[Watched]) -> SolvePlan:
    """The functions as a neutral model."""
    traced = _follow(ivp, ivp.fun, ivp.derivatives(ivp.t0, ivp.y0.copy()).tolist(), ivp.derivatives, vectorized=ivp.vectorized)
    slopes = [value if ivp.sign > 0 else -value for value in traced.values]
    condition_origins = dict(traced.condition_origins)
    origin = function_origin(ivp.fun)
    variables = [Variable("y", VariableRole.STATE, ivp.y0.shape, start=tuple(map(as_real, ivp.y0.tolist())), origin=origin)]
    whens: list[When] = []
    at_start: list[bool] = []
    called = {"fun": traced.why_called}
    for item in watched:
        level = item.value(ivp, ivp.t0, ivp.y0.copy())
        followed = _follow(ivp, item.function, [level], _alone(item, ivp))
        called[item.label] = followed.why_called
        condition_origins = {**followed.condition_origins, **condition_origins}
        at_start.append(level == 0.0 and _leaves(followed.values[0], item, ivp, slopes))
        counter = Variable(f"count_{len(at_start)}", VariableRole.DISCRETE, start=(as_real(float(at_start[-1])),))
        if math.isfinite(item.count) and item.count > 1:
            variables.append(counter)
        whens.extend(_whens(item, followed.values[0], counter))
    elements = zip(ivp.quantities.elements, slopes, traced.places, strict=True)
    model = Model(
        name=name_of(ivp.fun),
        form=Form.ODE,
        variables=tuple(variables),
        equations=tuple(Equation(symbol(Role.DERIVATIVE, name), slope, place, f"der({name})") for name, slope, place in elements),
        whens=tuple(whens),
        condition_origins=condition_origins,
        origin=origin,
    )
    return SolvePlan(model, at_start, {name: reason for name, reason in called.items() if reason})


def _alone(item: Watched, ivp: Ivp) -> Callable[[float, FloatArray], FloatArray]:
    return lambda t, y: np.array([item.value(ivp, t, y)])


def _follow(
    ivp: Ivp, function: Callable[..., Any], expected: list[float], numeric: Callable[[float, FloatArray], FloatArray], *, vectorized: bool = False
) -> _Traced:
    """A function as expressions; as a call of itself where it cannot be followed, or gives something else when it is.

    Parameters
    ----------
    expected : what it returns at the start.
    numeric : the same function for numbers: the user's time, and the unknowns.
    vectorized : whether it takes a column.
    """
    origin = function_origin(function)
    token = probe_values.set(ivp.start)
    try:
        followed = _followed(ivp, function, len(expected), vectorized=vectorized)

        def plain(point: dict[Expr, float]) -> list[float]:
            return numeric(ivp.sign * point[TIME] + 0.0, np.array([point[item] for item in ivp.symbols])).tolist()

        difference = compare(followed.values, plain, ivp.start)
        if difference is None:
            return followed
        why = "it gives two answers to one question" if difference.is_own else "followed on symbols, it gives other numbers than when it is called"
    except (UntraceableError, UsageError) as error:
        # it has just run with numbers, so it is only following that fails
        why = str(error)
    finally:
        probe_values.reset(token)

    def call(*numbers: float) -> list[float]:
        return numeric(numbers[0] if ivp.sign > 0 else 0.0 - numbers[0], np.array(numbers[1:])).tolist()

    outputs = opaque_call(OpaqueFunction(call, len(expected), name_of(function)), [TIME, *ivp.symbols])
    return _Traced(outputs, [origin] * len(expected), why_called=why)


def _followed(ivp: Ivp, function: Callable[..., Any], count: int, *, vectorized: bool) -> _Traced:
    """A function as expressions."""
    origin, y = function_origin(function), ivp.quantities.vector(Role.UNKNOWN)
    followed = trace(function, (ivp.time, y.reshape(-1, 1) if vectorized else y, *ivp.args))
    if count > 1:
        values, places, _ = Returned(followed, name_of(function), origin).in_order(ivp.quantities, "derivatives")
        return _Traced(values, places, followed.condition_origins)
    values = flat(followed.value)
    if len(values) != 1 or not isinstance(values[0], Expr | int | float | np.number | np.bool_):
        raise UsageError(f"{name_of(function)}, followed on symbols, returns {followed.value!r}", origin=origin)
    return _Traced([values[0] if isinstance(values[0], Expr) else as_real(values[0])], [origin], followed.condition_origins)


def _leaves(level: Expr, item: Watched, ivp: Ivp, slopes: list[Expr]) -> bool:
    """Whether an event function that is zero at the start leaves it in the direction that is looked for.

    One that leaves it by a higher derivative is found by the run itself, a moment later.
    """
    if level.is_boolean:
        return False
    seeds = {TIME: ONE, **dict(zip(ivp.symbols, slopes, strict=True))}
    (slope,) = evaluate(tangent([level], seeds), ivp.start)
    return slope != 0.0 and item.direction * slope >= 0.0


def _whens(item: Watched, level: Expr, counter: Variable) -> list[When]:
    """Record where the function leaves zero upwards or downwards; end the run at the first time, or when they were counted."""
    rises, falls = (level, ~level) if level.is_boolean else (level > 0, level < 0)
    conditions = [condition for condition, sense in ((rises, 1.0), (falls, -1.0)) if item.direction * sense >= 0]
    conditions = [condition for condition in conditions if condition is not TRUE and condition is not FALSE]
    if not conditions:
        return []
    origin = function_origin(item.function)
    if item.count == 1:
        return [When((Branch(tuple(conditions), (Terminate(),), item.label, origin),), origin=origin)]
    if item.count == math.inf:
        return [When((Branch(tuple(conditions), (), item.label, origin),), origin=origin)]
    (count,) = counter.symbols()
    once_more = Assignment(count, symbol(Role.PREVIOUS, counter.name) + 1.0, origin)
    enough = Branch((count >= item.count,), (Terminate(),), f"{item.label}.terminal", origin)
    return [
        When((Branch(tuple(conditions), (once_more,), item.label, origin),), origin=origin),
        When((enough,), origin=origin),
    ]
