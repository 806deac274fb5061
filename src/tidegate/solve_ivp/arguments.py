"""The arguments of ``tg.solve_ivp``, checked. In: whatever was given in SciPy's words. Out: the problem, its times, events and options.

A run backwards, from t0 down to t1, is the run of ``y'(s) = -f(-s, y)`` from s = -t0 up to -t1; the results are turned round again at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.executive.options import METHODS, time_span
from tidegate.expressions import Expr, Role, symbol
from tidegate.expressions.tracing import function_origin
from tidegate.frontends.equations.quantities import FunctionQuantities, Problems, read_quantities
from tidegate.frontends.equations.returned import flat
from tidegate.names import suggestion, unknown_name
from tidegate.quick_dataclass import dataclass

__all__ = [
    "ARGUMENTS",
    "TIME",
    "Ivp",
    "Watched",
    "argument_symbol",
    "check_events",
    "check_method",
    "check_options",
    "check_problem",
    "check_times",
    "name_of",
    "turned",
]

FloatArray = NDArray[np.float64]

ARGUMENTS: Final = "args"
TIME: Final = symbol(Role.TIME, "time")
_SCIPY_METHODS: Final = {"RK45": "auto", "RK23": "auto", "DOP853": "auto", "Radau": "radau", "BDF": "radau", "LSODA": "auto"}
_OPTIONS: Final = ("rtol", "atol", "first_step", "max_step")
_IGNORED: Final = ("jac", "jac_sparsity")
_NAMED: Final = ("method", "t_eval", "dense_output", "events", "vectorized", "args")  # which Python binds by themselves
_REFUSED: Final = {
    "min_step": "leave it out: steps are as short as the tolerance asks",
    "lband": "leave it out: the Jacobian's shape is found in the function itself",
    "uband": "leave it out: the Jacobian's shape is found in the function itself",
}
_SMALLEST_RTOL: Final = 100 * float(np.finfo(float).eps)  # where SciPy stops too: below it rounding decides
_SMALLEST_ATOL: Final = 1e-100  # stands for an absolute tolerance of zero, and may be divided by and squared
_REAL_AND_IMAGINARY: Final = "take real and imaginary parts as unknowns of their own: y0=[*z.real, *z.imag]"


def name_of(function: Any) -> str:
    """How messages name a function."""
    return getattr(function, "__name__", type(function).__name__)


def turned(times: FloatArray, sign: float) -> FloatArray:
    """From the run's time to the user's, or back; zero stays a positive zero."""
    return times if sign > 0 else 0.0 - times


def argument_symbol(k: int) -> Expr:
    """What stands for an argument behind ``t, y``."""
    return symbol(Role.PARAMETER, f"{ARGUMENTS}[{k}]")


@dataclass(frozen=True, eq=False)
class Ivp:
    """The initial value problem, checked.

    Parameters
    ----------
    sign : -1 for a run backwards.
    quantities : ``y`` as the tracer knows it.
    symbolic : places of arguments that the functions are followed with as symbols, so that they may have other values in the next call.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    vectorized: bool
    t0: float
    t1: float
    sign: float
    y0: FloatArray
    quantities: FunctionQuantities
    symbolic: tuple[int, ...] = ()

    @property
    def time(self) -> Expr:
        """The user's time in terms of the run's."""
        return TIME if self.sign > 0 else -TIME

    @property
    def symbols(self) -> list[Expr]:
        """Of all unknowns."""
        return [symbol(Role.UNKNOWN, name) for name in self.quantities.elements]

    @property
    def start(self) -> dict[Expr, float]:
        """The run's time and the unknowns, at the start."""
        return {TIME: self.sign * self.t0, **dict(zip(self.symbols, self.y0.tolist(), strict=True)), **self.numbers}

    @property
    def numbers(self) -> dict[Expr, float]:
        """Of the arguments that are symbols."""
        return {argument_symbol(k): float(self.args[k]) for k in self.symbolic}

    @property
    def argument_values(self) -> list[float]:
        """Of the parameter that holds the arguments that are symbols, at their places; empty if there are none."""
        return [float(value) if k in self.symbolic else 0.0 for k, value in enumerate(self.args)] if self.symbolic else []

    @property
    def followed_args(self) -> tuple[Any, ...]:
        """The arguments, or their symbols."""
        return tuple(argument_symbol(k) if k in self.symbolic else value for k, value in enumerate(self.args))

    def args_at(self, point: Mapping[Expr, float]) -> tuple[Any, ...]:
        """The arguments, those that are symbols with the values that these have at a point."""
        return tuple(point[argument_symbol(k)] if k in self.symbolic else value for k, value in enumerate(self.args))

    def derivatives(self, t: float, y: FloatArray, args: tuple[Any, ...] | None = None) -> FloatArray:
        """The user's function, called with numbers; with other arguments, if there are any."""
        value = np.asarray(self.fun(t, y[:, None] if self.vectorized else y, *(self.args if args is None else args)))
        if np.iscomplexobj(value):
            raise UsageError(f"{name_of(self.fun)} returns complex values", origin=function_origin(self.fun), hint=_REAL_AND_IMAGINARY)
        found = np.zeros(0)
        is_missing = value.dtype == object and any(item is None for item in value.ravel().tolist())  # of which numpy makes NaN
        try:
            found = value.astype(float).ravel()
        except (TypeError, ValueError):
            is_missing = True
        if is_missing:
            raise UsageError(
                f"{name_of(self.fun)} returns {value.tolist()!r}", origin=function_origin(self.fun), hint="return a list of the derivatives"
            )
        if found.size != self.y0.size:
            raise UsageError(
                f"{name_of(self.fun)} returns {found.size} derivatives, but y0 has {self.y0.size} values", origin=function_origin(self.fun)
            )
        return found


@dataclass(frozen=True, eq=False)
class Watched:
    """One event function.

    Parameters
    ----------
    count : at which occurrence the run ends; infinite for never.
    """

    function: Callable[..., Any]
    label: str
    direction: float
    count: float

    def value(self, ivp: Ivp, t: float, y: FloatArray, args: tuple[Any, ...] | None = None) -> float:
        """The user's function, called with numbers; with other arguments, if there are any."""
        values = flat(self.function(t, y, *(ivp.args if args is None else args)))
        if len(values) != 1 or isinstance(values[0], complex | np.complexfloating):
            raise UsageError(f"{self.label} returns {values!r}; one number is expected", origin=function_origin(self.function))
        return float(values[0])


def check_problem(fun: Any, t_span: Any, y0: Any, args: Any, vectorized: bool) -> Ivp:
    """The function, its span, start values and arguments; UsageError for what does not fit."""
    if not callable(fun):
        raise UsageError(f"solve_ivp was given {fun!r} as its function, which cannot be called", hint="tg.solve_ivp(fun, (0, 10), [1.0])")
    t0, t1 = time_span(t_span)
    try:
        start = np.asarray(y0)
    except ValueError:
        raise UsageError(f"y0 must be a list of numbers, not {y0!r}", hint="y0=[1.0] for one unknown") from None
    if np.iscomplexobj(start):
        raise UsageError("y0 is complex; only real unknowns can be solved for", hint=_REAL_AND_IMAGINARY)
    if start.ndim != 1:
        raise UsageError(f"y0 must be a list of numbers, not of shape {start.shape}", hint="y0=[1.0] for one unknown, y0.ravel() for a matrix")
    try:
        given = tuple(args) if args is not None else ()
    except TypeError:
        raise UsageError(f"args must be a tuple, not {args!r}", hint=f"args=({args!r},)") from None
    problems: Problems = []
    quantities = read_quantities("y", start, problems, function_origin(fun))
    if problems:
        raise UsageError("; ".join(sentence for sentence, _ in problems), hint="y0 holds finite numbers")
    return Ivp(fun, given, vectorized, t0, t1, -1.0 if t1 < t0 else 1.0, start.astype(float), quantities)


def check_times(t_eval: ArrayLike | None, ivp: Ivp) -> FloatArray | None:
    """The times asked for, in the order of the run; None for the ends of all steps."""
    if t_eval is None:
        return None
    try:
        times = np.asarray(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"t_eval must be a list of times, not {t_eval!r}", hint="t_eval=np.linspace(0, 10, 101)") from None
    if times.ndim != 1 or not np.all(np.isfinite(times)):
        raise UsageError("t_eval must be a list of finite times", hint="t_eval=np.linspace(0, 10, 101)")
    low, high = sorted((ivp.t0, ivp.t1))
    if times.size and (times.min() < low or times.max() > high):
        raise UsageError(f"t_eval from {times.min():g} to {times.max():g} reaches beyond t_span, {low:g} to {high:g}", hint="make t_span cover it")
    if np.any(ivp.sign * np.diff(times) <= 0):
        order = "falling, as the run goes backwards" if ivp.sign < 0 else "rising"
        raise UsageError(f"the times of t_eval must be {order}, each given once", hint="sort them and drop repetitions")
    return times


def check_method(method: Any) -> str:
    """The method of ``tg.simulate`` that stands for SciPy's."""
    name = method.__name__ if isinstance(method, type) else method
    if name in METHODS:
        return name
    if name in tuple(_SCIPY_METHODS):
        return _SCIPY_METHODS[name]
    known = [*_SCIPY_METHODS, *METHODS]
    raise UsageError(f"there is no method {name!r}", hint=suggestion(name, known, f"one of {', '.join(known)}"))


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``tg.simulate`` among SciPy's; one that cannot be honoured is refused by name."""
    chosen: dict[str, Any] = {}
    for name, value in options.items():
        if name in _REFUSED:
            raise UsageError(f"solve_ivp has no option {name!r}", hint=_REFUSED[name])
        if name not in (*_OPTIONS, *_IGNORED):
            raise unknown_name("option", name, [*_NAMED, *_OPTIONS, *_IGNORED], of="solve_ivp")
        if name in _OPTIONS and value is not None:
            chosen[name] = value
    for name, smallest in (("rtol", _SMALLEST_RTOL), ("atol", _SMALLEST_ATOL)):
        if name in chosen:
            try:
                numbers = np.asarray(chosen[name], dtype=float)
            except (TypeError, ValueError):
                raise UsageError(f"{name} must be made of numbers, not {chosen[name]!r}", hint=f"{name}=1e-8") from None
            if not numbers.size or not np.all(numbers >= 0):
                raise UsageError(f"{name} must not be negative, and is {chosen[name]!r}", hint=f"{name}=1e-8")
            chosen[name] = np.maximum(numbers, smallest)
    if "rtol" in chosen:
        chosen["rtol"] = float(np.min(chosen["rtol"]))
    return chosen


def check_events(events: Any) -> list[Watched]:
    """The event functions with what their attributes ask for."""
    if events is None:
        return []
    hint = "functions of (t, y) whose zeros are the events; tg.event belongs to tg.ode"
    try:
        functions: list[Any] = [events] if callable(events) else list(events)
    except TypeError:
        raise UsageError(f"events is {events!r}", hint=hint) from None
    watched: list[Watched] = []
    for at, function in enumerate(functions):
        label = f"events[{at}]"
        if not callable(function):
            raise UsageError(f"{label} is {function!r}, which cannot be called", hint=hint)
        terminal, direction = getattr(function, "terminal", None) or 0, getattr(function, "direction", 0.0)
        try:
            count, sense = float(terminal), float(np.sign(direction))
        except (TypeError, ValueError):
            raise UsageError(f"{label} has terminal {terminal!r} and direction {direction!r}; numbers are expected") from None
        if not (count >= 0 and count == int(count)):
            raise UsageError(f"{label}.terminal is {terminal!r}", hint="True, or an integer: at which zero the run ends")
        watched.append(Watched(function, label, sense, count or math.inf))
    return watched
