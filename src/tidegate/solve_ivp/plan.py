"""From the user's functions to the neutral model of a run in SciPy's words. In: the checked problem and its events. Out: a ``Model``.

A function is followed on symbols. Where that does not work, or gives other numbers than the function itself, it is called as it is, and the plan
says why. What has been followed is kept for the next calls with the same functions (``kept_plans``): start values and arguments that are numbers are
parameters of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin, UntraceableError, UsageError
from tidegate.expressions import FALSE, TRUE, Expr, OpaqueFunction, Role, as_real, dependencies, opaque_call, symbol, walk
from tidegate.expressions.tracing import Reads, collect_reads, compare, function_origin, probe_values, trace
from tidegate.frontends.equations.returned import Returned, flat
from tidegate.model import Assignment, Branch, Equation, Form, Model, Terminate, Variable, VariableRole, When
from tidegate.quick_dataclass import dataclass
from tidegate.solve_ivp.arguments import ARGUMENTS, TIME, Ivp, Watched, name_of

__all__ = ["Followed", "Plan", "followed_of", "plan_of"]

FloatArray = NDArray[np.float64]
_STARTS: Final = "y0"


@dataclass(frozen=True, eq=False)
class _Traced:
    """A function as expressions, and where these are written."""

    values: list[Expr]
    places: list[Origin]
    condition_origins: Mapping[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    why_called: str = ""


@dataclass(frozen=True, eq=False)
class Followed:
    """The functions of a problem as expressions.

    Parameters
    ----------
    fun, events : each of them.
    symbolic : places of the arguments that are symbols in these.
    reads : what the functions read of their surroundings.
    """

    fun: _Traced
    events: list[_Traced]
    symbolic: tuple[int, ...]
    reads: Reads

    def slopes(self, sign: float) -> list[Expr]:
        """Derivatives in the direction of the run."""
        return [value if sign > 0 else -value for value in self.fun.values]

    @property
    def called(self) -> dict[str, str]:
        """The functions that are called instead of followed, each with the reason."""
        reasons = {"fun": self.fun.why_called} | {f"events[{k}]": one.why_called for k, one in enumerate(self.events)}
        return {name: reason for name, reason in reasons.items() if reason}


@dataclass(frozen=True, eq=False)
class Plan:
    """The model to run.

    Parameters
    ----------
    called : the functions that are called instead of followed, ``"fun"`` or ``"events[i]"``, each with the reason.
    """

    model: Model
    called: dict[str, str]


def followed_of(ivp: Ivp, watched: list[Watched], expected: FloatArray, levels: list[float]) -> Followed:
    """The functions as expressions; arguments that are numbers with a point are symbols in them, if nothing in the functions stands in the way.

    Parameters
    ----------
    expected, levels : what the function and the event functions return at the start.
    """
    numbers = tuple(k for k, value in enumerate(ivp.args) if isinstance(value, float))
    if numbers:
        found = _followed_with(replace(ivp, symbolic=numbers), watched, expected, levels)
        if not found.called and not _may_differ(found):
            return found
    return _followed_with(ivp, watched, expected, levels)


def _followed_with(ivp: Ivp, watched: list[Watched], expected: FloatArray, levels: list[float]) -> Followed:
    with collect_reads() as reads:
        fun = _follow(ivp, ivp.fun, expected.tolist(), ivp.derivatives, vectorized=ivp.vectorized)
        events = [_follow(ivp, item.function, [level], _alone(item, ivp)) for item, level in zip(watched, levels, strict=True)]
    return Followed(fun, events, ivp.symbolic, reads)


def _may_differ(found: Followed) -> bool:
    """Whether an argument stands where its very value may decide what the expressions are: in an exponent, or in a condition of arguments alone."""
    for item in walk([value for one in (found.fun, *found.events) for value in one.values]):
        parts = item.args[1:] if item.op == "pow" else (item,) if item.is_boolean or item.op == "floor" else ()
        for part in parts:
            known = dependencies(part)
            if known and all(s.data.role is Role.PARAMETER for s in known):
                return True
    return False


def plan_of(ivp: Ivp, watched: list[Watched], followed: Followed) -> Plan:
    """The functions as a neutral model, whose parameters are the start values and the arguments that are symbols."""
    slopes = followed.slopes(ivp.sign)
    origin = function_origin(ivp.fun)
    condition_origins = dict(followed.fun.condition_origins)
    starts = Variable(_STARTS, VariableRole.PARAMETER, ivp.y0.shape, start=tuple(map(as_real, ivp.y0.tolist())), origin=origin)
    variables = [Variable("y", VariableRole.STATE, ivp.y0.shape, start=tuple(starts.symbols()), origin=origin), starts]
    if ivp.symbolic:
        values = tuple(map(as_real, ivp.argument_values))
        variables.append(Variable(ARGUMENTS, VariableRole.PARAMETER, (len(values),), start=values, origin=origin))
    whens: list[When] = []
    for k, (item, one) in enumerate(zip(watched, followed.events, strict=True)):
        condition_origins = {**one.condition_origins, **condition_origins}
        counter = Variable(f"count_{k + 1}", VariableRole.DISCRETE, start=(as_real(0.0),))
        if math.isfinite(item.count) and item.count > 1:
            variables.append(counter)
        whens.extend(_whens(item, one.values[0], counter))
    elements = zip(ivp.quantities.elements, slopes, followed.fun.places, strict=True)
    model = Model(
        name=name_of(ivp.fun),
        form=Form.ODE,
        variables=tuple(variables),
        equations=tuple(Equation(symbol(Role.DERIVATIVE, name), slope, place, f"der({name})") for name, slope, place in elements),
        whens=tuple(whens),
        condition_origins=condition_origins,
        origin=origin,
    )
    return Plan(model, followed.called)


_Numeric = Callable[[float, FloatArray, tuple[Any, ...]], FloatArray]


def _alone(item: Watched, ivp: Ivp) -> _Numeric:
    return lambda t, y, args: np.array([item.value(ivp, t, y, args)])


def _follow(ivp: Ivp, function: Callable[..., Any], expected: list[float], numeric: _Numeric, *, vectorized: bool = False) -> _Traced:
    """A function as expressions; as a call of itself where it cannot be followed, or gives something else when it is.

    Parameters
    ----------
    expected : what it returns at the start.
    numeric : the same function for numbers: the user's time, the unknowns, and the arguments.
    vectorized : whether it takes a column.
    """
    origin = function_origin(function)
    token = probe_values.set(ivp.start)
    try:
        followed = _followed(ivp, function, len(expected), vectorized=vectorized)

        def plain(point: dict[Expr, float]) -> list[float]:
            return numeric(ivp.sign * point[TIME] + 0.0, np.array([point[item] for item in ivp.symbols]), ivp.args_at(point)).tolist()

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
        return numeric(numbers[0] if ivp.sign > 0 else 0.0 - numbers[0], np.array(numbers[1:]), ivp.args).tolist()

    outputs = opaque_call(OpaqueFunction(call, len(expected), name_of(function)), [TIME, *ivp.symbols])
    return _Traced(outputs, [origin] * len(expected), why_called=why)


def _followed(ivp: Ivp, function: Callable[..., Any], count: int, *, vectorized: bool) -> _Traced:
    """A function as expressions."""
    origin, y = function_origin(function), ivp.quantities.vector(Role.UNKNOWN)
    followed = trace(function, (ivp.time, y.reshape(-1, 1) if vectorized else y, *ivp.followed_args))
    if count > 1:
        values, places, _ = Returned(followed, name_of(function), origin).in_order(ivp.quantities, "derivatives")
        return _Traced(values, places, followed.condition_origins)
    values = flat(followed.value)
    if len(values) != 1 or not isinstance(values[0], Expr | int | float | np.number | np.bool_):
        raise UsageError(f"{name_of(function)}, followed on symbols, returns {followed.value!r}", origin=origin)
    return _Traced([values[0] if isinstance(values[0], Expr) else as_real(values[0])], [origin], followed.condition_origins)


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
